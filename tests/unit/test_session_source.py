"""The record of where a message came from (session lifecycle, section 1)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sessions.source import ChatType, SessionSource, SourceError

texts = st.none() | st.text(min_size=1, max_size=12) | st.text(alphabet="./\\%2Ea", min_size=1, max_size=8)
sources = st.builds(
    SessionSource,
    platform=st.text(max_size=8),
    chat_id=st.text(max_size=12) | st.text(alphabet="./\\%2Ea", max_size=8),
    chat_name=texts,
    chat_type=st.sampled_from(ChatType),
    user_id=texts,
    user_name=texts,
    thread_id=texts,
    chat_topic=texts,
    user_id_alt=texts,
    chat_id_alt=texts,
    is_bot=st.booleans(),
    scope_id=texts,
    parent_chat_id=texts,
    message_id=texts,
    role_authorized=st.booleans(),
)
IDS = ("chat_id", "user_id", "thread_id", "user_id_alt", "chat_id_alt", "scope_id", "parent_chat_id", "message_id")


@given(sources)
def test_a_source_survives_being_kept(source: SessionSource) -> None:
    assert SessionSource.from_dict(json.loads(json.dumps(source.to_dict()))) == source


@given(sources)
def test_a_kept_id_names_no_path(source: SessionSource) -> None:
    kept = source.to_dict()
    for name in IDS:
        assert not any(unfit in str(kept.get(name, "")) for unfit in ("..", "/", "\\"))


def test_optional_fields_are_kept_only_when_they_say_something() -> None:
    """Session lifecycle, section 1."""
    assert SessionSource("slack", "C1").to_dict() == {"platform": "slack", "chat_id": "C1", "chat_type": "dm"}
    told = SessionSource("slack", "C1", thread_id="1712.55", user_name="", is_bot=True)
    assert told.to_dict() == {
        "platform": "slack",
        "chat_id": "C1",
        "chat_type": "dm",
        "thread_id": "1712.55",
        "is_bot": True,
    }


def test_fields_of_another_version_are_let_be() -> None:
    kept = {"platform": "slack", "chat_id": "C1", "profile": "x", "user_id": None, "is_bot": "yes"}
    assert SessionSource.from_dict(kept) == SessionSource("slack", "C1")


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("value", ["../../etc", "a/b", "a\\b", ".."])
def test_an_id_that_could_be_a_path_is_refused(name: str, value: str) -> None:
    with pytest.raises(SourceError) as refused:
        SessionSource.from_dict({"platform": "slack", "chat_id": "C1"} | {name: value})
    assert value not in str(refused.value)


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"platform": "slack"},
        {"platform": "slack", "chat_id": 7},
        {"platform": "slack", "chat_id": "C1", "user_id": 7},
        {"platform": "slack", "chat_id": "C1", "chat_type": "cave"},
    ],
)
def test_what_makes_no_source_is_refused(kept: dict[str, object]) -> None:
    with pytest.raises(SourceError):
        SessionSource.from_dict(kept)


@pytest.mark.parametrize(
    ("source", "description"),
    [
        (SessionSource("slack", "D1", user_id="U1", user_name="Alice"), "DM with Alice"),
        (SessionSource("slack", "D1", user_id="U1"), "DM with U1"),
        (SessionSource("slack", "D1"), "DM with somebody"),
        (
            SessionSource("telegram", "-1", chat_name="My Group", chat_type=ChatType.GROUP, thread_id="12345"),
            "group: My Group, thread: 12345",
        ),
        (SessionSource("slack", "C1", chat_type=ChatType.CHANNEL), "channel: C1"),
    ],
)
def test_a_source_describes_itself(source: SessionSource, description: str) -> None:
    """Session lifecycle, section 1."""
    assert source.description == description
