"""Words that belong together find each other, whoever wrote the long one and whoever asks with the short one."""

from datetime import UTC, datetime

import pytest

from memory.stemming import stem
from memory.text import query_terms, record_terms
from memory.wordforms import BASE_FORMS

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("The production database is PostgreSQL 16.", "prod db"),
        ("Our prod DB runs Postgres", "production databases"),
        ("Every repository has an owner", "who owns these repos"),
        ("We rebuilt the index and rewrote the importer", "rebuild rewrite"),
        ("Carla withdrew the proposal", "withdraw"),
        ("The decision was to keep two clusters", "decided"),
        ("Two failures and three recoveries last week", "fail recover"),
        ("Analyses go to the data team", "analyze"),
        ("Losses are reported on Mondays", "lost"),
        ("Verification takes a day, notifications are sent at once", "verify notify"),
        ("Configure it in k8s", "kubernetes config"),
        ("Docs live in the wiki, specs next to the code", "documentation specifications"),
        ("Subscriptions are synchronised nightly", "subscribe sync"),
        ("Statistics for maths", "stats mathematics"),
        ("Administrators rotate the credentials", "admin creds"),
    ],
)
def test_asking_with_another_form_finds_what_was_said(said: str, asked: str) -> None:
    known = record_terms(said, [], None, NOW)
    assert [term for term in query_terms(asked) if term not in known] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [("conf", "configure"), ("hr", "hour"), ("temp", "temporary"), ("apply", "app"), ("production", "produce")],
)
def test_strangers_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_no_word_has_two_bases_in_a_row() -> None:
    assert len(BASE_FORMS) > 400
    assert BASE_FORMS.keys().isdisjoint(BASE_FORMS.values())


def test_each_form_leads_to_the_stem_of_its_base_and_only_there() -> None:
    assert [form for form, base in BASE_FORMS.items() if stem(form) != stem(base)] == []
    assert [form for form, base in BASE_FORMS.items() if form == base or not form.isalnum()] == []
