"""What a copy and a backup of memory did, in lines for the operator."""

from collections import Counter
from collections.abc import Iterable, Sequence

from memory.comparison import Outcome
from memory.moving import Copied
from memory.record import Status
from memory.verification import Verified
from memory.walking import Trouble

_SHOWN = 20


def lines_of(copied: Copied, verified: Verified) -> list[str]:
    """The figures, then what is wrong, then what it comes to."""
    outcomes, source, target = verified.compared.outcomes, verified.compared.source, verified.compared.target
    figures = [
        f"scopes: {verified.scopes}",
        f"records: {by_status(source)}",
        f"copied: {copied.copied}",
        f"already there: {copied.present}",
        *(f"{each}: {outcomes[each]}" for each in (Outcome.DIFFERENT, Outcome.MISSING, Outcome.EXTRA)),
    ]
    if target != source:
        figures.append(f"records of the target: {by_status(target)}")
    unlike = [f"{what}: {record_id}" for record_id, what in verified.examples.items()]
    return [*figures, *unlike, *troubles(copied.troubles, verified.troubles), verdict(verified)]


def verdict(verified: Verified) -> str:
    """One sentence, with what to do next."""
    if verified.is_whole:
        return "verified: the target has every record of the source"
    if verified.is_settled:
        return "not whole: the source changed while it was copied; the same command brings what is new"
    return "not whole: what is named above is not in the target as it is in the source"


def not_copied(copied: Copied, verified: Verified, held: Counter[Status]) -> list[str]:
    """What a backup lacks whose files hold ``held``; what a source changed meanwhile is nothing it lacks."""
    if not verified.is_settled:
        return [*troubles(copied.troubles, verified.troubles), verdict(verified)]
    return [] if held == verified.compared.target else ["the files have not the records that were copied"]


def troubles(*several: Iterable[Trouble]) -> list[str]:
    """A line for each scope; one that could be neither written nor read is named once."""
    found = [each for part in several for each in part]
    named = {each.reason for each in found if each.scope_key}
    return _first(list(dict.fromkeys(_line(each) for each in found if each.scope_key or each.reason not in named)))


def _line(trouble: Trouble) -> str:
    return f"scope {trouble.scope_key}: {trouble.reason}" if trouble.scope_key else trouble.reason


def by_status(records: Counter[Status]) -> str:
    each = ", ".join(f"{count} {status}" for status, count in sorted(records.items()) if count)
    return f"{records.total()} ({each})" if each else "0"


def _first(lines: Sequence[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
