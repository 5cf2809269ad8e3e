"""``config …``: what people set for themselves, for a conversation and for a channel, and what comes of it.

A person's own settings are theirs alone. A conversation's are for its people, a channel's for admins. What is set
chooses among what there is and gives advice; it opens nothing: whether somebody may use an agent is asked at each turn.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from commands.builtin.config_asking import layer_of, name_of, value_of, version_of
from commands.builtin.config_showing import instructions_text, shown
from commands.builtin.people import require_channel, require_people
from commands.errors import ConflictError, InvalidInputError, NotFoundError, UnauthorizedError, UnavailableError
from commands.ports import Authority, Choices, Conversations, Preferences
from commands.preferences import INSTRUCTIONS_CHARS, Layer, Name, Setting, Slot, subjects_of
from commands.quoting import quotable, visible
from commands.spec import Caller, Reply, Values
from memory.scope import ScopeKeyError, ScopeKind, scope_key

WRITE = "config:write"
_OFF = "there are no settings of people and channels in this process"
_NOWHERE = {
    Layer.THREAD: "this is said in no thread; leave out `--layer` to set it for yourself",
    Layer.CHANNEL: "this surface has no channel; leave out `--layer` to set it for yourself",
    Layer.USER: "nobody is known to be asking, so there is nobody to set it for",
}
_NOWHERE_FOR_A_REPO = {
    Layer.THREAD: "this is said in no thread; `--layer channel` sets it for the channel",
    Layer.CHANNEL: "this surface has no channel to set it for",
}
_WHOSE = {Layer.THREAD: "this conversation", Layer.USER: "you", Layer.CHANNEL: "this channel"}
_IS = dict.fromkeys(Name, "is") | {Name.INSTRUCTIONS: "are"}
_CHANNEL_IS_ADMINS = "what holds for a channel is set by admins; your own you can always set (leave out `--layer`)."
_THREAD_IS_ITS_PEOPLES = "here, only admins set what holds for a conversation; your own you can always set."
_NOT_YOURS = "you may not change settings."


Put = Callable[[int], Awaitable[Setting]]
"""Writes what stands in a slot, if that is at the version. Raises ``ConflictError``."""


@dataclass(frozen=True, slots=True)
class Configuring:
    """What the config commands work with, and those that are about what is set."""

    preferences: Preferences
    choices: Choices

    async def repo_of(self, caller: Caller) -> str | None:
        """The repository that counts where the caller is. Raises ``UnavailableError``."""
        effective = self.choices.in_effect(await self.preferences.get(subjects_of(caller)))
        return next((each.value for each in effective if each.name is Name.REPO), None)


@dataclass(frozen=True, slots=True)
class ConfigCommands:
    """The handlers. ``config``: ``None`` in a process without settings; ``conversations`` likewise."""

    config: Configuring | None
    conversations: Conversations | None
    authority: Authority

    async def show(self, caller: Caller, values: Values) -> Reply:  # noqa: ARG002 - it takes none
        config = self._open()
        kept = await config.preferences.get(subjects_of(caller))
        return shown(config.choices.in_effect(kept), kept, caller)

    async def set(self, caller: Caller, values: Values) -> Reply:
        config = self._open()
        name = name_of(values)
        slot = await self._writable(caller, layer_of(values, name), name)
        value = value_of(name, str(values["value"]), config.choices)
        setting = await _put(config, slot, values, _setting(config, slot, value, caller))
        text = f"⚙️ {name} is `{quotable(value)}` for {_WHOSE[slot.layer]} now."
        return Reply(_data(setting), text, receipt=f"set {name} of {slot.layer}")

    async def clear(self, caller: Caller, values: Values) -> Reply:
        config, name = self._open(), name_of(values)
        slot = await self._writable(caller, layer_of(values, name), name)
        return await self._cleared(config, slot, caller, values)

    async def instructions(self, caller: Caller, values: Values) -> Reply:
        """Without a text: what there is. An empty text clears."""
        config, layer = self._open(), layer_of(values, Name.INSTRUCTIONS)
        if values["text"] is None:
            setting = await _kept(config, _slot(caller, layer, Name.INSTRUCTIONS))
            text = instructions_text(setting, _WHOSE[layer], caller)
            return Reply(_data(setting), text, receipt="showed instructions")
        advice = visible(str(values["text"])).strip()
        if len(advice) > INSTRUCTIONS_CHARS:
            raise InvalidInputError(f"instructions may have at most {INSTRUCTIONS_CHARS:,} characters")
        slot = await self._writable(caller, layer, Name.INSTRUCTIONS)
        if not advice:
            return await self._cleared(config, slot, caller, values)
        setting = await _put(config, slot, values, _setting(config, slot, advice, caller))
        text = f"⚙️ From now on I am given these {len(advice):,} characters as advice for {_WHOSE[layer]}."
        return Reply(_data(setting), text, receipt=f"set instructions of {layer}")

    async def _cleared(self, config: Configuring, slot: Slot, caller: Caller, values: Values) -> Reply:
        if (await _kept(config, slot)).value is None:
            raise NotFoundError(f"no {slot.name} {_IS[slot.name]} set for {_WHOSE[slot.layer]}")
        setting = await _put(config, slot, values, _clearing(config, slot, caller))
        text = f"🧹 No {slot.name} {_IS[slot.name]} set for {_WHOSE[slot.layer]} any more."
        return Reply(_data(setting), text, receipt=f"cleared {slot.name} of {slot.layer}")

    async def _writable(self, caller: Caller, layer: Layer, name: Name) -> Slot:
        """Raises ``CommandError``."""
        slot = _slot(caller, layer, name)
        if layer is Layer.USER:
            await self._require_self(caller)
        elif layer is Layer.CHANNEL:
            await require_channel(self.authority, caller, WRITE, _CHANNEL_IS_ADMINS)
        elif self.conversations is None:
            await require_channel(self.authority, caller, WRITE, _THREAD_IS_ITS_PEOPLES)
        else:
            await require_people(self.conversations, self.authority, caller, WRITE)
        return slot

    async def _require_self(self, caller: Caller) -> None:
        try:
            key = scope_key(ScopeKind.USER, caller.id)
        except ScopeKeyError as fault:
            raise UnauthorizedError(_NOT_YOURS, audit_reason="no user") from fault
        decision = await self.authority.may_touch(caller, WRITE, key)
        if not decision.is_allowed:
            raise UnauthorizedError(_NOT_YOURS, audit_reason=decision.reason)

    def _open(self) -> Configuring:
        if self.config is None:
            raise UnavailableError(_OFF)
        return self.config


def _slot(caller: Caller, layer: Layer, name: Name) -> Slot:
    """Only the caller's own place can be named. Raises ``InvalidInputError`` where it has no such layer."""
    subject = subjects_of(caller).get(layer)
    if subject is None:
        raise InvalidInputError((_NOWHERE_FOR_A_REPO if name is Name.REPO else _NOWHERE)[layer])
    return Slot(layer, subject, name)


def _setting(config: Configuring, slot: Slot, value: str, caller: Caller) -> Put:
    return lambda version: config.preferences.set(slot, value, expected_version=version, by=caller.id)


def _clearing(config: Configuring, slot: Slot, caller: Caller) -> Put:
    return lambda version: config.preferences.clear(slot, expected_version=version, by=caller.id)


async def _put(config: Configuring, slot: Slot, values: Values, put: Put) -> Setting:
    """At the version the caller has seen; without one at that which stands there, looked up again once."""
    asked = version_of(values)
    if asked is not None:
        return await put(asked)
    try:
        return await put((await _kept(config, slot)).version)
    except ConflictError:
        return await put((await _kept(config, slot)).version)


async def _kept(config: Configuring, slot: Slot) -> Setting:
    settings = await config.preferences.get({slot.layer: slot.subject})
    return next((each for each in settings if each.slot == slot), Setting(slot, None, 0))


def _data(setting: Setting) -> dict[str, str | int | None]:
    """Without the value: a program has just said it, or asks ``config show``."""
    return {"layer": setting.slot.layer, "name": setting.slot.name, "version": setting.version}
