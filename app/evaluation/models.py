"""The bot's models as extractors of an evaluation: asked as the running bot asks them, accounted for in the process."""

from collections.abc import Mapping, Sequence

from app.agents.extractor import Extracting, ModelExtractor
from app.agents.pricing import Price, Total, total_of
from app.clock import Clock
from app.evaluation.running import Case, ExtractorOf
from app.sessions.entry import Tokens
from app.sessions.summariser import Models
from app.sessions.usage import By, Run, Share, Spent, Which


class Spending:
    """Implements ``app.sessions.usage.Usage`` for one evaluation: it is all one share, whatever is asked for."""

    def __init__(self) -> None:
        self._spent = Spent(Tokens(), Total())

    async def record(self, run: Run) -> None:
        spent = self._spent
        self._spent = Spent(spent.tokens + run.tokens, spent.cost + total_of(run.cost), spent.calls + run.calls)

    async def total(self, which: Which) -> Spent:  # noqa: ARG002 - the port's signature
        return self._spent

    async def shares(self, by: By, which: Which, *, limit: int = 100) -> Sequence[Share]:  # noqa: ARG002
        return [Share(None, self._spent)]


def model_extractors(
    models: Models, reference: str, spending: Spending, clock: Clock, prices: Mapping[str, Price]
) -> ExtractorOf:
    extracting = Extracting(models, reference, spending, clock, prices)

    def extractor(case: Case) -> ModelExtractor:
        return ModelExtractor(extracting, case.turn)

    return extractor
