"""Who may talk to the page's backend: this machine's own browser and nobody it was sent by."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit


def refusal(headers: Mapping[str, str], bound_host: str | None, *, changes_something: bool) -> str | None:
    """Why a request is refused, or ``None`` when it is fine.

    A foreign page may reach a loopback server in two ways: under a name of its own that resolves to the
    loopback address (so the Host must be ours), or by a cross-origin request (so the Origin must be ours).
    """
    host = headers.get("Host", "")
    if not is_own_host(host, bound_host):
        return "The playground only answers under the name of this machine, such as http://localhost."
    if not changes_something:
        return None
    origin = headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return "The playground takes requests from its own page only."
    if headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        return "The playground takes requests from its own page only."
    return None


def is_own_host(host: str, bound_host: str | None) -> bool:
    """``host`` as in the Host header, with or without a port; ``bound_host`` is the address that was reached."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost" or name.endswith(".localhost") or (bound_host and name == bound_host.lower()):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
