"""What the gate of memory lets through and holds back: ``python -m benchmarks.gating [PATH…]``.

Precision is the share of what got a fate that should have got it, recall the share of what should have got it that
did. With files in LoCoMo's format, whose licence forbids to ship them, also the share of foreign facts that would be
lost: none of them was written with a gate in mind.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.locomo_reading import LocomoError, read_conversations
from benchmarks.tables import Table, render
from memory.gate import Fate, judged
from tests.gate_sentences import CORE, KNOWN, UNSEEN, Sentence

SETS = {"core": CORE, "known": KNOWN, "unseen": UNSEEN}


@dataclass(frozen=True, slots=True)
class Shares:
    """How well one fate was given."""

    right: int
    given: int
    due: int

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.due if self.due else 1.0


def shares(sentences: Sequence[Sentence]) -> dict[Fate, Shares]:
    """By fate; the reason of a drop plays no part."""
    pairs = Counter((judged("fact", each.text).fate, each.expected.fate) for each in sentences)
    return {
        fate: Shares(
            right=pairs[fate, fate],
            given=sum(count for (given, _), count in pairs.items() if given is fate),
            due=sum(count for (_, due), count in pairs.items() if due is fate),
        )
        for fate in Fate
    }


def table() -> Table:
    rows = [
        (f"{name}, {fate}", str(each.due), f"{each.precision:.3f}", f"{each.recall:.3f}")
        for name, sentences in SETS.items()
        for fate, each in shares(sentences).items()
    ]
    return Table(
        "Sentences through the gate",
        ("", "due", "precision", "recall"),
        rows,
        (
            "core: the fixed rules of status and change; known: what the rules were made with",
            "unseen: written when the rules stood, without those whose holes were closed since: nearest to tomorrow",
        ),
    )


def foreign(paths: Sequence[Path]) -> Table:
    """Facts that others distilled from conversations: every one that is held back is a loss."""
    facts = [fact.text for path in paths for conversation in read_conversations(path) for fact in conversation.facts]
    verdicts = Counter(judged("fact", fact) for fact in facts)
    rows = [
        (" ".join(filter(None, (verdict.fate, verdict.reason))), str(count), f"{count / len(facts):.4f}")
        for verdict, count in verdicts.most_common()
    ]
    return Table("Foreign facts through the gate", ("", "facts", "share"), rows)


def tables(paths: Sequence[Path]) -> Iterator[Table]:
    yield table()
    if paths:
        yield foreign(paths)


def main(arguments: Sequence[str]) -> int:
    """The exit status: 1 when a file could not be read."""
    parser = argparse.ArgumentParser(prog="benchmarks.gating", description="Measure what is held back.")
    parser.add_argument("paths", nargs="*", type=Path, help="JSON files in LoCoMo's format")
    try:
        for each in tables(parser.parse_args(arguments).paths):
            print(f"{render(each)}\n", flush=True)
    except LocomoError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
