"""Retrieval over conversations in LoCoMo's format: ``python -m benchmarks.locomo PATH… [--only NAME,…]``.

The data's licence forbids to ship it, so its files are named on the command line.
"""

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.figures import ms
from benchmarks.locomo_fts import Fts5Ranker
from benchmarks.locomo_measuring import DEPTHS, HIT_DEPTH, Corpus, Dates, Figures, Pool, Ranks, measure, pool_of
from benchmarks.locomo_reading import Conversation, LocomoError, read_conversations
from benchmarks.tables import Table, render
from memory.embedder import Embedder, EmbedderMissingError, embedded_text
from memory.ranker import KeywordRanker
from memory.relevance import RelevanceRanker
from memory.stores.vectors import KeptVector, VectorTable, packed
from memory.text import query_terms

LEAST_RECALL = {Corpus.TURNS: 0.66, Corpus.FACTS: 0.60}
LEAST_FUSED_RECALL = {Corpus.TURNS: 0.72, Corpus.FACTS: 0.65}
"""What the README promises at a depth of eight, by words alone and with the local model."""
MOST_COST_OF_DATES = 0.02
_DEPTH = 8
_HEAD = ("", *(f"recall@{depth}" for depth in DEPTHS), f"hit@{HIT_DEPTH}", "MRR", "p50", "p99")

Vectors = dict[str, tuple[float, ...]]


def run(paths: Sequence[Path], *, only: Sequence[str] = (), embedder: Embedder | None = None) -> Iterator[Table]:
    """A table for each corpus. ``only`` names conversations. Raises ``LocomoError``; closes ``embedder``."""
    known = [conversation for path in paths for conversation in read_conversations(path)]
    conversations = [each for each in known if not only or each.name in only]
    if not any(each.questions for each in conversations):
        raise LocomoError(f"no questions to ask; there are {', '.join(each.name for each in known) or 'none'}")
    vectors = asyncio.run(_vectors(conversations, embedder)) if embedder else None
    for corpus in Corpus:
        yield table(corpus, measured(corpus, conversations, vectors), [each.name for each in conversations])


def measured(
    corpus: Corpus, conversations: Sequence[Conversation], vectors: Vectors | None = None
) -> dict[str, Figures]:
    """By the name of the ranker and the dates it saw."""
    figures: dict[str, Figures] = {}
    for dates in Dates:
        for conversation in conversations:
            pool = pool_of(conversation, corpus, dates)
            for name, ranker in (("keyword", KeywordRanker()), ("relevance", RelevanceRanker())):
                measure(figures.setdefault(f"{name}, {dates} dates", Figures()), pool, ranker)
            if vectors:
                _measure_fused(figures.setdefault(_fused(dates), Figures()), pool, RelevanceRanker(), vectors)
            if dates is Dates.EQUAL:
                with closing(Fts5Ranker(pool.records)) as ranker:
                    measure(figures.setdefault("SQLite FTS5 bm25", Figures()), pool, ranker)
    return figures


def table(corpus: Corpus, figures: dict[str, Figures], names: Sequence[str]) -> Table:
    questions = next(iter(figures.values())).questions
    return Table(
        f"Evidence found among {corpus}",
        _HEAD,
        [(name, *_cells(each)) for name, each in figures.items()],
        (
            *_verdicts(corpus, figures),
            f"{questions} questions; {', '.join(names)}: one scope each, sessions as threads, speakers as authors",
            "bm25: porter stems of the text alone, stop words removed from the query",
        ),
    )


def _cells(figures: Figures) -> tuple[str, ...]:
    shares = [*map(figures.recall, DEPTHS), figures.hit_rate(), figures.mean_reciprocal_rank()]
    return (*(f"{share:.3f}" for share in shares), ms(figures.time_s(50)), ms(figures.time_s(99)))


def _verdicts(corpus: Corpus, figures: dict[str, Figures]) -> Iterator[str]:
    equal, real = (figures[f"relevance, {dates} dates"].recall(_DEPTH) for dates in Dates)
    yield _at_least(f"relevance, recall@{_DEPTH}", min(equal, real), LEAST_RECALL[corpus])
    verdict = "met" if equal - real <= MOST_COST_OF_DATES else "MISSED"
    yield f"real dates cost {equal - real:+.3f}: {verdict} (aim <= {MOST_COST_OF_DATES:g})"
    if _fused(Dates.REAL) in figures:
        fused = min(figures[_fused(dates)].recall(_DEPTH) for dates in Dates)
        yield _at_least(f"with vectors, recall@{_DEPTH}", fused, LEAST_FUSED_RECALL[corpus])


def _at_least(name: str, value: float, least: float) -> str:
    return f"{name}, the lower of both: {value:.3f}, {'met' if value >= least else 'MISSED'} (aim >= {least:g})"


def _fused(dates: Dates) -> str:
    return f"relevance + vectors, {dates} dates"


def _measure_fused(figures: Figures, pool: Pool, ranker: Ranks, vectors: Vectors) -> None:
    known = VectorTable(
        KeptVector(record.id, record.author, packed(vectors[embedded_text(record)])) for record in pool.records
    )
    measure(figures, pool, ranker, lambda question: known.similarity(vectors[question], query_terms(question)))


async def _vectors(conversations: Sequence[Conversation], embedder: Embedder) -> Vectors:
    """Of every text that is remembered or asked."""
    pools = [pool_of(each, corpus, Dates.EQUAL) for each in conversations for corpus in Corpus]
    texts = {embedded_text(record) for pool in pools for record in pool.records}
    ordered = sorted(texts | {question.text for each in conversations for question in each.questions})
    try:
        return dict(zip(ordered, await embedder.embed(ordered), strict=True))
    finally:
        await embedder.aclose()


def main(arguments: Sequence[str]) -> int:
    """The exit status: 1 when nothing could be measured; a missed aim is only printed."""
    parser = argparse.ArgumentParser(prog="benchmarks.locomo", description="Measure how much evidence is found.")
    parser.add_argument("paths", nargs="+", type=Path, help="JSON files in LoCoMo's format")
    parser.add_argument("--only", type=lambda text: text.split(","), default=(), help="names of conversations")
    parser.add_argument("--embedding", help="also with vectors: minilm, or a folder with an ONNX model")
    options = parser.parse_args(arguments)
    try:
        for each in run(options.paths, only=options.only, embedder=embedder_of(options.embedding)):
            print(f"{render(each)}\n", flush=True)
    except (LocomoError, EmbedderMissingError) as error:
        print(error)
        return 1
    return 0


def embedder_of(name: str | None) -> Embedder | None:
    if name is None:
        return None
    from memory.embedders.onnx import local_embedder

    return local_embedder(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
