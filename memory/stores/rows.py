"""What every database of records has in common: numbers of records in a scope, and the key of a text."""

import re
from hashlib import blake2b

from memory.engine import normalized
from memory.scope import record_id

LARGEST_INTEGER = 2**63 - 1

_SEQUENCE = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


def norm_of(text: str) -> bytes:
    """The deduplication key as a database has it: a digest, so that no index holds a text."""
    return blake2b(normalized(text).encode(), digest_size=16).digest()


def sequence_in(scope_key: str, text: str) -> int | None:
    """The sequence number of a record id of this scope; ``None`` for anything else."""
    prefix = record_id(scope_key, 0)[:-1]
    number = text.removeprefix(prefix)
    return int(number) if text.startswith(prefix) and _SEQUENCE.fullmatch(number) else None


def row_limit(limit: int) -> int:
    """``limit`` as databases take it, to which a negative one is an error or means any number."""
    return min(max(0, limit), LARGEST_INTEGER)
