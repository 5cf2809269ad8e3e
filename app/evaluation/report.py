"""An evaluation's figures as an operator reads them, and as a program does."""

from collections.abc import Iterator, Mapping, Sequence

from app.evaluation.scoring import Figures, Score, by_category, figures

_HEAD = ("", "due", "kept", "right", "precision", "recall")
_TOLD = {
    "missing": "not kept",
    "surplus": "kept, not expected",
    "unretired": "not corrected",
    "retired_wrongly": "retired, not expected",
}
"""What the lines about single conversations tell; what was lost or let through is among it."""


def lines(model: str, scores: Sequence[Score]) -> Iterator[str]:
    rows = [_HEAD, *(_row(category, each) for category, each in by_category(scores).items())]
    rows.append(_row("all", figures(scores)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield f"{model}: {_counted(len(scores), 'conversation')}"
    for first, *others in rows:
        yield "  ".join(
            (first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)))
        )
    yield from _sums(scores)
    yield from _faults(scores)


def content(model: str, scores: Sequence[Score]) -> Mapping[str, object]:
    """The same as ``lines``, for ``json``."""
    return {
        "model": model,
        "all": _figures(figures(scores)),
        "categories": {category: _figures(each) for category, each in by_category(scores).items()},
        "corrections": dict(zip(("due", "made", "wrong"), _corrections(scores), strict=True)),
        "unanswered": len(unanswered(scores)),
        "lost": sum(len(each.lost) for each in scores),
        "let_through": sum(len(each.let_through) for each in scores),
        "leaked": sum(len(each.leaked) for each in scores),
        "conversations": [_conversation(each) for each in scores],
    }


def unanswered(scores: Sequence[Score]) -> Sequence[Score]:
    """Those that a model was to be asked about, and no usable answer came."""
    return [each for each in scores if each.conversation.is_asked and not each.is_answered]


def share(value: float | None) -> str:
    """As it is told everywhere; ``None`` is a share of nothing."""
    return "-" if value is None else f"{value:.3f}"


def _sums(scores: Sequence[Score]) -> Iterator[str]:
    due, made, wrong = _corrections(scores)
    yield f"corrections: {made} of {due} made, {wrong} wrongly"
    lost, let_through = sum(len(each.lost) for each in scores), sum(len(each.let_through) for each in scores)
    yield f"after extraction: {lost} lost, {let_through} kept that must be refused"
    yield f"secrets kept: {sum(len(each.leaked) for each in scores)}"
    for each in unanswered(scores):
        yield f"no usable answer: {each.conversation.name} ({each.ending})"


def _faults(scores: Sequence[Score]) -> Iterator[str]:
    for each in scores:
        for name, texts in _texts(each).items():
            for text in texts:
                yield f"{each.conversation.category}, {each.conversation.name}: {_TOLD[name]}: {text}"


def _conversation(score: Score) -> Mapping[str, object]:
    known = {"name": score.conversation.name, "category": score.conversation.category, "ending": score.ending}
    told = {"lost": score.lost, "let_through": score.let_through, "leaked": len(score.leaked)}
    return {**known, "due": score.due, "kept": score.kept, "right": score.right, **_texts(score), **told}


def _texts(score: Score) -> Mapping[str, Sequence[str]]:
    """Without those that have a secret in them, scripted as it is."""
    return {
        "missing": score.missing,
        "surplus": [text for text in score.surplus if text not in score.leaked],
        "unretired": score.unretired,
        "retired_wrongly": score.retired_wrongly,
    }


def _figures(each: Figures) -> Mapping[str, object]:
    return {
        "conversations": each.conversations,
        "due": each.due,
        "kept": each.kept,
        "right": each.right,
        "precision": each.precision,
        "recall": each.recall,
    }


def _row(name: str, each: Figures) -> tuple[str, ...]:
    return name, str(each.due), str(each.kept), str(each.right), share(each.precision), share(each.recall)


def _corrections(scores: Sequence[Score]) -> tuple[int, int, int]:
    due = sum(each.corrections_due for each in scores)
    return due, due - sum(len(each.unretired) for each in scores), sum(len(each.retired_wrongly) for each in scores)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
