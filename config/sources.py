"""Where settings come from: a YAML file, a ``.env`` file and the environment, each read into single values."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path as FilePath

from dotenv.parser import parse_stream

from config.faults import Fault
from config.names import PREFIX, Node, Path, dotted, find, nearest, path_of, variable

CONVENTIONAL: Mapping[str, Path] = {
    "SLACK_BOT_TOKEN": ("slack", "bot_token"),
    "SLACK_APP_TOKEN": ("slack", "app_token"),
    "SLACK_SIGNING_SECRET": ("slack", "signing_secret"),
    "SLACK_API_URL": ("slack", "api_url"),
    "ANTHROPIC_BASE_URL": ("providers", "anthropic", "base_url"),
    "OPENAI_BASE_URL": ("providers", "openai", "base_url"),
}
"""Names the field already uses, each weaker than the ``SWITCHBOARD_`` name of the same setting. The vendors'
API keys are not here: a provider's ``api_key_env`` says which variable holds its key."""

_NOT_SETTINGS = re.compile(r"SWITCHBOARD_(SERVICE_(HOST|PORT)|PORT(_\d+_|$)).*")
"""Kubernetes gives these to every pod beside a service that is called ``switchboard``."""


@dataclass(frozen=True, slots=True)
class Given:
    """One value for one setting, and where it stands."""

    path: Path
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of the environment or of a ``.env`` file; never empty, blanks around it taken off."""

    name: str
    value: str
    origin: str


def environment_variables(environ: Mapping[str, str]) -> Iterator[Variable]:
    for name, value in environ.items():
        if value.strip():
            yield Variable(name, value.strip(), f"environment variable {name}")


def dotenv_variables(file: FilePath) -> Iterator[Variable | Fault]:
    """What ``file`` sets, taken literally: no ``${…}`` is replaced. A missing file sets nothing."""
    if not file.exists():
        return
    text = read_text(file, file.name)
    if isinstance(text, Fault):
        yield text
        return
    for binding in parse_stream(StringIO(text)):
        if binding.error:
            yield Fault((), f"{file.name} line {binding.original.line}", "is not of the form NAME=value")
        elif binding.key and binding.value and binding.value.strip():
            yield Variable(binding.key, binding.value.strip(), f"{binding.key} in {file.name}")


def read_text(file: FilePath, label: str) -> str | Fault:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return Fault((), label, "is not UTF-8 text")
    except OSError as error:
        return Fault((), label, f"cannot be read: {error.strerror}")


def conventional_values(variables: Iterable[Variable]) -> Iterator[Given]:
    for each in variables:
        if each.name in CONVENTIONAL:
            yield Given(CONVENTIONAL[each.name], each.value, each.origin)


def prefixed_values(variables: Iterable[Variable], not_settings: frozenset[str]) -> Iterator[Given | Fault]:
    """The ``SWITCHBOARD_`` variables, except the ones in ``not_settings``."""
    for each in variables:
        is_ours = each.name.startswith(PREFIX) and each.name not in not_settings
        if is_ours and not _NOT_SETTINGS.fullmatch(each.name):
            path = path_of(each.name)
            yield refusal(path, each.origin) or Given(path, each.value, each.origin)


def refusal(path: Path, origin: str) -> Fault | None:
    """Why no single value can be given for ``path``; None if one can."""
    node: Node | None = find(path)
    if node is None:
        return Fault(path, origin, unknown(path))
    if not node.is_setting:
        return Fault(path, origin, "is a group of settings, not one")
    return None


def unknown(path: Path) -> str:
    meant = nearest(path)
    if meant is None:
        return "there is no such setting"
    node = find(meant)
    also = f" ({variable(meant)})" if node is not None and node.is_setting else ""
    return f"there is no such setting; did you mean {dotted(meant)}{also}?"
