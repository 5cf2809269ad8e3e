"""`switchboard eval`, as an operator runs it."""

import json
from pathlib import Path

import pytest

from app.evaluation.scripts import CONVERSATIONS
from tests.command_runs import switchboard

REFLECTION = ("eval", "reflection", "--model")


async def test_the_offline_model_is_measured_without_any_settings(tmp_path: Path) -> None:
    done = await switchboard(tmp_path, *REFLECTION, "offline/demo")
    assert (done.status, done.err) == (0, "")
    first, head, *others = done.out.splitlines()
    assert first == f"offline/demo: {len(CONVERSATIONS)} conversations"
    assert head.split() == ["due", "kept", "right", "precision", "recall"]
    rows = [line for line in others if line.startswith(("preferences ", "several people ", "all "))]
    assert [len(line.split()[-5:]) for line in rows] == [5, 5, 5]
    assert any(line.startswith("corrections: ") for line in others)
    assert "secrets kept: 0" in others
    assert " tokens, cost: " in others[-1]


async def test_a_program_gets_figures_that_agree_with_each_other(tmp_path: Path) -> None:
    done = await switchboard(tmp_path, *REFLECTION, "offline/demo", "--json")
    assert (done.status, done.err) == (0, "")
    told = json.loads(done.out)
    assert told["model"] == "offline/demo"
    assert (told["unanswered"], told["lost"], told["leaked"]) == (0, 0, 0)
    assert told["all"]["due"] == sum(each["due"] for each in told["categories"].values())
    assert told["all"]["right"] == sum(each["right"] for each in told["conversations"])
    assert told["all"]["recall"] == told["all"]["right"] / told["all"]["due"]
    assert 0 < told["all"]["recall"] < 1, "the offline model knows a few patterns of English"
    assert told["tokens"] > 0
    assert [each["name"] for each in told["conversations"]] == [each.name for each in CONVERSATIONS]


async def test_the_settings_file_may_make_a_model_known_and_what_it_costs(tmp_path: Path) -> None:
    content = (
        "organization: acme\nproviders: {own: {kind: offline}}\nmodels: {own/demo: {input_usd: 1, output_usd: 2}}\n"
    )
    (tmp_path / "other.yaml").write_text(content, encoding="utf-8")
    for arguments in (
        (*REFLECTION, "own/demo", "--config", "other.yaml"),
        ("--config", "other.yaml", *REFLECTION, "own/demo"),
    ):
        done = await switchboard(tmp_path, *arguments)
        assert (done.status, done.err) == (0, "")
        assert "cost: $" in done.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--model", "nowhere/model-1"), "nowhere"),
        (("--model", "demo"), "demo"),
        ((), "--model"),
        (("--model", "offline/demo", "--config", "absent.yaml"), "absent.yaml"),
        (("--model", "offline/demo", "--loud"), "--loud"),
    ],
)
async def test_wrong_input_is_status_two_and_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    done = await switchboard(tmp_path, "eval", "reflection", *arguments)
    assert (done.status, done.out) == (2, "")
    (sentence,) = done.complaints
    assert sentence.startswith("switchboard: ")
    assert complaint in sentence


async def test_a_model_that_cannot_be_reached_is_status_one_and_every_conversation_is_named(tmp_path: Path) -> None:
    content = "providers: {gone: {kind: openai, base_url: 'http://127.0.0.1:9/v1'}}\n"
    (tmp_path / "switchboard.yaml").write_text(content, encoding="utf-8")
    done = await switchboard(tmp_path, *REFLECTION, "gone/model-1")
    assert done.status == 1
    unanswered = [line for line in done.out.splitlines() if line.startswith("no usable answer: ")]
    assert len(unanswered) == sum(each.is_asked for each in CONVERSATIONS)


async def test_without_a_verb_it_says_what_there_is(tmp_path: Path) -> None:
    done = await switchboard(tmp_path, "eval", "--help")
    assert done.status == 0
    assert "reflection" in done.out
