"""The keys of a caller's place, and those of messages from there (session lifecycle, sections 4 and 5)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.actor import caller_of
from app.channel import ChannelId, IncomingMessage, ThreadKey, UserId, Visibility, WorkspaceId
from app.dispatch.conversation_keys import keys_of, only_speaker, sources_of, stem_for_admins, stem_of
from app.dispatch.keying import Keying
from app.sessions.key import KeyRules
from commands.spec import Caller, Origin, Surface
from tests.fakes import message

ROLLING = Keying(dm_top_level_threads_as_sessions=False)
SCOPED = Keying(KeyRules(with_scope=True))
SPLIT = Keying(KeyRules(thread_sessions_per_user=True))
ANY_KEYING = st.builds(Keying, st.builds(KeyRules, st.booleans(), st.booleans(), st.booleans()), st.booleans())

names = st.from_regex(r"[A-Za-z0-9._@/#+%-]{1,6}", fullmatch=True)
stamps = st.from_regex(r"[0-9]{1,4}\.[0-9]{1,4}", fullmatch=True)
slack_channels = st.from_regex(r"[CDG][A-Z0-9]{1,3}", fullmatch=True)


@st.composite
def slack_messages(draw: st.DrawFn) -> IncomingMessage:
    channel, position = f"slack:{draw(slack_channels)}", draw(stamps)
    root = draw(st.none() | stamps.filter(lambda stamp: stamp != position))
    is_at_the_top = root is None and not channel.startswith("slack:D") and draw(st.booleans())
    return replace(
        message(position=position, root=root),
        starts_thread=root is None and not is_at_the_top,
        workspace_id=WorkspaceId(f"slack:T{draw(names)}"),
        channel_id=ChannelId(channel),
        user_id=UserId(f"slack:U{draw(names)}"),
        thread_key=ThreadKey(channel if is_at_the_top else f"{channel}:{root or position}"),
    )


@st.composite
def program_messages(draw: st.DrawFn) -> IncomingMessage:
    platform = draw(st.sampled_from(["cli", "http", "mcp"]))
    channel = f"{platform}:{draw(names)}"
    return replace(
        message(position=draw(names), root=draw(st.none() | names)),
        workspace_id=WorkspaceId(platform),
        channel_id=ChannelId(channel),
        user_id=UserId(f"{platform}:{draw(names)}"),
        thread_key=ThreadKey(f"{channel}:{draw(names)}"),
        visibility=Visibility.MACHINE,
    )


def in_dm(position: str, root: str | None = None) -> IncomingMessage:
    said = message(position=position, root=root)
    thread = ThreadKey(f"slack:D1:{root or position}")
    return replace(said, channel_id=ChannelId("slack:D1"), thread_key=thread, visibility=Visibility.DM)


@given(slack_messages() | program_messages(), ANY_KEYING)
def test_a_callers_first_key_is_byte_for_byte_that_of_the_message(said: IncomingMessage, keying: Keying) -> None:
    assert keys_of(keying, caller_of(said))[0] == keying.key(said)


@given(slack_messages() | program_messages(), ANY_KEYING)
def test_a_callers_first_source_is_that_of_the_message(said: IncomingMessage, keying: Keying) -> None:
    assert sources_of(keying, caller_of(said))[0] == keying.source(said)


@given(slack_messages() | program_messages(), ANY_KEYING)
def test_every_key_of_a_channel_goes_on_from_its_stem(said: IncomingMessage, keying: Keying) -> None:
    stem = stem_of(keying, caller_of(said))
    assert stem is not None
    for key in keys_of(keying, caller_of(said)):
        assert key == stem or key.startswith(f"{stem}:")


@given(slack_messages() | program_messages(), slack_messages() | program_messages(), ANY_KEYING)
def test_no_key_of_another_channel_goes_on_from_it(
    said: IncomingMessage, elsewhere: IncomingMessage, keying: Keying
) -> None:
    if said.channel_id != elsewhere.channel_id:
        stem = stem_of(keying, caller_of(said))
        assert not f"{keying.key(elsewhere)}:".startswith(f"{stem}:")


def test_below_the_top_of_a_dm_that_is_one_session_there_are_two() -> None:
    thread, rolling = "agent:main:slack:dm:D1:1.0", "agent:main:slack:dm:D1"
    assert keys_of(ROLLING, caller_of(in_dm("1.1", root="1.0"))) == (thread, rolling)
    assert keys_of(ROLLING, caller_of(in_dm("1.0"))) == (rolling,)
    assert keys_of(ROLLING, Caller("slack:U1", Surface.CHAT, Origin("slack:D1", "slack:D1:1.0"))) == (thread, rolling)
    assert keys_of(Keying(), caller_of(in_dm("1.1", root="1.0"))) == (thread,)


def test_without_a_thread_there_is_no_key() -> None:
    assert keys_of(Keying(), Caller("slack:U1", Surface.SLASH, Origin("slack:C1"))) == ()
    assert keys_of(Keying(), Caller("slack:U1", Surface.SLASH, Origin(thread_key="slack:C1:1.0"))) == ()


@pytest.mark.parametrize("channel", [None, "", "slack:", "slack"])
def test_without_a_channel_there_is_no_stem(channel: str | None) -> None:
    assert stem_of(Keying(), Caller("slack:U1", Surface.SLASH, Origin(channel))) is None


def test_a_stem_names_the_channel_and_nobody_in_it() -> None:
    said = message(root="1.0")
    assert stem_of(SPLIT, caller_of(said)) == "agent:main:slack:channel:C1"
    assert stem_of(SCOPED, caller_of(said)) == "agent:main:slack:channel:T1:C1"
    program = Caller("http:ci", Surface.HTTP, Origin("http:default", "http:default:1"))
    assert stem_of(SPLIT, program) == "agent:main:http:channel:default"


def test_a_dm_is_no_channel_for_admins() -> None:
    assert stem_for_admins(Keying(), caller_of(message(root="1.0"))) == "agent:main:slack:channel:C1"
    assert stem_for_admins(Keying(), caller_of(in_dm("1.0"))) is None
    assert stem_for_admins(Keying(), Caller("slack:U1", Surface.SLASH, Origin("slack:D1"))) is None
    elsewhere = Caller("teams:U1", Surface.CHAT, Origin("teams:X1", "teams:X1:1", visibility="dm"))
    assert stem_for_admins(Keying(), elsewhere) is None


def test_programs_are_told_of_their_own_conversations_alone() -> None:
    for surface in (Surface.CLI, Surface.HTTP, Surface.MCP):
        assert only_speaker(Caller("x:ci", surface)) == "x:ci"
    assert only_speaker(Caller("slack:U1", Surface.CHAT)) is None
