"""What of a fault stands in a log."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from io import StringIO

import pytest
import structlog
from pydantic import TypeAdapter, ValidationError

from app.logs import configure
from memory.service import logs as service_logs
from memory.store import StoreUnavailableError
from memory.tracing import traced

SAID = "the launch is on friday"


def refused_row() -> None:
    """SQLite repeats what cannot be read, as PostgreSQL does with rows."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(SAID)


def refused_value() -> None:
    TypeAdapter(int).validate_python(SAID)


def wrapped() -> None:
    try:
        refused_value()
    except ValidationError as exc:
        raise StoreUnavailableError("the store cannot be used") from exc


def grouped() -> None:
    try:
        refused_value()
    except ValidationError as exc:
        raise ExceptionGroup(SAID, [exc, KeyError(SAID)]) from None


def raised_by(act: Callable[[], None]) -> BaseException:
    try:
        act()
    except Exception as exc:  # noqa: BLE001 - whatever it raises is what the test looks at
        return exc
    pytest.fail("nothing was raised")


@pytest.mark.parametrize("act", [refused_row, refused_value, wrapped, grouped])
def test_a_trace_tells_where_and_what_and_nothing_that_was_said(act: Callable[[], None]) -> None:
    told = traced(raised_by(act))
    assert f"in {act.__name__}" in told
    assert SAID not in told


def test_our_own_errors_and_the_operating_systems_are_told() -> None:
    assert traced(raised_by(wrapped)).endswith("memory.store.StoreUnavailableError: the store cannot be used")
    assert traced(OSError(28, "No space left on device")) == "OSError: [Errno 28] No space left on device"
    assert traced(TimeoutError()) == "TimeoutError"


def test_what_led_to_an_error_comes_first_unless_it_was_left_out() -> None:
    told = traced(raised_by(wrapped))
    assert told.index("pydantic_core._pydantic_core.ValidationError\nthen\n") < told.index("StoreUnavailableError")
    assert "then" not in traced(raised_by(grouped))


def test_each_error_of_a_group_is_traced() -> None:
    told = traced(raised_by(grouped))
    assert told.count("among them\n") == 2
    assert told.endswith("KeyError")


@pytest.mark.parametrize("log_format", ["json", "pretty"])
def test_the_bots_log_is_held_to_it(log_format: str) -> None:
    log = StringIO()
    configure("json" if log_format == "json" else "pretty", "info", stream=log)
    with suppress(ValidationError):
        try:
            refused_value()
        except ValidationError:
            structlog.stdlib.get_logger().exception("failed")
            raise
    assert "in refused_value" in log.getvalue()
    assert SAID not in log.getvalue()


def test_the_services_log_is_held_to_it() -> None:
    log = StringIO()
    service_logs.configure("info", stream=log)
    structlog.stdlib.get_logger().error("failed", exc_info=raised_by(refused_value))
    (line,) = [json.loads(each) for each in log.getvalue().splitlines()]
    assert "in refused_value" in line["exception"]
    assert SAID not in log.getvalue()
