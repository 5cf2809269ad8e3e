"""The results as small plain-text tables."""

from collections.abc import Sequence
from dataclasses import dataclass

_GAP = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """One benchmark's figures. Every row has as many cells as ``head``; ``notes`` say how it was measured."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def render(table: Table) -> str:
    """Names on the left, figures aligned to the right. Raises ``ValueError`` for a row of another width."""
    if any(len(row) != len(table.head) for row in table.rows):
        raise ValueError(f"a row of {table.title!r} has another width than its head")
    columns = list(zip(table.head, *table.rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = [_line(table.head, widths), _GAP.join("-" * width for width in widths)]
    lines += [_line(row, widths) for row in table.rows]
    return "\n".join([table.title, *(f"  {line}".rstrip() for line in (*lines, *table.notes))])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return _GAP.join((first, *others))
