"""What is made of the extracting model's answer, however hostile it is (specification, section 13)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.extracted import (
    ANSWER_CHARS,
    FACT_CHARS,
    FACTS_JUDGED,
    KEYWORD_CHARS,
    KEYWORDS_KEPT,
    Answer,
    Extracted,
    Statement,
    Unusable,
    read_answer,
)
from memory.redact import redact
from memory.scope import ScopeKind
from tests.reflection_house import SECRET, a_fact, answer_of

SHOWN = {"mem:org:acme:1", "mem:user:slack:U1:2"}


def read(text: str, *, is_cut: bool = False) -> Extracted | Unusable:
    return read_answer(Answer(text, is_cut=is_cut), SHOWN, redact)


def facts_of(*facts: dict[str, object], summary: object = None) -> Extracted:
    extracted = read(answer_of(*facts, summary=summary))
    assert isinstance(extracted, Extracted)
    return extracted


def one(**more: object) -> Statement:
    (statement,) = facts_of(a_fact("We use Argo.", **more)).statements
    return statement


def test_a_plain_answer_becomes_statements_and_a_summary() -> None:
    fact = a_fact(" We  use\nArgo. ", keywords=["Argo"], audience="repo", standing=True)
    extracted = facts_of(fact, summary="Argo was introduced.")
    assert extracted == Extracted(
        (Statement("We use Argo.", ScopeKind.REPO, 0.9, ("argo",), is_standing=True),), "Argo was introduced.", 1
    )


@pytest.mark.parametrize(
    "frame",
    [
        "{}",
        "```json\n{}\n```",
        "```\n{}",
        "Here it is {{as you wished}}:\n{}\nAnything else?",
        '{{"note": 1}} {}',
        "\ufeff{}",
        '{} {{"facts": []}}',
    ],
)
def test_fences_and_prose_around_the_object_do_no_harm(frame: str) -> None:
    extracted = read(frame.format(answer_of(a_fact("We use Argo."))))
    assert isinstance(extracted, Extracted)
    assert [each.text for each in extracted.statements] == ["We use Argo."]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Unusable.NO_OBJECT),
        ("I found nothing.", Unusable.NO_OBJECT),
        ("null", Unusable.NO_OBJECT),
        ('[["facts"]]', Unusable.NO_OBJECT),
        ('{"facts": [', Unusable.NO_OBJECT),
        ("{}", Unusable.NO_FACTS),
        ('{"facts": {"text": "We use Argo."}}', Unusable.NO_FACTS),
        ('{"facts": null, "summary": "x"}', Unusable.NO_FACTS),
        ("[" * 50_000, Unusable.NO_OBJECT),
        ('{"facts": ' + "[" * 50_000, Unusable.NO_OBJECT),
        ('{"a":' * 15_000, Unusable.NO_OBJECT),
        ("{" * 90_000, Unusable.NO_OBJECT),
        ('{"facts": [{"text": "x", "confidence": ' + "9" * 9_000 + "}]}", Unusable.NO_OBJECT),
        ("{}" + " " * ANSWER_CHARS, Unusable.TOO_LONG),
    ],
)
def test_an_answer_without_a_list_of_facts_is_rejected_whole_with_a_reason(text: str, reason: Unusable) -> None:
    assert read(text) is reason


def test_an_answer_cut_at_the_output_limit_is_rejected_even_when_its_json_is_whole() -> None:
    assert read(answer_of(a_fact("We use Argo.")), is_cut=True) is Unusable.CUT


@pytest.mark.parametrize("confidence", [0.59, 1.01, -1, "0.9", None, True, [], "NaN"])
def test_a_fact_without_a_confidence_that_counts_is_dropped_alone(confidence: object) -> None:
    kept = facts_of({"text": "We use Argo.", "confidence": confidence}, a_fact("We use Nix.", confidence=0.6))
    assert [each.text for each in kept.statements] == ["We use Nix."]
    assert kept.offered == 2


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_cost_their_own_fact_only(number: str) -> None:
    text = f'{{"facts": [{{"text": "a", "confidence": {number}}}, {{"text": "b", "confidence": 1}}]}}'
    extracted = read(text)
    assert isinstance(extracted, Extracted)
    assert [each.text for each in extracted.statements] == ["b"]


@pytest.mark.parametrize("text", ["", " \n ", None, 3, ["We use Argo."], {"text": "x"}, "x" * (FACT_CHARS + 1)])
def test_a_fact_without_a_sentence_is_dropped_alone(text: object) -> None:
    kept = facts_of({"text": text, "confidence": 0.9}, a_fact("We use Nix."))
    assert [each.text for each in kept.statements] == ["We use Nix."]


def test_what_is_no_fact_at_all_is_dropped_alone() -> None:
    extracted = read(json.dumps({"facts": ["We use Argo.", None, 3, [], {}, a_fact("We use Nix.")]}))
    assert isinstance(extracted, Extracted)
    assert ([each.text for each in extracted.statements], extracted.offered) == (["We use Nix."], 6)


def test_more_facts_than_anybody_needs_are_not_looked_at() -> None:
    extracted = facts_of(*(a_fact(f"Rule {number}.") for number in range(FACTS_JUDGED + 9)))
    assert (len(extracted.statements), extracted.offered) == (FACTS_JUDGED, FACTS_JUDGED + 9)


def test_keywords_are_lower_case_distinct_and_few() -> None:
    words = [" Argo ", "argo", "", 3, None, "blue  green", *(f"w{number}" for number in range(20))]
    assert one(keywords=words).keywords == (
        "argo",
        "blue green",
        *(f"w{number}" for number in range(KEYWORDS_KEPT - 2)),
    )


def test_a_keyword_that_is_too_long_or_a_secret_is_dropped_and_its_fact_stays() -> None:
    assert one(keywords=["k" * (KEYWORD_CHARS + 1), SECRET, "argo"]).keywords == ("argo",)


def test_a_keyword_that_says_what_was_taken_out_of_its_fact_is_dropped() -> None:
    words = ["wifi", "Swordfish", "blue swordfish", "berlin"]
    (statement,) = facts_of(a_fact("The wifi password in Berlin is Swordfish.", keywords=words)).statements
    assert (statement.text, statement.keywords) == ("The wifi password in Berlin is «password».", ("wifi", "berlin"))


@pytest.mark.parametrize("keywords", [None, "argo", {"a": 1}, [], [3], [["argo"]]])
def test_without_usable_keywords_the_store_takes_the_words_of_the_text(keywords: object) -> None:
    assert one(keywords=keywords).keywords is None


@pytest.mark.parametrize(
    ("audience", "kind"),
    [
        ("user", ScopeKind.USER),
        ("channel", ScopeKind.CHANNEL),
        ("everyone", ScopeKind.ORG),
        (None, ScopeKind.ORG),
        (["user"], ScopeKind.ORG),
        (3, ScopeKind.ORG),
    ],
)
def test_an_audience_that_is_none_means_the_organisation(audience: object, kind: ScopeKind) -> None:
    """Specification, section 23."""
    assert one(audience=audience).audience is kind


def test_only_ids_that_were_shown_are_pointed_to() -> None:
    known = one(supersedes="mem:org:acme:1", restates="mem:user:slack:U1:2")
    assert (known.supersedes, known.restates) == ("mem:org:acme:1", "mem:user:slack:U1:2")
    for invented in ("mem:org:acme:7", "mem:user:slack:U2:1", "", 1, ["mem:org:acme:1"], None):
        statement = one(supersedes=invented, restates=invented)
        assert (statement.supersedes, statement.restates) == (None, None)


@pytest.mark.parametrize("hint", ["true", 1, None, [], False])
def test_only_true_is_a_hint_at_a_standing_wish(hint: object) -> None:
    assert not one(standing=hint).is_standing


def test_secrets_leave_facts_and_summaries() -> None:
    extracted = facts_of(a_fact(f"The key is {SECRET} now."), summary=f"Key {SECRET}")
    assert extracted.statements[0].text == "The key is «openai-key» now."
    assert extracted.summary == "Key «openai-key»"


def test_escapes_that_the_model_gives_back_are_undone_once() -> None:
    extracted = facts_of(a_fact("R&amp;D keeps latency &lt; 2 s, &amp;lt; is an escape.", keywords=["r&amp;d"]))
    assert extracted.statements[0].text == "R&D keeps latency < 2 s, &lt; is an escape."
    assert extracted.statements[0].keywords == ("r&d",)


def test_letters_that_no_store_can_hold_are_replaced() -> None:
    extracted = read('{"facts": [{"text": "a \\ud83d b\\u0000c", "confidence": 0.9}]}')
    assert isinstance(extracted, Extracted)
    assert extracted.statements[0].text == "a \ufffd b c"


@pytest.mark.parametrize("summary", [None, "", " ", 3, ["x"], "s" * (FACT_CHARS + 1)])
def test_a_summary_that_is_no_sentence_is_none(summary: object) -> None:
    assert facts_of(summary=summary).summary is None


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["facts", "text", "confidence", "audience", "keywords", "summary"]), inner)
    ),
    max_leaves=20,
)


@given(JSON, st.text(max_size=30), st.text(max_size=30))
def test_no_answer_raises(value: object, before: str, after: str) -> None:
    extracted = read(before + json.dumps(value) + after)
    if isinstance(extracted, Extracted):
        for statement in extracted.statements:
            assert 0 < len(statement.text) <= FACT_CHARS
            assert 0.6 <= statement.confidence <= 1
