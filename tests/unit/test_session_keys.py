"""Which conversation a message belongs to (session lifecycle, sections 4 and 5)."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.channel import ChannelId, IncomingMessage, ThreadKey, UserId, WorkspaceId
from app.sessions.key import (
    MACHINES,
    KeyRules,
    canonical_whatsapp_id,
    is_shared_multi_user_session,
    session_key,
    source_of,
)
from app.sessions.source import ChatType, SessionSource
from tests.fakes import message

DM, GROUP, CHANNEL, THREAD = ChatType.DM, ChatType.GROUP, ChatType.CHANNEL, ChatType.THREAD
SHARED = KeyRules(group_sessions_per_user=False)
SPLIT = KeyRules(thread_sessions_per_user=True)
EVERYWHERE = KeyRules(with_scope=True)

ids = st.text(min_size=1, max_size=8) | st.text(alphabet=":%ab1", min_size=1, max_size=6)
slack_users = st.from_regex(r"[UW][A-Z0-9]{1,4}", fullmatch=True)
slack_threads = st.from_regex(r"[0-9]{1,4}\.[0-9]{1,4}", fullmatch=True)
slack_sources = st.builds(
    SessionSource,
    platform=st.just("slack"),
    chat_id=st.from_regex(r"[CDG][A-Z0-9]{1,3}", fullmatch=True),
    chat_type=st.sampled_from([DM, CHANNEL]),
    user_id=st.none() | slack_users,
    thread_id=st.none() | slack_threads,
    scope_id=st.none() | st.from_regex(r"T[A-Z0-9]{1,2}", fullmatch=True),
)
machine_sources = st.builds(
    SessionSource,
    platform=st.sampled_from(sorted(MACHINES)),
    chat_id=ids,
    chat_type=st.just(CHANNEL),
    user_id=st.none() | ids,
    thread_id=st.none() | ids,
)
any_sources = st.builds(
    SessionSource,
    platform=ids,
    chat_id=st.just("") | ids,
    chat_type=st.sampled_from(ChatType),
    user_id=st.none() | ids,
    user_id_alt=st.none() | ids,
    thread_id=st.none() | ids,
    scope_id=st.none() | ids,
)
any_rules = st.builds(KeyRules, st.booleans(), st.booleans(), st.booleans())


def source(platform: str, chat_type: ChatType, chat_id: str = "", **rest: str) -> SessionSource:
    return SessionSource(platform=platform, chat_id=chat_id, chat_type=chat_type, **rest)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("where", "rules", "key"),
    [
        # DM rules
        (source("telegram", DM, "12345"), KeyRules(), "agent:main:telegram:dm:12345"),
        (
            source("telegram", DM, "12345", thread_id="thread_678"),
            KeyRules(),
            "agent:main:telegram:dm:12345:thread_678",
        ),
        (source("signal", DM, user_id="user_abc"), KeyRules(), "agent:main:signal:dm:user_abc"),
        (source("telegram", DM), KeyRules(), "agent:main:telegram:dm"),
        (source("whatsapp", DM, "15551234567@s.whatsapp.net"), KeyRules(), "agent:main:whatsapp:dm:+15551234567"),
        (source("telegram", DM, "12345", user_id="user_abc"), KeyRules(), "agent:main:telegram:dm:12345"),
        (source("signal", DM, user_id="u", user_id_alt="uuid"), KeyRules(), "agent:main:signal:dm:uuid"),
        # Group and channel rules
        (source("telegram", GROUP, "-10012345", user_id="user_abc"), SHARED, "agent:main:telegram:group:-10012345"),
        (
            source("telegram", GROUP, "-10012345", user_id="user_abc"),
            KeyRules(),
            "agent:main:telegram:group:-10012345:user_abc",
        ),
        (
            source("discord", GROUP, "12345", thread_id="thread_678", user_id="user_abc"),
            KeyRules(),
            "agent:main:discord:group:12345:thread_678",
        ),
        (
            source("discord", GROUP, "12345", thread_id="thread_678", user_id="user_abc"),
            SPLIT,
            "agent:main:discord:group:12345:thread_678:user_abc",
        ),
        (source("slack", CHANNEL, "C12345", user_id="U1"), SHARED, "agent:main:slack:channel:C12345"),
        (source("slack", CHANNEL, "C12345"), KeyRules(), "agent:main:slack:channel:C12345"),
        (
            source("whatsapp", GROUP, "120363025@g.us", user_id="+1 555 123-4567"),
            KeyRules(),
            "agent:main:whatsapp:group:120363025:+15551234567",
        ),
        (
            source("telegram", GROUP, "-1", user_id="u", user_id_alt="stable"),
            KeyRules(),
            "agent:main:telegram:group:-1:stable",
        ),
        # Several workspaces
        (
            source("slack", CHANNEL, "C123", thread_id="1712.000", scope_id="T1", user_id="U7"),
            EVERYWHERE,
            "agent:main:slack:channel:T1:C123:1712.000",
        ),
        (
            source("slack", DM, "D9", thread_id="1712.55", scope_id="T1"),
            EVERYWHERE,
            "agent:main:slack:dm:T1:D9:1712.55",
        ),
        (
            source("slack", CHANNEL, "C123", scope_id="T1", user_id="U7"),
            EVERYWHERE,
            "agent:main:slack:channel:T1:C123:U7",
        ),
        (source("slack", CHANNEL, "C123", scope_id="T1"), KeyRules(), "agent:main:slack:channel:C123"),
        # Programs
        (
            source("http", CHANNEL, "default", thread_id="t", user_id="ci"),
            KeyRules(),
            "agent:main:http:channel:default:t:ci",
        ),
        (source("mcp", CHANNEL, "default", user_id="ci"), SHARED, "agent:main:mcp:channel:default::ci"),
    ],
)
def test_keys_have_the_documented_form(where: SessionSource, rules: KeyRules, key: str) -> None:
    """Session lifecycle, section 4: every row of its tables."""
    assert rules.key(where) == key
    assert (
        session_key(
            where,
            group_sessions_per_user=rules.group_sessions_per_user,
            thread_sessions_per_user=rules.thread_sessions_per_user,
            with_scope=rules.with_scope,
        )
        == key
    )


@pytest.mark.parametrize("thread", [None, "1.2"])
@pytest.mark.parametrize("chat_type", [GROUP, CHANNEL, THREAD])
@pytest.mark.parametrize("per_user", [True, False])
def test_rooms_and_threads_are_shared_as_the_operator_says(
    *, chat_type: ChatType, thread: str | None, per_user: bool
) -> None:
    """Session lifecycle, section 5: rooms by one setting, threads by the other."""
    where = replace(source("slack", chat_type, "C1"), thread_id=thread)
    decided_by_room = is_shared_multi_user_session(
        where, group_sessions_per_user=per_user, thread_sessions_per_user=not per_user
    )
    assert decided_by_room is (per_user if thread else not per_user)


@given(rooms=st.booleans(), threads=st.booleans(), thread=st.none() | slack_threads)
def test_what_is_said_to_the_bot_alone_is_never_shared(*, rooms: bool, threads: bool, thread: str | None) -> None:
    """Session lifecycle, section 5."""
    for where in (source("slack", DM, "D1"), *(source(machine, CHANNEL, "default") for machine in MACHINES)):
        assert not KeyRules(rooms, threads).is_shared(replace(where, thread_id=thread))


def test_the_defaults_split_rooms_and_share_threads() -> None:
    """Session lifecycle, section 5 and appendix."""
    room = source("slack", CHANNEL, "C1")
    assert not KeyRules().is_shared(room)
    assert KeyRules().is_shared(replace(room, thread_id="1.2"))


@given(where=any_sources, rules=any_rules, name=st.text(), is_bot=st.booleans())
def test_a_key_depends_on_nothing_that_may_change_within_a_conversation(
    *, where: SessionSource, rules: KeyRules, name: str, is_bot: bool
) -> None:
    other = replace(
        where, chat_name=name, user_name=name, chat_topic=name, message_id=name, is_bot=is_bot, role_authorized=is_bot
    )
    assert rules.key(where) == rules.key(other)


@given(any_sources, any_rules)
def test_a_key_can_be_kept_and_has_its_fixed_beginning(where: SessionSource, rules: KeyRules) -> None:
    key = rules.key(where)
    assert key.startswith("agent:main:")
    assert key.split(":")[3] == where.chat_type.value
    assert "\x00" not in key.encode().decode()


def facts(where: SessionSource, rules: KeyRules) -> tuple[object, ...]:
    """What must differ for two keys to differ, said without building a key."""
    scope = where.scope_id if rules.with_scope else None
    if where.platform in MACHINES:
        return where.platform, where.chat_type, where.chat_id, where.thread_id, where.user_id
    is_own = where.chat_type is not DM and not rules.is_shared(where)
    return where.platform, where.chat_type, scope, where.chat_id, where.thread_id, where.user_id if is_own else None


@given(slack_sources, slack_sources, any_rules)
def test_two_places_of_slack_never_share_a_key(one: SessionSource, other: SessionSource, rules: KeyRules) -> None:
    """Acceptance test 14 of a gateway, where workspaces are told apart: the same channel id in two of them."""
    assert (rules.key(one) == rules.key(other)) == (facts(one, rules) == facts(other, rules))


@given(machine_sources, machine_sources, any_rules)
def test_no_name_that_a_program_chooses_makes_another_key(
    one: SessionSource, other: SessionSource, rules: KeyRules
) -> None:
    assert (rules.key(one) == rules.key(other)) == (facts(one, rules) == facts(other, rules))


@given(ids, ids, ids, st.lists(ids, min_size=3, max_size=3), any_rules)
def test_no_id_reaches_into_the_next_part(
    chat: str, thread: str, user: str, others: list[str], rules: KeyRules
) -> None:
    """A colon in an id makes no two places one."""
    one = source("matrix", GROUP, chat, thread_id=thread, user_id=user)
    other = source("matrix", GROUP, others[0], thread_id=others[1], user_id=others[2])
    assume(facts(one, rules) != facts(other, rules))
    assert rules.key(one) != rules.key(other)


def test_a_colon_in_an_id_is_escaped() -> None:
    per_user = KeyRules(thread_sessions_per_user=True)
    forged = source("matrix", GROUP, "room:1", user_id="mallory")
    meant = source("matrix", GROUP, "room", thread_id="1", user_id="mallory")
    assert per_user.key(forged) == "agent:main:matrix:group:room%3A1:mallory"
    assert per_user.key(forged) != per_user.key(meant)
    assert per_user.key(replace(forged, chat_id="room%3A1")) == "agent:main:matrix:group:room%253A1:mallory"


@pytest.mark.parametrize(
    "spelling",
    [
        "15551234567@s.whatsapp.net",
        "15551234567:12@s.whatsapp.net",
        "15551234567@c.us",
        "+15551234567",
        "+1 (555) 123-4567",
        "0015551234567",
        " 1.555.123.4567 ",
    ],
)
def test_a_whatsapp_number_has_one_spelling(spelling: str) -> None:
    """Session lifecycle, section 4: the special case."""
    assert canonical_whatsapp_id(spelling) == "+15551234567"


@pytest.mark.parametrize(
    ("identifier", "canonical"),
    [
        ("120363025246125888@g.us", "120363025246125888"),
        ("120363025246125888", "120363025246125888"),
        ("15551234567@lid", "15551234567@lid"),
        ("status@broadcast", "status@broadcast"),
        ("somebody", "somebody"),
        ("0155", "0155"),
    ],
)
def test_what_is_no_phone_number_is_made_none(identifier: str, canonical: str) -> None:
    assert canonical_whatsapp_id(identifier) == canonical


@given(st.text(max_size=20) | st.from_regex(r"\+?[0-9 ().-]{5,20}(@s\.whatsapp\.net)?", fullmatch=True))
def test_a_canonical_number_stays_what_it_is(identifier: str) -> None:
    once = canonical_whatsapp_id(identifier)
    assume(once.startswith("+"))
    assert canonical_whatsapp_id(once) == once


def slack_message(channel: str, position: str, root: str | None = None) -> IncomingMessage:
    said = message(position=position, root=root)
    return replace(
        said,
        channel_id=ChannelId(f"slack:{channel}"),
        thread_key=ThreadKey(f"slack:{channel}:{root or position}"),
    )


def test_a_source_is_the_message_without_prefixes() -> None:
    """Session lifecycle, section 1."""
    assert source_of(slack_message("C1", "1712.9", root="1712.5")) == SessionSource(
        platform="slack",
        chat_id="C1",
        chat_type=CHANNEL,
        user_id="U1",
        thread_id="1712.5",
        scope_id="T1",
        message_id="1712.9",
    )


def test_a_message_of_a_thread_and_its_root_have_one_key() -> None:
    root, reply = slack_message("C1", "1712.5"), slack_message("C1", "1712.9", root="1712.5")
    assert KeyRules().key(source_of(root)) == KeyRules().key(source_of(reply)) == "agent:main:slack:channel:C1:1712.5"


@pytest.mark.parametrize("channel", ["C1", "G1"])
def test_only_a_channel_that_starts_with_d_is_a_direct_message(channel: str) -> None:
    """Not every event tells what its channel is; all must come to the same key."""
    assert source_of(slack_message(channel, "1.2")).chat_type is CHANNEL
    assert source_of(slack_message("D1", "1.2")).chat_type is DM


def test_every_message_at_the_top_of_a_dm_begins_a_session_unless_it_is_switched_off() -> None:
    first, second = slack_message("D1", "1.1"), slack_message("D1", "1.2")
    assert source_of(first).thread_id == "1.1"
    assert source_of(second).thread_id == "1.2"
    for said in (first, second):
        assert source_of(said, dm_top_level_threads_as_sessions=False).thread_id is None
    reply = slack_message("D1", "1.3", root="1.1")
    assert source_of(reply, dm_top_level_threads_as_sessions=False).thread_id == "1.1"
    in_channel = slack_message("C1", "1.1")
    assert source_of(in_channel, dm_top_level_threads_as_sessions=False).thread_id == "1.1"


def test_what_belongs_to_no_thread_belongs_to_the_channel_of_each_person_or_of_all() -> None:
    """Gateways, session source and key: ``reply_in_thread`` off."""
    top = replace(slack_message("C1", "1.1"), thread_key=ThreadKey("slack:C1"), starts_thread=False)
    assert source_of(top).thread_id is None
    assert KeyRules().key(source_of(top)) == "agent:main:slack:channel:C1:U1"
    assert SHARED.key(source_of(top)) == "agent:main:slack:channel:C1"
    assert (KeyRules().is_shared(source_of(top)), SHARED.is_shared(source_of(top))) == (False, True)


def test_a_program_speaks_in_a_channel_whatever_its_name() -> None:
    asked = replace(message(), channel_id=ChannelId("http:Deploys"), thread_key=ThreadKey("http:Deploys:1"))
    assert source_of(asked).chat_type is CHANNEL


def test_a_program_has_no_workspace() -> None:
    asked = replace(
        message(),
        workspace_id=WorkspaceId("http"),
        channel_id=ChannelId("http:default"),
        user_id=UserId("http:ci"),
        thread_key=ThreadKey("http:default:nightly"),
    )
    where = source_of(asked)
    assert (where.platform, where.chat_id, where.thread_id, where.user_id) == ("http", "default", "nightly", "ci")
    assert where.scope_id is None
    assert EVERYWHERE.key(where) == "agent:main:http:channel:default:nightly:ci"


def test_a_workspace_that_is_not_told_is_none() -> None:
    assert source_of(replace(message(), workspace_id=WorkspaceId("slack:"))).scope_id is None
