"""The retrieval benchmark: reading conversations, counting what is found, and telling it."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks import locomo
from benchmarks.locomo_fts import Fts5Ranker
from benchmarks.locomo_measuring import Corpus, Dates, Figures, measure, pool_of
from benchmarks.locomo_reading import LocomoError, Statement, read_conversations, turn_ids
from benchmarks.tables import render
from memory.relevance import RelevanceRanker
from tests.semantic_fakes import FakeEmbedder

FIRST_DAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
CONVERSATION = """{
  "speaker_a": "Ann",
  "speaker_b": "Ben",
  "session_10_date_time": "9:05 am on 1 January, 2024",
  "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "The heron flew away."}],
  "session_2_date_time": "1:56 pm on 8 May, 2023",
  "session_2": [
    {"speaker": "Ann", "dia_id": "D2:1", "text": "I adopted a kitten!", "blip_caption": "a photo of a kitten"},
    {"speaker": "Ben", "dia_id": "D2:2", "text": "Lovely. What is it called?", "img_url": ["x"]}
  ],
  "session_3_date_time": "1:56 pm on 9 May, 2023"
}"""
OBSERVATION = """{
  "session_2_observation": {"Ann": [["Ann has a kitten.", "D2:1"]], "Ben": [["Both like pets.", ["D2:1", "D2:2"]]]}
}"""
QUESTIONS = """[
  {"question": "What did Ann adopt?", "answer": "a kitten", "category": 4, "evidence": ["D2:1; D:10:01"]},
  {"question": "What flew away?", "category": 2, "evidence": ["D10:1"], "answer": 2022},
  {"question": "Whose dog is it?", "category": 5, "evidence": ["D2:1"]},
  {"question": "Where is the evidence?", "category": 1, "evidence": ["D9:9", "D"]},
  {"question": "And here?", "category": 1, "evidence": []}
]"""


def sample(conversation: str = CONVERSATION, observation: str = OBSERVATION) -> str:
    return f"""[{{"sample_id": "conv-1", "event_summary": {{}},
        "conversation": {conversation}, "observation": {observation}, "qa": {QUESTIONS}}}]"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.json"
    path.write_text(sample(), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("D8:6; D9:17", ["D8:6", "D9:17"]),
        ("D:11:26", ["D11:26"]),
        ("D30:05", ["D30:5"]),
        ("D1:1 D1:2,D1:3", ["D1:1", "D1:2", "D1:3"]),
        ("D", []),
    ],
)
def test_a_malformed_turn_id_is_put_right(text: str, ids: list[str]) -> None:
    assert list(turn_ids(text)) == ids


def test_turns_are_read_in_the_order_of_their_sessions(path: Path) -> None:
    (conversation,) = read_conversations(path)
    assert conversation.name == "conv-1"
    assert [turn.session for turn in conversation.turns] == [2, 2, 10]
    assert conversation.turns[0] == Statement(
        "Ann: I adopted a kitten! [shared photo: a photo of a kitten]", "Ann", 2, FIRST_DAY, frozenset({"D2:1"})
    )


def test_facts_are_read_with_every_turn_they_rest_on(path: Path) -> None:
    (conversation,) = read_conversations(path)
    assert [(fact.text, fact.speaker, fact.turns) for fact in conversation.facts] == [
        ("Ann has a kitten.", "Ann", {"D2:1"}),
        ("Both like pets.", "Ben", {"D2:1", "D2:2"}),
    ]


def test_only_questions_with_evidence_that_was_said_are_asked(path: Path) -> None:
    (conversation,) = read_conversations(path)
    assert [(question.text, question.evidence) for question in conversation.questions] == [
        ("What did Ann adopt?", {"D2:1", "D10:1"}),
        ("What flew away?", {"D10:1"}),
    ]


@pytest.mark.parametrize("content", ["", "{}", "[{}]", "[1]", '[{"sample_id": 3}]'])
def test_a_file_in_another_format_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(LocomoError, match=r"other\.json"):
        read_conversations(path)
    with pytest.raises(LocomoError, match="absent"):
        read_conversations(tmp_path / "absent")


@pytest.mark.parametrize(
    ("conversation", "observation"),
    [
        ('{"session_1_date_time": "8 May 2023", "session_1": []}', "{}"),
        ('{"session_1_date_time": "1:56 pm on 8 Mai, 2023", "session_1": []}', "{}"),
        ('{"session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "Hi"}]}', "{}"),
        ("{}", '{"session_1_observation": {"Ann": [["Ann said hi.", "D1:1"]]}}'),
    ],
)
def test_a_session_on_no_date_is_refused(tmp_path: Path, conversation: str, observation: str) -> None:
    path = tmp_path / "undated.json"
    path.write_text(sample(conversation, observation), encoding="utf-8")
    with pytest.raises(LocomoError, match="undated"):
        read_conversations(path)


def test_a_pool_is_minted_as_the_product_does(path: Path) -> None:
    (conversation,) = read_conversations(path)
    pool = pool_of(conversation, Corpus.TURNS, Dates.REAL)
    first, *_, last = pool.records
    assert (first.author, first.created_at, first.sequence) == ("Ann", FIRST_DAY, 1)
    assert first.source_thread_key == pool.records[1].source_thread_key != last.source_thread_key
    assert {"kitten", "ann", "2023-05-08"} <= first.terms
    assert pool.evidence[first.id] == {"D2:1"}
    assert pool.asked_at == last.created_at + timedelta(days=1)
    assert len({record.created_at for record in pool_of(conversation, Corpus.TURNS, Dates.EQUAL).records}) == 1
    assert pool_of(conversation, Corpus.FACTS, Dates.REAL).records[0].text == "Ann has a kitten."


def test_recall_hits_and_reciprocal_rank_are_counted_by_depth() -> None:
    figures = Figures()
    nothing = frozenset[str]()
    figures.count([nothing, frozenset({"a"}), frozenset({"a"}), *[nothing] * 3, frozenset({"b"})], frozenset("ab"))
    figures.count([*[nothing] * 10, frozenset({"c"})], frozenset("c"))
    figures.count([*[nothing] * 20, frozenset({"c"})], frozenset("c"))
    figures.count([], frozenset("d"))
    assert [figures.recall(depth) for depth in (5, 8, 10, 20)] == [0.125, 0.25, 0.25, 0.5]
    assert figures.hit_rate() == 0.25
    assert figures.mean_reciprocal_rank() == pytest.approx((1 / 2 + 1 / 11) / 4)


def test_every_question_is_asked_and_timed(path: Path) -> None:
    (conversation,) = read_conversations(path)
    figures = Figures()
    measure(figures, pool_of(conversation, Corpus.TURNS, Dates.REAL), RelevanceRanker())
    assert (figures.questions, len(figures.times_s)) == (2, 2)
    assert figures.recall(5) == pytest.approx(0.75)
    assert figures.time_s(99) >= figures.time_s(50) > 0


def test_sqlite_finds_stems_by_words_that_tell_something(path: Path) -> None:
    (conversation,) = read_conversations(path)
    pool = pool_of(conversation, Corpus.TURNS, Dates.EQUAL)
    with closing(Fts5Ranker(pool.records)) as ranker:
        hits = ranker.rank(pool.records, 'What "herons" flew? OR NOT (', pool.asked_at)
        assert [hit.record.text for hit in hits] == ["Ben: The heron flew away."]
        assert hits[0].score > 0
        assert ranker.rank(pool.records, "?!", pool.asked_at) == []
        assert len(ranker.rank(pool.records, "what is it", pool.asked_at)) == 1


def test_both_rankers_and_both_dates_are_told_beside_sqlite(path: Path) -> None:
    turns, facts = locomo.run([path])
    assert [row[0] for row in turns.rows] == [row[0] for row in facts.rows]
    assert {row[0] for row in turns.rows} == {
        *(f"{ranker}, {dates} dates" for ranker in ("keyword", "relevance") for dates in Dates),
        "SQLite FTS5 bm25",
    }
    assert "real dates cost +0.000: met" in render(turns)
    assert "recall@8, the lower of both: 0.250, MISSED (aim >= 0.6)" in render(facts)


def test_with_an_embedder_the_fused_ranker_is_told_too(path: Path) -> None:
    embedder = FakeEmbedder()
    turns, _ = locomo.run([path], embedder=embedder)
    assert {f"relevance + vectors, {dates} dates" for dates in Dates} <= {row[0] for row in turns.rows}
    assert "with vectors, recall@8, the lower of both" in render(turns)
    assert embedder.failure is not None


def test_conversations_are_chosen_by_name(path: Path) -> None:
    assert "conv-1" in render(next(locomo.run([path], only=["conv-1"])))
    with pytest.raises(LocomoError, match="there are conv-1"):
        next(locomo.run([path], only=["conv-2"]))


def test_the_command_prints_tables_or_says_why_not(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert locomo.main([str(path)]) == 0
    assert "Evidence found among facts" in capsys.readouterr().out
    assert locomo.main([str(path), "--only", "conv-2"]) == 1
    assert locomo.main([str(path), "--embedding", str(path.parent)]) == 1
    assert "no questions to ask" in capsys.readouterr().out
