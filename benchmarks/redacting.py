"""How long secrets take to be found: in a megabyte of what people write, and in one made to be slow."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from benchmarks.figures import Aim, median, ms
from benchmarks.tables import Table
from memory.redact import redact

MEGABYTE = 1_000_000
PLAIN = Aim(200, "ms", is_exclusive=True)
"""One megabyte of ordinary text, with a secret on one line of a hundred."""
_MS = 1_000
_LINES = (
    "2026-11-29T23:35:12Z INFO turn_ended reference=550e8400-e29b-41d4-a716-446655440000 took_ms=1234",
    "The deploy failed on 3f2a9c1d7e8b4a5f6c7d8e9f0a1b2c3d4e5f6a7b; ask <@U0123ABCD> in <#C0123ABCD|deploys>.",
    "def get(self, key: SessionKey, *, limit: int = 20) -> Sequence[Message]:",
    "We agreed to rotate the credentials every quarter, and nobody shares them in a channel.",
    '{"name": "bot", "port": 8080, "version": "2.14.0", "tags": ["a", "b"], "url": "https://example.com/x?y=1"}',
)
_SECRETS = (
    "DATABASE_URL=postgres://bot:hunter2-hunter2@db.example.com/app",
    "Authorization: Bearer 9f8e7d6c5b4a392817069f8e7d6c5b4a",
    "password: hunter2-hunter2",
)
_SLOW: Mapping[str, str] = {
    "names without end": "key=",
    "names in open quotes": 'key="',
    "card numbers that fail": "4111 ",
    "addresses": "://a:b@",
    "headers": "Authorization: Digest a=",
    "cookies in quotes": '"Cookie: a=',
    "web tokens that fail": "eyJhbGciOi.",
    "keys that only begin": "-----BEGIN PRIVATE KEY-----\n",
    "base64 without end": "LS0tLS1CRUdJTi",
    "one long word": "a",
}


@dataclass(frozen=True, slots=True)
class Scale:
    chars: int
    runs: int


FULL, QUICK = Scale(MEGABYTE, 5), Scale(MEGABYTE // 5, 1)


@dataclass(frozen=True, slots=True)
class Timed:
    """``growth`` says how many times longer the whole takes than its first half: 2 is linear, 4 would be quadratic."""

    name: str
    took_s: float
    growth: float


def figures(scale: Scale) -> list[Timed]:
    """The first is ordinary text, the others are made to be slow."""
    slow = [_timed(name, _filled(unit, scale.chars), 1) for name, unit in _SLOW.items()]
    return [_timed("what people write", _ordinary(scale.chars), scale.runs), *slow]


def run(scale: Scale) -> Table:
    plain, *slow = figures(scale)
    verdict = PLAIN.verdict(plain.took_s * _MS) if scale.chars == MEGABYTE else ""
    return Table(
        f"Redacting {scale.chars:,} characters",
        ("", "took", "to its half", ""),
        [
            (plain.name, ms(plain.took_s), f"{plain.growth:.1f}x", verdict),
            *((each.name, ms(each.took_s), f"{each.growth:.1f}x", "") for each in slow),
        ],
        ("processor time, median; one process", "below the first row: texts made to be slow"),
    )


def _timed(name: str, text: str, runs: int) -> Timed:
    took_s = median([_took_s(text) for _ in range(runs)])
    half_s = median([_took_s(text[: len(text) // 2]) for _ in range(runs)])
    return Timed(name, took_s, took_s / half_s)


def _took_s(text: str) -> float:
    began_s = time.process_time()
    redact(text)
    return time.process_time() - began_s


def _filled(unit: str, chars: int) -> str:
    return (unit * (chars // len(unit) + 1))[:chars]


def _ordinary(chars: int) -> str:
    random = Random(1)
    share = 0.01
    lines = (random.choice(_SECRETS if random.random() < share else _LINES) for _ in range(chars // 60))
    return _filled("\n".join(lines), chars)
