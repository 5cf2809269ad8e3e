"""What is wrong with the settings, as lines an operator can act on; none ever shows a value."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic_core import ErrorDetails

from config.names import Path, dotted

KEY_ITSELF = "[key]"
"""pydantic's own last step of a path whose made-up name, not its value, is refused."""

_ENTRY_NAME = "must be lower-case letters, digits, '-' and '_', starting with a letter or digit, 63 at most"
_ADDRESS = "must be an http:// or https:// address without a query"
_PATTERNS: Mapping[str, str] = {
    "organization": "must be lower-case letters, digits and '-', starting with a letter or digit, 63 at most",
    "agent": _ENTRY_NAME,
    KEY_ITSELF: f"the name {_ENTRY_NAME}",
    "model": "must be <provider>/<model>, for example offline/demo",
    "base_url": _ADDRESS,
    "api_url": _ADDRESS,
    "embedding": "must be <provider>/<model> or local/<model>",
    "token_env": "must be the name of the environment variable that holds the token, never the token itself",
    "tokens_env": "must be the name of the environment variable that holds the tokens, never the tokens themselves",
    "api_key_env": "must be the name of the environment variable that holds the key, never the key itself",
}
_KINDS: Mapping[str, str] = {
    "missing": "is required",
    "string_type": "must be text (in YAML, put it in quotes)",
    "string_too_short": "must not be empty",
    "string_too_long": "must be the name of an environment variable, never what it holds",
    "literal_error": "must be {expected}",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


class SettingsError(Exception):
    """The settings cannot be used; ``faults`` holds every reason, one readable line each."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason, the setting it is about (empty for a whole file) and where that setting came from."""

    path: Path
    origin: str | None
    text: str

    def line(self) -> str:
        name = dotted(self.path)
        if not name:
            return f"{self.origin}: {self.text}"
        return f"{name} ({self.origin}): {self.text}" if self.origin else f"{name}: {self.text}"


def explain(error: ErrorDetails) -> str:
    """What to do about one of pydantic's findings, in words that never repeat the value."""
    if error["type"] == "string_pattern_mismatch":
        return _PATTERNS[str(error["loc"][-1])]
    context = {name: _shown(value) for name, value in error.get("ctx", {}).items()}
    return _KINDS[error["type"]].format_map(context) if error["type"] in _KINDS else error["msg"]


def path_of(error: ErrorDetails) -> Path:
    """The setting one of pydantic's findings is about."""
    return tuple(str(step) for step in error["loc"] if step != KEY_ITSELF)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
