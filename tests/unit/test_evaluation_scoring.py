"""What memory holds, compared with what was expected; and the figures as they are told."""

from dataclasses import replace

import pytest

from app.evaluation.report import content, lines, unanswered
from app.evaluation.scoring import Figures, Result, Score, Stored, by_category, figures, says, score
from app.evaluation.script import Category, Conversation, Unwanted, Wanted, ada
from memory.scope import ScopeKind

ORG, USER = ScopeKind.ORG, ScopeKind.USER
ARGO = Wanted("We deploy with Argo.", "deploy argo")
SHORT = Wanted("This user wants short answers.", "short answers", USER)
MOVED = Wanted("We deploy on Wednesdays.", "wednesday", corrects="We deploy on Mondays.")
GREEN = Unwanted("All tests are green.", "green")


def a_conversation(*wanted: Wanted, unwanted: tuple[Unwanted, ...] = (GREEN,), **more: object) -> Conversation:
    made = Conversation("one", Category.DECISIONS, (ada("We deploy with Argo."),), wanted, unwanted)
    return replace(made, **more)  # pyright: ignore[reportArgumentType] - each test names fields that exist


def scored(conversation: Conversation, *kept: Stored, named: tuple[str, ...] = (), **more: object) -> Score:
    result = Result("written", is_answered=True, named=named, kept=kept)
    return score(conversation, replace(result, **more))  # pyright: ignore[reportArgumentType] - as above


@pytest.mark.parametrize(
    ("text", "words", "is_said"),
    [
        ("We deploy with Argo.", "deploy argo", True),
        ("Deployments go through ARGO", "argo deploy", True),
        ("We redeploy with Argo.", "deploy", False),
        ("We keep it for two days", "2|two day", True),
        ("We keep it for 12 days", "2|two day", False),
        ("Notre équipe", "equipe", True),
        ("anything", "", True),
    ],
)
def test_a_text_says_what_it_has_the_beginnings_of_words_of(text: str, words: str, *, is_said: bool) -> None:
    assert says(text, words) is is_said


def test_what_is_kept_where_it_belongs_is_right_and_exact() -> None:
    found = scored(a_conversation(ARGO, SHORT), Stored(ORG, "Argo deploys it all"), Stored(USER, "Likes short answers"))
    assert (found.due, found.kept, found.right, found.fitting) == (2, 2, 2, 2)
    assert found.is_exact
    assert found.is_sound


def test_the_right_words_in_the_wrong_scope_are_missing_and_surplus_but_not_lost() -> None:
    found = scored(a_conversation(SHORT), Stored(ORG, SHORT.text), named=(SHORT.text,))
    assert (found.missing, found.surplus, found.lost) == ((SHORT.text,), (SHORT.text,), ())
    assert not found.is_exact
    assert found.is_sound, "the model may have named the wrong audience"


def test_a_fact_that_was_named_and_is_kept_nowhere_is_the_pipelines_loss_and_one_never_named_the_models() -> None:
    conversation = a_conversation(ARGO, SHORT)
    found = scored(conversation, named=("Argo is what we deploy with",))
    assert (found.missing, found.lost, found.is_sound) == ((ARGO.text, SHORT.text), (ARGO.text,), False)
    assert scored(conversation).lost == ()


def test_one_text_may_say_two_things_and_two_texts_that_say_one_are_one_too_many() -> None:
    both = Stored(ORG, "We deploy with Argo on Wednesdays.")
    found = scored(a_conversation(ARGO, replace(MOVED, corrects=None)), both, Stored(ORG, "Argo deploys"))
    assert (found.right, found.kept, found.fitting, found.surplus) == (2, 2, 1, ("Argo deploys",))
    assert figures([found]) == Figures(1, 2, 2, 2, 1)
    assert figures([found]).precision == 1 / 2
    assert figures([found]).recall == 1


def test_what_must_be_refused_and_is_kept_is_let_through_unless_only_a_model_can_tell() -> None:
    green = Stored(ORG, "Tests are green now")
    found = scored(a_conversation(), green)
    assert (found.surplus, found.let_through, found.is_sound) == ((green.text,), (green.text,), False)
    judged = scored(a_conversation(unwanted=(replace(GREEN, is_judgement=True),)), green)
    assert (judged.surplus, judged.let_through, judged.is_sound) == ((green.text,), (), True)


def test_corrections_are_told_from_records_that_were_retired_without_reason() -> None:
    conversation = a_conversation(MOVED)
    made = scored(conversation, Stored(ORG, MOVED.text), retired=("We deploy on Mondays.",))
    assert (made.corrections_due, made.unretired, made.retired_wrongly, made.is_exact) == (1, (), (), True)
    other = scored(conversation, Stored(ORG, MOVED.text), retired=("Lunch is at noon.",))
    assert (other.unretired, other.retired_wrongly) == (("We deploy on Mondays.",), ("Lunch is at noon.",))
    assert not other.is_exact


def test_a_secret_is_a_leak_also_in_a_summary() -> None:
    conversation = a_conversation(never=("hunter2",))
    for is_summary in (True, False):
        found = scored(conversation, Stored(ORG, "the word is hunter2", is_summary))
        assert (len(found.leaked), found.is_sound, found.is_exact) == (1, False, False)


def test_a_summary_counts_as_no_fact_and_is_looked_at_only_where_one_is_expected() -> None:
    told = Stored(ORG, "Argo was talked about.", is_summary=True)
    assert scored(a_conversation(), told).kept == 0
    assert scored(a_conversation(), told).is_exact
    expecting = a_conversation(summary=Wanted("", "", USER))
    assert scored(expecting, replace(told, scope=USER)).is_exact
    for wrong in ((), (told,), (told, replace(told, scope=USER))):
        assert not scored(expecting, *wrong).is_exact


def test_a_conversation_without_an_answer_is_exact_only_where_nobody_is_to_be_asked() -> None:
    skipped = Result("skipped greeting", is_answered=False)
    assert score(a_conversation(is_asked=False), skipped).is_exact
    assert not score(a_conversation(), skipped).is_exact
    assert not scored(a_conversation(is_asked=False)).is_exact


def test_categories_come_in_their_order_and_have_shares_only_of_what_there_is() -> None:
    noise = a_conversation(category=Category.NOISE)
    chosen = by_category([scored(noise), scored(a_conversation(ARGO)), scored(noise)])
    assert list(chosen) == [Category.DECISIONS, Category.NOISE]
    assert (chosen[Category.NOISE].precision, chosen[Category.NOISE].recall) == (None, None)
    assert (chosen[Category.DECISIONS].precision, chosen[Category.DECISIONS].recall) == (None, 0)


def some_scores() -> list[Score]:
    missed = scored(a_conversation(ARGO, MOVED), Stored(ORG, "All green"), named=(ARGO.text,))
    return [
        missed,
        scored(a_conversation(category=Category.SAFETY, never=("hunter2",)), Stored(ORG, "it is hunter2")),
        score(a_conversation(name="two"), Result("failed model", is_answered=False)),
    ]


def test_an_operator_reads_figures_by_category_then_sums_then_every_fault() -> None:
    assert list(lines("offline/demo", some_scores())) == [
        "offline/demo: 3 conversations",
        "                    due  kept  right  precision  recall",
        "decisions             2     1      0      0.000   0.000",
        "secrets and orders    0     1      0      0.000       -",
        "all                   2     2      0      0.000   0.000",
        "corrections: 0 of 1 made, 0 wrongly",
        "after extraction: 1 lost, 1 kept that must be refused",
        "secrets kept: 1",
        "no usable answer: two (failed model)",
        "decisions, one: not kept: We deploy with Argo.",
        "decisions, one: not kept: We deploy on Wednesdays.",
        "decisions, one: kept, not expected: All green",
        "decisions, one: not corrected: We deploy on Mondays.",
    ]
    assert next(lines("offline/demo", some_scores()[:1])) == "offline/demo: 1 conversation"


def test_a_program_reads_the_same_and_never_a_secret() -> None:
    told = content("offline/demo", some_scores())
    assert (told["lost"], told["let_through"], told["leaked"], told["unanswered"]) == (1, 1, 1, 1)
    assert told["corrections"] == {"due": 1, "made": 0, "wrong": 0}
    everything = {"conversations": 3, "due": 2, "kept": 2, "right": 0, "precision": 0.0, "recall": 0.0}
    assert told["all"] == everything
    assert "hunter2" not in str(told)
    assert [each.conversation.name for each in unanswered(some_scores())] == ["two"]
