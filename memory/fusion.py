"""Words and vectors in one score: both scaled to their range in the pool, added, and scaled back."""

from collections.abc import Sequence

SIMILARITY_WEIGHT = 0.4
"""Words tell more than vectors of small models do, about names and numbers above all."""
UNRELATED_COSINE = 0.3
"""Of two unrelated texts, by models in use; counts as much as ``FEW_VECTORS`` records do."""
FEW_VECTORS = 10
CLEARLY_SIMILAR = 0.5
"""Of the way from the pool's average to the very same words: what a record without a word in common must reach."""


def fused(shares: Sequence[float], cosines: Sequence[float | None]) -> list[float]:
    """One score for each record from its covered share and its cosine to the question, 0 for one that matches nothing.

    The order is that of the two min-max scaled values' weighted sum; the size is that of the pool's best values, so
    that scores of two pools compare. A record without a vector is judged by its words alone.
    """
    known = [cosine for cosine in cosines if cosine is not None]
    if not known:
        return list(shares)
    most, best = max(shares), max(known)
    least = min(known) if len(known) >= FEW_VECTORS else min(0.0, *known)
    enough = _clearly_similar(known)
    size = (1 - SIMILARITY_WEIGHT) * most + SIMILARITY_WEIGHT * max(0.0, best)
    scores: list[float] = []
    for share, cosine in zip(shares, cosines, strict=True):
        words = share / most if most else 0.0
        near = words if cosine is None else (cosine - least) / (best - least) if best > least else 1.0
        is_match = share > 0 or (cosine is not None and cosine >= enough)
        scores.append(size * ((1 - SIMILARITY_WEIGHT) * words + SIMILARITY_WEIGHT * near) if is_match else 0.0)
    return scores


def _clearly_similar(cosines: Sequence[float]) -> float:
    """Models differ in what unrelated texts have, so the pool's own average is taken for it as far as it is large."""
    average = (sum(cosines) + FEW_VECTORS * UNRELATED_COSINE) / (len(cosines) + FEW_VECTORS)
    return average + CLEARLY_SIMILAR * (1 - average)
