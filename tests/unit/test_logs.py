"""Logs: one form for our own lines and the libraries', and no credential in any of them."""

import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import StringIO

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from app.logs import OWN_NAME, configure, mask

SOMETHING_HAPPENED = "something_happened"

CREDENTIALS = [
    "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy",
    "xoxp-1-2-MARKER",
    "xoxe-1-MARKER",
    "xoxe.xoxb-1-MARKER",
    "xapp-1-A0-2-MARKER",
    "sk-ant-api03-MARKER_x-y",
    "sk-proj-MARKER",
    "Bearer MARKER.abc/def+g==",
    "bearer MARKERMARKER",
    "wss://wss.example.com/link/?ticket=MARKER-1&app_id=2",
]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def refuse(what: str) -> None:
    raise ConnectionError(f"no {what}")


def logger() -> structlog.stdlib.BoundLogger:
    return structlog.stdlib.get_logger("test")


def lines_of(stream: StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_json_line_carries_event_level_time_and_bound_ids() -> None:
    stream = StringIO()
    configure("json", "info", stream=stream)
    with structlog.contextvars.bound_contextvars(reference="r1"):
        logger().info(SOMETHING_HAPPENED, count=2, share=0.5, found=None, done=True, names=("a", "b"), more={"k": "v"})
    (line,) = lines_of(stream)
    at = datetime.fromisoformat(str(line.pop("timestamp")))
    assert at.utcoffset() == timedelta(0)
    assert line == {
        "event": SOMETHING_HAPPENED,
        "level": "info",
        "reference": "r1",
        "count": 2,
        "share": 0.5,
        "found": None,
        "done": True,
        "names": ["a", "b"],
        "more": {"k": "v"},
    }


def test_auto_is_pretty_on_a_terminal_and_json_anywhere_else() -> None:
    terminal, pipe = Terminal(), StringIO()
    for stream in (terminal, pipe):
        configure("auto", "info", stream=stream)
        logger().info(SOMETHING_HAPPENED, count=1)
    assert SOMETHING_HAPPENED in terminal.getvalue()
    assert not terminal.getvalue().startswith("{")
    assert lines_of(pipe)[0]["event"] == SOMETHING_HAPPENED


def test_pretty_without_a_terminal_has_no_colours() -> None:
    stream = StringIO()
    configure("pretty", "info", stream=stream)
    logger().info(SOMETHING_HAPPENED, count=1)
    assert stream.getvalue().rstrip().endswith(f"{SOMETHING_HAPPENED} count=1")
    assert "\x1b" not in stream.getvalue()


def test_lines_below_the_level_are_left_out() -> None:
    stream = StringIO()
    configure("json", "warning", stream=stream)
    logger().info("unheard")
    logger().warning("heard")
    assert [line["event"] for line in lines_of(stream)] == ["heard"]


def test_libraries_are_heard_from_warning_on_in_the_same_form() -> None:
    stream = StringIO()
    configure("json", "debug", stream=stream)
    library = logging.getLogger("slack_bolt.test")
    library.info("unheard")
    with structlog.contextvars.bound_contextvars(reference="r2"):
        library.warning("asked %s times", 3)
    (line,) = lines_of(stream)
    assert (line["event"], line["level"], line["logger"], line["reference"]) == (
        "asked 3 times",
        "warning",
        "slack_bolt.test",
        "r2",
    )


def test_libraries_keep_to_a_stricter_level() -> None:
    stream = StringIO()
    configure("json", "error", stream=stream)
    logging.getLogger("aiohttp.test").warning("unheard")
    logging.getLogger("aiohttp.test").error("heard")
    assert [line["event"] for line in lines_of(stream)] == ["heard"]


def test_configuring_again_replaces_the_stream_and_leaves_other_handlers_alone() -> None:
    other = logging.NullHandler()
    logging.getLogger().addHandler(other)
    first, second = StringIO(), StringIO()
    configure("json", "info", stream=first)
    configure("json", "info", stream=second)
    logging.getLogger("uvicorn.test").error("once")
    assert first.getvalue() == ""
    assert len(lines_of(second)) == 1
    assert other in logging.getLogger().handlers


@pytest.mark.parametrize("log_format", ["json", "pretty"])
@pytest.mark.parametrize("credential", CREDENTIALS)
def test_no_credential_gets_into_a_line_by_any_way(log_format: str, credential: str) -> None:
    class Odd:
        def __repr__(self) -> str:
            return f"<Odd {credential}>"

    stream = StringIO()
    configure("json" if log_format == "json" else "pretty", "info", stream=stream)
    logger().info(f"saw {credential}", plain=credential, nested={credential: [{"deep": (credential,)}]}, odd=Odd())
    logging.getLogger("slack_sdk.test").error("refused %s", credential)
    try:
        refuse(credential)
    except ConnectionError:
        logger().exception("look_failed")
        logging.getLogger("slack_sdk.test").exception("look failed for %s", credential)
    assert "MARKER" not in stream.getvalue()
    assert credential not in stream.getvalue()
    assert stream.getvalue().count("***") >= 8


def test_an_exception_keeps_its_class_and_place() -> None:
    stream = StringIO()
    configure("json", "info", stream=stream)
    try:
        refuse("gone")
    except ConnectionError:
        logger().exception("look_failed")
    trace = str(lines_of(stream)[0]["exception"])
    assert "ConnectionError: no gone" in trace
    assert "test_logs.py" in trace


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("token xoxb-1-abc, sent", "token xoxb-***, sent"),
        ("sk-ant-abc", "sk-***"),
        ("Authorization: Bearer abcdefgh", "Authorization: Bearer ***"),
        ("?token=abcdef&x=1", "?token=***&x=1"),
        ("a risk-free task-force asks for a desk-top", "a risk-free task-force asks for a desk-top"),
        ("bearer of news", "bearer of news"),
        ("", ""),
    ],
)
def test_masking_hides_credentials_and_leaves_words_alone(text: str, masked: str) -> None:
    assert mask(text) == masked


@given(st.from_regex(OWN_NAME, fullmatch=True))
def test_names_that_are_not_looked_through_have_nothing_to_mask(name: str) -> None:
    assert mask(name) == name


@pytest.mark.parametrize(
    "name", ["3fa9bc12", "slack:U0ALICE01", "slack:C0GENERAL1", "slack:D024BE91L:1700000000.000100"]
)
def test_references_people_and_threads_are_such_names(name: str) -> None:
    assert OWN_NAME.fullmatch(name)
