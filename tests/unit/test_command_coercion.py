"""What a command takes by name, in JSON and in query strings, and what its definition and schema say of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.coercion import from_fields, from_query
from commands.errors import InvalidInputError
from commands.schema import schema
from commands.spec import Argument, Option, Reply, Surface, Value
from tests.command_house import RUNS_LIST, outcome, runs_list

NOTHING: dict[str, Value] = {"words": None, "sinceMs": 20, "mode": None, "quiet": None, "repo": None}
SECRET = "hunter2sesame"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": "me", "sinceMs": 5}, {"sinceMs": 5}),
        ({"name": "me", "sinceMs": "5"}, {"sinceMs": 5}),
        ({"name": "me", "sinceMs": 5.0}, {"sinceMs": 5}),
        ({"name": "me", "sinceMs": None, "mode": None}, {}),
        ({"name": "me", "quiet": False}, {"quiet": False}),
        ({"name": "me", "quiet": "false"}, {"quiet": False}),
        ({"name": "me", "words": "a 'b"}, {"words": "a 'b"}),
    ],
)
def test_json_is_bound_with_the_same_coercion(fields: dict[str, object], expected: dict[str, Value]) -> None:
    assert from_fields(RUNS_LIST, fields) == NOTHING | {"name": "me"} | expected


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "name is missing"),
        ({"name": None}, "name is missing"),
        ({"name": 5}, "name must be text"),
        ({"name": ["a"]}, "name must be text"),
        ({"name": "a", "mode": 1}, "mode must be text"),
        ({"name": "a", "sinceMs": True}, "sinceMs must be a whole number"),
        ({"name": "a", "sinceMs": 1.5}, "sinceMs must be a whole number"),
        ({"name": "a", "sinceMs": float("nan")}, "sinceMs must be a whole number"),
        ({"name": "a", "sinceMs": float("inf")}, "sinceMs must be a whole number"),
        ({"name": "a", "sinceMs": {}}, "sinceMs must be a whole number"),
        ({"name": "a", "quiet": 1}, "quiet must be true or false"),
        (
            {"name": "a", "since-ms": 1},
            "an unknown field was given (there are name, words, sinceMs, mode, quiet, repo)",
        ),
    ],
)
def test_wrong_json_is_told_by_name(fields: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        from_fields(RUNS_LIST, fields)
    assert problem in str(caught.value)


def test_a_command_without_parts_says_that_there_are_none() -> None:
    with pytest.raises(InvalidInputError, match="there are none"):
        from_fields(runs_list(arguments=(), options=()), {"x": 1})


def test_a_query_string_names_options_either_way() -> None:
    expected = NOTHING | {"name": "me", "sinceMs": 5}
    assert from_query(RUNS_LIST, [("name", "me"), ("since-ms", "5")]) == expected
    assert from_query(RUNS_LIST, [("name", "me"), ("sinceMs", "5")]) == expected


def test_a_query_string_names_each_once_and_nothing_else() -> None:
    with pytest.raises(InvalidInputError) as caught:
        from_query(RUNS_LIST, [("name", "me"), ("since-ms", "5"), ("sinceMs", "6"), (SECRET, "x")])
    assert str(caught.value).startswith("sinceMs is given twice; an unknown parameter was given")
    assert SECRET not in str(caught.value)


def test_the_schema_says_what_the_binding_takes() -> None:
    assert schema(RUNS_LIST) == {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "description": "whose", "maxLength": 4_000},
            "words": {"type": "string", "description": "words", "maxLength": 4_000},
            "sinceMs": {"type": "integer", "description": "since when", "minimum": -10, "maximum": 50, "default": 20},
            "mode": {"type": "string", "description": "how", "enum": ["soft", "hard"], "maxLength": 4_000},
            "quiet": {"type": "boolean", "description": "say less"},
            "repo": {"type": "string", "description": "which", "pattern": r"^(?:\w+/\w+)$", "maxLength": 4_000},
        },
    }


@given(st.dictionaries(st.sampled_from(["name", "sinceMs", "quiet", "mode", "x"]), st.from_type(object), max_size=4))
def test_any_json_is_values_or_our_own_refusal(fields: dict[str, object]) -> None:
    assert outcome(lambda: from_fields(RUNS_LIST, fields))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"id": "Runs.list"}, "id is not"),
        ({"id": "runs"}, "id is not"),
        ({"action": "runs"}, "action is not"),
        ({"options": (Option("since-ms", "x"),)}, "not camelCase"),
        ({"options": (Option("name", "x"),)}, "used twice"),
        ({"arguments": (Argument("a", "x", is_rest=True), Argument("b", "x"))}, "not last"),
        ({"arguments": (Argument("a", "x", is_required=False), Argument("b", "x"))}, "follows an optional"),
        ({"surfaces": frozenset[Surface]()}, "no surface"),
    ],
)
def test_a_command_that_contradicts_itself_is_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        runs_list(**changes)


def test_a_command_knows_its_names() -> None:
    assert (RUNS_LIST.group, RUNS_LIST.verb) == ("runs", "list")
    assert [option.flag for option in RUNS_LIST.options] == ["--since-ms", "--mode", "--quiet", "--repo"]
    assert Reply({}, "x").receipt == ""
