"""What ``memory list`` shows: one section per scope the request has, in a fixed order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commands.builtin.config import Configuring
from commands.ports import Authority
from commands.quoting import one_line, quotable, visible
from commands.spec import MACHINES, Caller, Json, Reply, Values
from commands.untrusted import untrusted
from memory.record import MemoryRecord
from memory.scope import ScopeKeyError, ScopeKind, scope_key
from memory.store import MemoryStore

LIMIT, MOST = 20, 50
"""Records per scope, unless said otherwise and at most (specification, section 24)."""
FILTER_CHARS_SHOWN = 100

_ALL = "all"
_SECTIONS = {"me": ScopeKind.USER, "repo": ScopeKind.REPO, "channel": ScopeKind.CHANNEL, "org": ScopeKind.ORG}
"""Scope words, in the order of their sections."""
_TITLES = {
    ScopeKind.USER: "Your records",
    ScopeKind.REPO: "This repository's records",
    ScopeKind.CHANNEL: "This channel's records",
    ScopeKind.ORG: "Shared records",
}
_ABSENT = {
    ScopeKind.USER: "Nobody is known to be asking, so there are no records of your own.",
    ScopeKind.REPO: (
        "No repository is set here; name one with `--repo owner/name`, "
        "or set the one this conversation is about with `config set repo owner/name`."
    ),
    ScopeKind.CHANNEL: "This conversation takes place in no channel.",
}
_EMPTY = "No active records."


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be listed. A first word that is a scope is one, unless ``--scope`` names it."""

    scope: str
    query: str
    limit: int
    repo: str | None

    @staticmethod
    def words() -> tuple[str, ...]:
        return (*_SECTIONS, _ALL)

    @classmethod
    def of(cls, values: Values) -> "Asked":
        words = str(values["words"] or "").split()
        scope = values["scope"]
        if scope is None and words and words[0] in cls.words():
            scope = words.pop(0)
        limit, repo = values["limit"], values["repo"]
        shown = limit if isinstance(limit, int) else LIMIT
        return cls(str(scope or _ALL), " ".join(words), shown, None if repo is None else str(repo))

    def wants(self, kind: ScopeKind) -> bool:
        return self.scope == _ALL or _SECTIONS[self.scope] is kind

    def names(self, kind: ScopeKind) -> bool:
        """Whether this scope, and no other, was asked for."""
        return self.scope != _ALL and _SECTIONS[self.scope] is kind


@dataclass(frozen=True, slots=True)
class _Section:
    kind: ScopeKind
    scope_key: str
    records: Sequence[MemoryRecord]
    is_full: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """Lists for one caller. Reads count as no use."""

    store: MemoryStore
    organization: str
    authority: Authority
    caller: Caller
    config: Configuring | None = None

    async def reply(self, asked: Asked) -> Reply:
        """Raises ``StoreUnavailableError`` and ``UnavailableError``."""
        sections: list[_Section] = []
        notes: list[str] = []
        for kind in filter(asked.wants, _SECTIONS.values()):
            key = await self._key(kind, asked)
            if key is not None:
                sections.append(await self._section(kind, key, asked))
            elif kind is ScopeKind.USER or asked.names(kind):
                notes.append(_ABSENT[kind])
        is_machine = self.caller.surface in MACHINES
        texts = [*notes, *(_text(section, asked, is_machine=is_machine) for section in sections)]
        data: Mapping[str, Json] = {
            "sections": [_data(section, is_machine=is_machine) for section in sections],
            "notes": notes,
        }
        return Reply(data, "\n\n".join(texts))

    async def _key(self, kind: ScopeKind, asked: Asked) -> str | None:
        """The scope this request has of a kind, if it has one. The repository is found out only here."""
        origin = self.caller.origin
        if kind is ScopeKind.REPO:
            return _key_of(kind, asked.repo or await self._repo())
        named = {
            ScopeKind.USER: self.caller.id,
            ScopeKind.CHANNEL: origin.channel_id,
            ScopeKind.ORG: self.organization,
        }
        return _key_of(kind, named[kind])

    async def _repo(self) -> str | None:
        return None if self.config is None else await self.config.repo_of(self.caller)

    async def _section(self, kind: ScopeKind, key: str, asked: Asked) -> _Section:
        """A scope the caller may not read looks like an empty one."""
        decision = await self.authority.may_touch(self.caller, "memory:read", key)
        found = await self.store.list(key, asked.limit, query=asked.query) if decision.is_allowed else ()
        return _Section(kind, key, found, len(found) >= asked.limit)


def own_scope(caller: Caller) -> str | None:
    return _key_of(ScopeKind.USER, caller.id)


def _key_of(kind: ScopeKind, identifier: str | None) -> str | None:
    try:
        return scope_key(kind, identifier)
    except ScopeKeyError:
        return None


def _text(section: _Section, asked: Asked, *, is_machine: bool) -> str:
    query = quotable(asked.query)
    cut = f"{query[:FILTER_CHARS_SHOWN]}…" if len(query) > FILTER_CHARS_SHOWN else query
    matching = f" matching `{cut}`" if asked.query else ""
    lines = [f"**{_TITLES[section.kind]}** (`{quotable(section.scope_key)}`){matching}"]
    lines += [_line(record, is_machine=is_machine) for record in section.records] or [_EMPTY]
    if section.is_full:
        lines.append(
            f"_{asked.limit} records are shown and there may be more: narrow with words, "
            f"or raise `--limit` ({MOST} at most)._"
        )
    return "\n".join(lines)


def _line(record: MemoryRecord, *, is_machine: bool) -> str:
    """The thread stands in a code span because Slack reads underscores as italics."""
    text = f"\n{untrusted(visible(record.text))}\n" if is_machine else f" {one_line(record.text)} "
    source = quotable(record.source_thread_key)
    return f"- `{quotable(record.id)}` [{record.kind}, {record.created_at:%Y-%m-%d}]{text}(`{source}`)"


def _data(section: _Section, *, is_machine: bool) -> dict[str, Json]:
    records: list[Json] = [
        {
            "id": record.id,
            "kind": record.kind,
            "text": untrusted(record.text) if is_machine else record.text,
            "createdAt": record.created_at.isoformat(),
            "sourceThreadKey": record.source_thread_key,
        }
        for record in section.records
    ]
    word = next(word for word, kind in _SECTIONS.items() if kind is section.kind)
    return {"scope": word, "scopeKey": section.scope_key, "isFull": section.is_full, "records": records}
