"""Conversations and settings in this process, with the commands over them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from app.agents.definitions import Agent, agents
from app.dispatch.choices import ConfiguredChoices
from app.dispatch.resolve import Defaults, KnownModels
from commands.builtin import Configuring, Records, builtin_commands
from commands.conversations import (
    Compressed,
    Compressible,
    Compressing,
    ConversationStatus,
    Recap,
    Restarted,
    SessionSummary,
    Spent,
    Stopped,
    TokenCounts,
    Undone,
    Used,
    Whose,
)
from commands.errors import BusyError, ConflictError, NotFoundError
from commands.ports import Authority
from commands.preferences import Name, Setting, Slot, Subjects
from commands.receipts import InProcessReceipts
from commands.registry import Registry
from commands.result import Result
from commands.spec import Caller, Followup, Origin, Replaced, Surface
from tests.command_house import CHANNEL, MEMBER, NOON, Calm, HouseRules, noon

THREAD = f"{CHANNEL}:1.0"
SPENT = Spent(TokenCounts(1200, 340, 5000, 60), 12_300, "estimated", turns=3, compressions=1, calls=5)


def in_thread(
    caller_id: str = MEMBER, surface: Surface = Surface.CHAT, thread: str | None = THREAD, channel: str | None = CHANNEL
) -> Caller:
    return Caller(caller_id, surface, Origin(channel, thread, "public"))


def on_slash(caller_id: str = MEMBER) -> Caller:
    return in_thread(caller_id, Surface.SLASH, thread=None)


def session(number: int, **changes: object) -> SessionSummary:
    made = SessionSummary(
        f"20261129_120000_{number:08x}", NOON, NOON - timedelta(hours=number), opening=f"question {number}"
    )
    return replace(made, **changes)  # pyright: ignore[reportArgumentType] - fields by name


@dataclass(slots=True)
class FakeConversations:
    """One list of sessions for each thread, the current one first; notes every change it is asked for."""

    sessions: dict[str, list[SessionSummary]] = field(default_factory=dict[str, list[SessionSummary]])
    people: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    running: dict[str, str] = field(default_factory=dict[str, str])
    """Thread to the person whose turn runs in it."""
    last: str | None = "what did we decide?\n\n  really"
    own: tuple[Name, ...] = ()
    """What is set for the conversation."""
    ahead: int = 0
    room: int = 3
    compressed: int = 12
    done: Compressed | None = None
    """What compressing did; else ``compressed`` messages were summarised."""
    spent: Spent = SPENT
    limit_tokens: int | None = 200_000
    recap: Recap | None = None
    repo: str | None = None
    asked: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])

    async def participants(self, caller: Caller) -> frozenset[str]:
        return self.people.get(self._key(caller), frozenset())

    async def status(self, caller: Caller) -> ConversationStatus | None:
        mine = self.sessions.get(self._key(caller))
        if not mine:
            return None
        is_running = self._key(caller) in self.running
        recap = self.recap if caller.id in self.people.get(self._key(caller), ()) else None
        return ConversationStatus(
            mine[0],
            "general",
            "test/scripted",
            self.spent,
            5_000,
            self.limit_tokens,
            is_running,
            self.ahead,
            recap,
            self.repo,
        )

    async def reset(self, caller: Caller, title: str | None) -> Restarted:
        self._check_title(caller, title)
        self.asked.append(("reset", title))
        begun = session(99, title=title, opening="")
        self.sessions.setdefault(self._key(caller), []).insert(0, begun)
        stopped = int(self.running.pop(self._key(caller), None) is not None)
        cleared, self.own = self.own, ()
        return Restarted(begun, stopped, dropped=self.ahead, cleared=cleared)

    async def stop(self, caller: Caller) -> Stopped:
        own = caller.origin.thread_key
        channel = f"{caller.origin.channel_id}:"
        found = [own] if own in self.running else []
        found = found or [key for key, who in self.running.items() if who == caller.id and key.startswith(channel)]
        for key in found:
            del self.running[key]
        return Stopped(len(found), is_told=own in found)

    async def earlier(
        self, caller: Caller, *, in_channel: bool = False, limit: int | None = None
    ) -> Sequence[SessionSummary]:
        found = self.sessions.get(self._key(caller), [])[1:]
        if in_channel:
            channel = f"{caller.origin.channel_id}:"
            found += [each for key, mine in self.sessions.items() if key.startswith(channel) for each in mine]
        return list(dict.fromkeys(found))[:limit]

    async def resume(self, caller: Caller, session_id: str, *, in_channel: bool = False) -> SessionSummary:
        self.asked.append(("resume", session_id))
        return next(each for each in await self.earlier(caller, in_channel=in_channel) if each.session_id == session_id)

    async def list_sessions(self, caller: Caller, query: str, limit: int) -> Sequence[SessionSummary]:
        if caller.origin.thread_key is None:
            channel = f"{caller.origin.channel_id}:"
            mine = [key for key in self.sessions if key.startswith(channel) and caller.id in self.people.get(key, ())]
            return [each for key in mine for each in self.sessions[key]]
        found = self.sessions.get(self._key(caller), [])
        return [each for each in found if all(word in each.opening for word in query.split())][:limit]

    async def retry(self, caller: Caller) -> Followup:
        if self.last is None:
            raise NotFoundError("nothing to answer again")
        self.asked.append(("retry", self._key(caller)))
        return Followup(self.last, Replaced("the session", self.last))

    async def undo(self, caller: Caller, turns: int) -> Undone:
        self.asked.append(("undo", turns))
        return Undone(turns, 2 * turns, self.last) if self.last is not None else Undone(0, 0, "")

    async def compress(self, caller: Caller, how: Compressing) -> Compressed:
        self.asked.append(("compress", how))
        return self.done or Compressed(self.compressed, 80_000, 9_000)

    async def compressible(self, caller: Caller, how: Compressing) -> Compressible:
        self.asked.append(("compressible", how))
        return Compressible(self.compressed, 71_000, 4, 9_000)

    async def queue(self, caller: Caller) -> int:
        if self.ahead >= self.room:
            raise BusyError("the line is full; say it again when it is shorter")
        return self.ahead

    async def usage(self, caller: Caller, whose: Whose, *, days: int | None) -> Used:
        self.asked.append(("usage", whose, days))
        return Used(self.spent, (("test/scripted", self.spent),))

    async def title(self, caller: Caller, text: str) -> None:
        self._check_title(caller, text)
        self.asked.append(("title", text))

    def _check_title(self, caller: Caller, title: str | None) -> None:
        if title is not None and title in {each.title for each in self.sessions.get(self._key(caller), [])}:
            raise ConflictError("another session of this conversation has this title")

    def _key(self, caller: Caller) -> str:
        assert caller.origin.thread_key is not None, "without a thread, this must not be asked"
        return caller.origin.thread_key


@dataclass(slots=True)
class InProcessPreferences:
    """Settings over a dictionary."""

    rows: dict[Slot, Setting] = field(default_factory=dict[Slot, Setting])

    async def get(self, subjects: Subjects) -> Sequence[Setting]:
        return [row for slot, row in sorted(self.rows.items(), key=str) if subjects.get(slot.layer) == slot.subject]

    async def set(self, slot: Slot, value: str, *, expected_version: int, by: str) -> Setting:
        return self._put(slot, value, expected_version)

    async def clear(self, slot: Slot, *, expected_version: int, by: str) -> Setting:
        return self._put(slot, None, expected_version)

    def forget(self) -> None:
        """Nothing is read twice."""

    def _put(self, slot: Slot, value: str | None, expected_version: int) -> Setting:
        if self.rows.get(slot, Setting(slot, None, 0)).version != expected_version:
            raise ConflictError("this was changed meanwhile")
        self.rows[slot] = Setting(slot, value, expected_version + 1)
        return self.rows[slot]


def choices() -> ConfiguredChoices:
    """Two agents, of which one has preferences, and one provider."""
    known = agents({"coder": Agent("coder", "code", "test/code", "high")})
    return ConfiguredChoices(known, Defaults("general", "test/scripted"), KnownModels(frozenset({"test"})))


@dataclass(slots=True)
class TalkHouse:
    """A registry of every command over conversations and settings."""

    talk: FakeConversations = field(default_factory=FakeConversations)
    preferences: InProcessPreferences = field(default_factory=InProcessPreferences)
    rules: Authority = field(default_factory=HouseRules)
    receipts: InProcessReceipts = field(default_factory=InProcessReceipts)

    def registry(self) -> Registry:
        config = Configuring(self.preferences, choices())
        commands = builtin_commands(None, "acme", self.rules, Calm(), Records(self.talk, config))
        return Registry(commands, self.rules, now=noon, receipts=self.receipts)

    async def say(self, text: str, caller: Caller | None = None) -> Result:
        """As a message, which must be a command."""
        registry = self.registry()
        recognised = registry.recognise(text)
        assert recognised is not None, text
        return await registry.run_text(recognised, caller or in_thread())

    async def give(self, line: str, caller: Caller) -> Result:
        """As a line of another surface."""
        return await self.registry().run_line(line, caller)
