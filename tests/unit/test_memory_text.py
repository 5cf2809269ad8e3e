"""Words of a text: what a record can be found by in any language, and what of a question is looked for."""

# ruff: noqa: RUF001 - letters of other scripts are meant

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.datewords import day_terms
from memory.folding import folded
from memory.record import TEXT_CHARS
from memory.stemming import stem
from memory.stopwords import STOP_WORDS
from memory.text import forget_words, name_terms, query_terms, record_terms, storable, tokenize

LONG_AGO = datetime(1999, 1, 1, tzinfo=UTC)
ANY_TEXT = st.text(st.characters(), max_size=80)
"""Lone surrogates and NUL included."""


def terms_of(text: str) -> frozenset[str]:
    """What a text can be found by, but for its date."""
    return record_terms(text, (), None, LONG_AGO)


def is_found(query: str, text: str) -> bool:
    return not terms_of(text).isdisjoint(query_terms(query))


PROBES = [
    ("cafe", "the café opens at nine"),
    ("café", "the cafe opens at nine"),
    ("smorgasbord", "smörgåsbord on Friday"),
    ("Muller", "Müller leads the team"),
    ("Mueller", "Müller leads the team"),
    ("Müller", "Mueller leads the team"),
    ("Strasse", "Lange Straße 5"),
    ("Größe", "die Groesse der Platte"),
    ("Datenbank", "die Datenbankmigration läuft nachts"),
    ("Migration", "die Datenbankmigration läuft nachts"),
    ("Łódź", "the office in Lodz"),
    ("Istanbul", "the office in İstanbul"),
    ("部署", "生产环境的部署流程"),
    ("数据库", "我们使用数据库集群"),
    ("猫", "黒い猫です"),
    ("再起動", "サーバーを再起動する方法"),
    ("サーバー", "サーバーの設定"),
    ("ｻｰﾊﾞｰ", "サーバーの設定"),
    ("서버", "서버를 다시 시작했다"),
    ("ฐานข้อมูล", "สำรองฐานข้อมูลทุกคืน"),
    ("ລະບົບ", "ລະບົບໃໝ່"),
    ("ប្រព័ន្ធ", "ប្រព័ន្ធថ្មី"),
    ("တက်", "စနစ်တက်နေသည်"),
    ("серверы", "перезапустить сервер"),
    ("развертывание", "инструкция по развёртыванию"),
    ("замок", "за́мок на двери"),
    ("διακομιστής", "οι διακομιστές"),
    ("خادم", "أعد تشغيل الخادم"),
    ("الخادم", "خادم جديد"),
    ("שרת", "הפעל את השרת"),
    ("השרתים", "שרת חדש"),
    ("सर्वर", "सर्वर को पुनः आरंभ करें"),
    ("٣", "3 replicas"),
    ("ｆｕｌｌ", "full width"),
]


@pytest.mark.parametrize(("query", "text"), PROBES)
def test_a_question_finds_what_is_written_in_any_script(query: str, text: str) -> None:
    """At least 14 of 16 probes of this kind are asked for."""
    assert is_found(query, text)


IDENTIFIERS = [
    ("max_tokens", "set maxTokens to five"),
    ("maxTokens", "set max-tokens to five"),
    ("tokens", "set max_tokens to five"),
    ("parse the response", "parseHTTPResponse fails"),
    ("memory.ts", "see src/core/memory.ts"),
    ("src/core/memory.ts", "see src/core/memory.ts"),
    ("core", "see src/core/memory.ts"),
    ("db.internal", "at db.internal:5432"),
    ("5432", "at db.internal:5432"),
    ("db.internal:5432", "at db.internal:5432"),
    ("10.0.0.12", "the host 10.0.0.12 is down"),
    ("1.2.3", "released v1.2.3 today"),
    ("1.2", "node 1.2.9"),
    ("v1.2.3-rc1", "released v1.2.3-rc1"),
    ("1.2.3.4.5.6", "build 1.2.3.4.5.6"),
    ("#123", "closed #123"),
    ("#123", "closed org/repo#123"),
    ("123", "closed org/repo#123"),
    ("INC-4711", "see INC-4711"),
    ("C++", "written in C++"),
    ("c#", "a C# service"),
    ("nodejs", "runs on Node.js"),
    ("email", "send an e-mail"),
    ("on call", "the on-call rota"),
    ("PR", "three open PRs"),
    ("pull/5", "https://example.com/org/repo/pull/5?x=1"),
    ("ann@example.com", "ask ann@example.com"),
    ("__init__", "in __init__.py"),
    ("redis 7", "moved to redis7"),
    ("1000", "1,000 users"),
    ("obrien", "ask O’Brien"),
    ("std::vector", "a std::vector of ints"),
]


@pytest.mark.parametrize(("query", "text"), IDENTIFIERS)
def test_an_identifier_is_found_whole_and_by_its_parts(query: str, text: str) -> None:
    assert set(query_terms(query)) & terms_of(text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("123", "1.2.3"),
        ("C", "C++"),
        ("man", "command"),
        ("a", "command"),
        ("30", "60 days"),
        ("1.2.4", "v2.3"),
        ("東京", "京都と東北"),
        ("cat", "concatenate"),
    ],
)
def test_what_only_looks_alike_is_not_found(query: str, text: str) -> None:
    assert not is_found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running deployments", "run a deployment"),
        ("who went", "go"),
        ("children", "child"),
        ("organisation colours", "organization color"),
        ("don't", "do not"),
        ("can’t", "not"),
        ("Caroline's", "caroline"),
        ("won't", "will not"),
    ],
)
def test_inflections_and_spellings_share_a_term(query: str, text: str) -> None:
    assert set(query_terms(query)) & set(query_terms(text))


def test_stop_words_are_dropped_from_the_question_only() -> None:
    assert query_terms("What did the team say about the deploy?") == ["team", "say", "deploy"]
    assert "the" in terms_of("the deploy")


def test_a_question_of_stop_words_alone_keeps_them() -> None:
    assert query_terms("who are you") == ["who", "are", "you"]


@pytest.mark.parametrize(
    "word", ["no", "not", "never", "none", "nor", "without", "zero", "one", "two", "3", "не", "nicht"]
)
def test_negations_and_numbers_are_no_stop_words(word: str) -> None:
    assert set(query_terms(word)) <= set(query_terms(f"what is {word} deploy"))
    assert word not in STOP_WORDS


def test_initials_are_no_stop_words_unless_everything_is_in_capitals() -> None:
    assert "it" in query_terms("who runs the IT department")
    assert "it" not in query_terms("who runs it in the department")
    assert "it" not in query_terms("WHO RUNS IT IN THE DEPARTMENT")


def test_stop_words_are_written_as_texts_are_folded() -> None:
    assert all(folded(word).casefold() == word for word in STOP_WORDS)


def test_each_term_is_asked_once_in_the_order_of_the_question() -> None:
    assert query_terms("deploy staging deploys") == ["deploy", "stage"]


@pytest.mark.parametrize("query", ["", "   ", "?!", "🎉", "\x00", "\ud800", "--", "'", "___"])
def test_a_text_without_words_asks_for_nothing(query: str) -> None:
    assert query_terms(query) == []


def test_keywords_and_author_are_searchable() -> None:
    terms = record_terms("prefers tabs", ("editor-config",), "Ann-Sofie Öberg", LONG_AGO)
    for query in ("editor", "editorconfig", "Ann-Sofie", "Oberg", "oeberg"):
        assert not terms.isdisjoint(query_terms(query)), query
    assert name_terms("Ann-Sofie Öberg") <= terms


@pytest.mark.parametrize(
    "query",
    ["2023-05-08", "2023", "Monday", "in May", "8 May 2023", "May 8th, 2023", "the 8th of May", "May 2023", "2023/5/8"],
)
def test_a_record_is_found_by_its_date(query: str) -> None:
    on_that_day = record_terms("shipped", (), None, datetime(2023, 5, 8, 23, 59, tzinfo=UTC))
    years_later = record_terms("shipped", (), None, datetime(2024, 6, 9, tzinfo=UTC))
    assert not on_that_day.isdisjoint(query_terms(query))
    assert years_later.isdisjoint(query_terms(query))


def test_a_date_in_the_text_is_found_however_it_is_asked_for() -> None:
    assert {"2023-06-16", "2023-06", "06-16"} <= terms_of("moved on June 16, 2023")
    assert "2023-06-16" in query_terms("what moved on 16 Jun 2023?")


def test_the_verb_may_is_no_month() -> None:
    assert query_terms("what may we deploy") == ["deploy"]
    assert query_terms("what did we deploy in May") == ["deploy", "may"]


def test_a_day_has_six_terms() -> None:
    assert day_terms(datetime(2023, 5, 8, tzinfo=UTC).date()) == {
        "2023-05-08",
        "2023-05",
        "05-08",
        "2023",
        "may",
        "monday",
    }


@given(ANY_TEXT)
def test_every_text_is_found_by_itself(text: str) -> None:
    assert set(query_terms(text)) <= record_terms(text, (), None, LONG_AGO)


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=3), ANY_TEXT)
def test_a_record_is_found_by_its_text_keywords_and_author(text: str, keywords: list[str], author: str) -> None:
    terms = record_terms(text, keywords, author, LONG_AGO)
    assert all(term and not term.isspace() for term in terms)
    for part in (text, *keywords, author):
        assert set(query_terms(part)) <= terms


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            "a-",
            "1.",
            "a/",
            "aB",
            "ä",
            "漢",
            "ก",
            "'",
            "\x00",
            "\ud800",
            "#",
            "_",
            "n't",
            "1,000",
            "v1.2",
            "🎉",
            "é́",
        ),
        *("ae", "wordwordwo ", "May 1 ", "2023-", "x://", "in May ", "ב", "isation", "ABCs"),
    ],
)
def test_terms_grow_no_faster_than_the_text(unit: str) -> None:
    text = (unit * TEXT_CHARS)[:TEXT_CHARS]
    assert len(terms_of(text)) <= len(day_terms(LONG_AGO.date())) + 2 * TEXT_CHARS
    assert sum(map(len, terms_of(text))) <= 20 * TEXT_CHARS
    assert len(query_terms(text)) <= TEXT_CHARS


def test_tokens_of_the_reference_are_runs_of_ascii_letters_and_digits() -> None:
    """Section 5; lower-cased, with repeats, nothing outside ASCII."""
    assert tokenize("Don't DEPLOY café_2, deploy!") == ["don", "t", "deploy", "caf", "2", "deploy"]
    assert tokenize("Привет 世界") == []


def test_a_text_is_made_storable() -> None:
    assert storable("a\x00b\ud800c\U0001f389") == "a b\ufffdc\U0001f389"


def test_words_can_be_forgotten() -> None:
    record_terms("heliotrope", (), "Zebediah", datetime(2026, 1, 1, tzinfo=UTC))
    name_terms("Zebediah")
    assert stem.cache_info().currsize > 0
    forget_words()
    assert stem.cache_info().currsize == name_terms.cache_info().currsize == 0
