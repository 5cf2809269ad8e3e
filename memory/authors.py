"""Whom a question names, of those who said what is remembered."""

from collections.abc import Collection, Iterable

from memory.text import name_terms


def named_authors(authors: Collection[str | None], terms: Iterable[str]) -> frozenset[str]:
    """Those of ``authors`` whose name has one of ``terms``; nobody when they said everything, which tells nothing."""
    asked = frozenset(terms)
    named = frozenset(author for author in authors if author and not asked.isdisjoint(name_terms(author)))
    return named if len(named) < len(authors) else frozenset()
