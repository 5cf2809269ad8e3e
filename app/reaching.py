"""The bot's own records as commands reach them: their failure in words for a person."""

from collections.abc import Generator
from contextlib import contextmanager

from app.errors import StateError
from commands.errors import UnavailableError


@contextmanager
def reaching_records(otherwise: str) -> Generator[None]:
    """Raises ``UnavailableError``, which says ``otherwise``, where the block raises ``StateError``'s tree."""
    try:
        yield
    except StateError as fault:
        raise UnavailableError(otherwise) from fault
