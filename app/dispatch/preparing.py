"""What a turn does before its model is asked: who answers, whether they may be asked, in which session, with what."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.access.actor import caller_of
from app.agents.providers.base import ModelProvider, ModelRequest
from app.dispatch import wording
from app.dispatch.entrance import Entrance
from app.dispatch.fitting import Fitting
from app.dispatch.instructions import instructions_block
from app.dispatch.ports import Model, Ports
from app.dispatch.provision import Asking, Opened
from app.dispatch.resolve import Resolution, instructions_of, resolve, wishes_of
from app.dispatch.sharing import readable, teachable
from app.dispatch.work import Progress, Work
from app.errors import NotAllowedError, StateError
from app.sessions.compression import Cause
from app.sessions.transcript import Kind
from commands.errors import UnavailableError
from commands.preferences import Layer, Setting, subjects_of
from commands.spec import Caller


@dataclass(frozen=True, slots=True)
class Ready:
    """A model call that can be made."""

    opened: Opened
    asking: Asking
    provider: ModelProvider
    request: ModelRequest


@dataclass(frozen=True, slots=True)
class _Choice:
    """Who is to answer."""

    resolution: Resolution
    model: Model
    advice: str | None


class Preparing:
    """Holds no state between turns. Raises the trees of ``SwitchboardError`` that its steps do."""

    def __init__(self, ports: Ports, entrance: Entrance, fitting: Fitting | None) -> None:
        self._ports = ports
        self._entrance = entrance
        self._fitting = fitting

    async def ready(self, progress: Progress) -> Ready:
        """For what the message says when its model is given it: words that change meanwhile are prepared for anew."""
        opened: Opened | None = None
        while True:
            said = progress.work
            caller = caller_of(said.message)
            choice = await self._chosen(progress, said, caller)
            async with self._entrance:
                asking = await self._admitted(progress, caller, choice)
                opened = opened or await self._opened(progress)
                await said.chat.status().show(wording.THINKING)
            opened = await self._roomy(progress, opened)
            async with self._entrance:
                found = await self._ports.provision.gathered(progress, opened, asking)
            # Nothing is awaited from here on, so that these are the words it is given.
            if progress.work is said:
                request = self._ports.provision.request(progress, opened, asking, found)
                return Ready(opened, asking, choice.model.provider, request)

    async def shorter(self, progress: Progress, ready: Ready) -> Ready | None:
        """With the session summarised, for a provider that finds it too long; ``None`` when nothing could be done."""
        opened = await self._fitted(progress, ready.opened, Cause.OVERFLOW)
        if opened is None:
            return None
        async with self._entrance:
            found = await self._ports.provision.gathered(progress, opened, ready.asking)
        request = self._ports.provision.request(progress, opened, ready.asking, found)
        return replace(ready, opened=opened, request=request)

    async def _chosen(self, progress: Progress, said: Work, caller: Caller) -> _Choice:
        ports = self._ports
        try:
            kept = await ports.preferences.get(subjects_of(caller))
        except UnavailableError as fault:
            raise StateError("preferences") from fault
        resolution = resolve(ports.agents, ports.defaults, wishes_of(kept, said.wish), ports.knows_model)
        model = ports.models.resolve(resolution.model)
        progress.agent, progress.model = resolution.agent.name, resolution.model
        return _Choice(resolution, model, advice_of(kept))

    async def _admitted(self, progress: Progress, caller: Caller, choice: _Choice) -> Asking:
        """Raises ``NotAllowedError`` before any memory is read for somebody who may not ask."""
        access = self._ports.access
        asker = await access.asker(caller)
        for decision in (access.may_talk(asker), access.may_run_agent(asker, choice.resolution.agent.name)):
            if not decision.is_allowed:
                raise NotAllowedError(decision.reason)
        repo = choice.resolution.repo
        progress.teaches = teachable(access, asker, repo)
        reads = readable(access, asker, repo)
        return Asking(choice.resolution, choice.model.model, asker.place.facts, choice.advice, reads)

    async def _opened(self, progress: Progress) -> Opened:
        ports, work = self._ports, progress.work
        source = ports.keying.source(work.message)
        entry = await ports.journal.begin(work.accepted, source)
        progress.entry, progress.is_shared = entry, ports.keying.rules.is_shared(source)
        # A session that has just been made is known to be empty.
        is_new = entry.created_at == entry.updated_at == entry.active_turn_started_at
        transcript = () if work.message.brings_history or is_new else await ports.transcripts.load(entry)
        progress.prior_turns = sum(line.role == "assistant" and line.kind is Kind.SAID for line in transcript)
        return Opened(entry, source, transcript)

    async def _roomy(self, progress: Progress, opened: Opened) -> Opened:
        """The session, summarised when it comes too near its model's window."""
        if self._fitting is None or not self._fitting.is_needed(progress, opened):
            return opened
        return await self._fitted(progress, opened, Cause.THRESHOLD) or opened

    async def _fitted(self, progress: Progress, opened: Opened, cause: Cause) -> Opened | None:
        if self._fitting is None:
            return None
        await progress.work.chat.status().show(wording.SUMMARISING)
        return await self._fitting.fitted(progress, opened, cause)


def advice_of(kept: Sequence[Setting]) -> str | None:
    """The wishes of the channel and of the person, as the model is shown them."""
    return instructions_block(instructions_of(kept, Layer.CHANNEL), instructions_of(kept, Layer.USER))
