"""How settings read: what is in effect and where it comes from, and what is kept in which layer."""

from collections.abc import Sequence

from commands.preferences import InEffect, Layer, Name, Setting
from commands.quoting import quotable
from commands.spec import MACHINES, Caller, Json, Reply
from commands.untrusted import untrusted

LAYER_WORDS = {
    Layer.REQUEST: "from the message",
    Layer.THREAD: "set for this conversation",
    Layer.USER: "set by you",
    Layer.CHANNEL: "set for this channel",
    Layer.AGENT: "the agent's own",
    Layer.DEFAULTS: "the default",
}
_NOTHING = {Name.EFFORT: "the model's own", Name.REPO: "none"}


def shown(effective: Sequence[InEffect], kept: Sequence[Setting], caller: Caller) -> Reply:
    """What is in effect, then what is kept. Instructions appear by their length: ``config instructions`` shows them."""
    present = [setting for setting in kept if setting.value is not None]
    lines = ["**In effect for your messages here**", *map(_effective_line, effective)]
    lines += ["", "**Set**", *map(_kept_line, present)] if present else []
    data: dict[str, Json] = {
        "effective": {each.name: {"value": each.value, "layer": each.layer} for each in effective},
        "settings": [_data(setting, caller) for setting in present],
    }
    return Reply(data, "\n".join(lines))


def instructions_text(setting: Setting, whose: str, caller: Caller) -> str:
    if setting.value is None:
        return f"No instructions are set for {whose}."
    head = f"Instructions for {whose} (version {setting.version}), which I am given as advice:"
    if caller.surface in MACHINES:
        return f"{head}\n{untrusted(setting.value)}"
    # Quoted line by line, so that no line of it begins something of ours.
    return "\n".join([head, *(f"> {line}" for line in setting.value.splitlines())])


def _effective_line(each: InEffect) -> str:
    value = f"`{quotable(each.value)}`" if each.value is not None else _NOTHING[each.name]
    return f"- {each.name}: {value} ({LAYER_WORDS[each.layer]})"


def _kept_line(setting: Setting) -> str:
    value = setting.value or ""
    is_text = setting.slot.name is Name.INSTRUCTIONS
    shown_value = f"{len(value):,} characters" if is_text else f"`{quotable(value)}`"
    return f"- {setting.slot.name}, {LAYER_WORDS[setting.slot.layer]}: {shown_value} (version {setting.version})"


def _data(setting: Setting, caller: Caller) -> Json:
    value = setting.value or ""
    is_text = setting.slot.name is Name.INSTRUCTIONS and caller.surface in MACHINES
    return {
        "layer": setting.slot.layer,
        "name": setting.slot.name,
        "value": untrusted(value) if is_text else value,
        "version": setting.version,
    }
