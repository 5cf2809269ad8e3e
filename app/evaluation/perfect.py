"""The model without fault that names what is to be kept, and beside it all that the write path has to refuse.

What is lost or let through with it is the write path's own doing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from app.evaluation.running import Case
from app.evaluation.script import Unwanted, Wanted
from memory.extracted import Answer
from memory.extraction import Prompt

_CONFIDENCE = 0.9


@dataclass(frozen=True, slots=True)
class Perfect:
    """Implements ``memory.reflector.Extractor`` for one conversation."""

    case: Case

    async def __call__(self, prompt: Prompt) -> Answer:  # noqa: ARG002 - it knows what is written down
        conversation = self.case.conversation
        # What is to be refused comes first, so that it would take the places of what is to be kept.
        refused = [self._refused(each) for each in conversation.unwanted if not each.is_judgement]
        facts = [*refused, *map(self._kept, conversation.wanted)]
        summary = conversation.summary.text if conversation.summary else None
        return Answer(json.dumps({"facts": facts, "summary": summary}, ensure_ascii=False))

    def _kept(self, wanted: Wanted) -> Mapping[str, object]:
        return self._fact(wanted.text, wanted.audience or wanted.scope, supersedes=wanted.corrects)

    def _refused(self, unwanted: Unwanted) -> Mapping[str, object]:
        return self._fact(unwanted.text, unwanted.audience, supersedes=unwanted.corrects, restates=unwanted.restates)

    def _fact(self, text: str, audience: str, **records: str | None) -> Mapping[str, object]:
        pointers = {name: self.case.ids[known] for name, known in records.items() if known is not None}
        return {"text": text, "audience": audience, "confidence": _CONFIDENCE, **pointers}
