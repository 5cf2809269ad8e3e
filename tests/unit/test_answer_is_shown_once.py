"""The law of the answer: whatever Slack does to the calls, every word is visible once and in order."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.slack.answer import HOLD_S, SEGMENT_CHARS, STREAM_FLUSH_S, STREAM_LIFE_S, Answer
from app.slack.outcome import Refusal
from app.slack.steps import Append, Call, Done, Failed, Post, Start, Stop, Update, Wait


@dataclass
class Message:
    text: str
    is_streaming: bool
    started_at: float


@dataclass
class SimulatedSlack:
    """Slack's own rules for the five calls, without a network."""

    messages: dict[str, Message] = field(default_factory=dict[str, Message])

    def apply(self, call: Call, now: float) -> tuple[Refusal | None, str | None]:
        self._expire(now)
        match call:
            case Start(text) | Post(text):
                assert text.strip(), "Slack refuses an empty message"
                assert len(text) <= 12_000, "Slack refuses longer markdown_text"
                ts = f"{len(self.messages) + 1}"
                self.messages[ts] = Message(text, isinstance(call, Start), now)
                return None, ts
            case Append(ts, text):
                if not self.messages[ts].is_streaming:
                    return Refusal.NOT_STREAMING, None
                assert text.strip(), "Slack refuses an empty append"
                self.messages[ts].text += text
                assert len(self.messages[ts].text) <= 12_000
                return None, None
            case Stop(ts):
                if not self.messages[ts].is_streaming:
                    return Refusal.NOT_STREAMING, None
                self.messages[ts].is_streaming = False
                return None, None
            case Update(ts, text):
                if self.messages[ts].is_streaming:
                    return Refusal.STILL_STREAMING, None
                assert len(text) <= 12_000
                self.messages[ts].text = text
                return None, None

    def _expire(self, now: float) -> None:
        for message in self.messages.values():
            if now - message.started_at >= 300:
                message.is_streaming = False

    @property
    def visible(self) -> str:
        return "".join(message.text for message in self.messages.values())


Fault = str
FAULTS = ("ok", "ok", "ok", "limited", "refused", "lost_before", "lost_after", "expire")


class Writer:
    """Plays the shell: carries out calls against the simulated Slack with scripted faults."""

    def __init__(self, faults: list[Fault], *, may_stream: bool = True) -> None:
        self.answer = Answer(may_stream=may_stream)
        self.slack = SimulatedSlack()
        self.faults = faults
        self.now = 0.0
        self.calls: list[Call] = []
        self.lost_in_a_row = 0

    def run(self, *, until_idle: bool = True) -> Done | Failed | Wait:
        for _ in range(500):
            match self.answer.next_step(self.now):
                case Wait(None) as wait:
                    return wait
                case Wait() as wait if until_idle:
                    return wait
                case Wait(until_s):
                    assert until_s is not None
                    assert until_s > self.now, "a wait must end later than now"
                    self.now = until_s
                case Done() | Failed() as end:
                    return end
                case call:
                    self._make(call)
        raise AssertionError("the answer never came to rest")

    def _make(self, call: Call) -> None:
        self.calls.append(call)
        fault = self.faults.pop(0) if self.faults else "ok"
        if fault.startswith("lost") and self.lost_in_a_row >= 3:
            fault = "ok"
        self.lost_in_a_row = self.lost_in_a_row + 1 if fault.startswith("lost") else 0
        match fault:
            case "limited":
                self.answer.refused(call, Refusal.RATE_LIMITED, self.now, retry_after_s=2.0)
            case "refused" if isinstance(call, Start):
                self.answer.refused(call, Refusal.OTHER, self.now)
            case "refused" if isinstance(call, Append):
                self.slack.messages[call.ts].is_streaming = False
                self._apply(call)
            case "expire":
                self.now += 301
                self._apply(call)
            case "lost_before":
                self.answer.lost(call, self.now)
            case "lost_after":
                _, ts = self.slack.apply(call, self.now)
                self.answer.lost(call, self.now, ts)
            case _:
                self._apply(call)

    def _apply(self, call: Call) -> None:
        refusal, ts = self.slack.apply(call, self.now)
        if refusal is None:
            self.answer.succeeded(call, self.now, ts)
        else:
            self.answer.refused(call, refusal, self.now)


def words(text: str) -> list[str]:
    return text.split()


@settings(max_examples=400, deadline=None)
@given(
    pieces=st.lists(st.text(alphabet=st.sampled_from("ab \nc<!"), min_size=0, max_size=60), max_size=12),
    pauses=st.lists(st.sampled_from([0.0, 0.1, 1.0, 100.0, 299.0]), max_size=12),
    faults=st.lists(st.sampled_from(FAULTS), max_size=30),
    may_stream=st.booleans(),
    held_s=st.none() | st.sampled_from([0.0, 0.1, 1.0, 299.0]),
)
def test_no_text_is_lost_doubled_or_reordered_whatever_happens_to_the_calls(
    pieces: list[str], pauses: list[float], faults: list[Fault], held_s: float | None, *, may_stream: bool
) -> None:
    writer = Writer(faults, may_stream=may_stream)
    for number, piece in enumerate(pieces):
        writer.answer.write(piece)
        writer.run()
        writer.now += pauses[number] if number < len(pauses) else 0.0
    if held_s is not None:
        writer.answer.hold(writer.now)
        writer.run()
        writer.now += held_s
        writer.run()
    writer.answer.end()
    assert isinstance(writer.run(until_idle=False), Done)
    assert "".join(words(writer.slack.visible)) == "".join(words("".join(pieces)))
    assert not any(message.is_streaming for message in writer.slack.messages.values())
    assert may_stream or not any(isinstance(call, Start | Append) for call in writer.calls)


@settings(max_examples=60, deadline=None)
@given(
    paragraphs=st.lists(st.integers(min_value=1, max_value=4000), min_size=1, max_size=12),
    faults=st.lists(st.sampled_from(FAULTS), max_size=20),
)
def test_a_long_answer_rolls_over_into_messages_that_slack_accepts(paragraphs: list[int], faults: list[Fault]) -> None:
    text = "\n\n".join(" ".join(f"w{number}" for number in range(size // 5 + 1)) for size in paragraphs)
    writer = Writer(faults)
    for start in range(0, len(text), 700):
        writer.answer.write(text[start : start + 700])
        writer.run()
        writer.now += 1.0
    writer.answer.end()
    assert isinstance(writer.run(until_idle=False), Done)
    # Words may be parted only where a message ends, and a message ends at a pause of the text unless time is up.
    assert "".join(words(writer.slack.visible)) == "".join(words(text))
    assert all(len(message.text) <= SEGMENT_CHARS + 100 for message in writer.slack.messages.values())


def test_a_short_answer_that_is_whole_at_once_is_one_ordinary_message() -> None:
    writer = Writer([])
    writer.answer.write("Forty-two.")
    writer.answer.end()
    assert isinstance(writer.run(), Done)
    assert writer.calls == [Post("Forty-two.", is_last=True)]


def test_an_answer_that_is_complete_waits_for_its_end_and_is_one_ordinary_message() -> None:
    writer = Writer([])
    writer.answer.write("Forty-two.")
    writer.answer.hold(writer.now)
    assert writer.run() == Wait(HOLD_S, heeds_text=False)
    writer.answer.end()
    assert isinstance(writer.run(), Done)
    assert writer.calls == [Post("Forty-two.", is_last=True)]


def test_an_answer_that_is_complete_is_streamed_when_its_end_takes_too_long() -> None:
    writer = Writer([])
    writer.answer.write("Forty-two.")
    writer.answer.hold(writer.now)
    writer.now = HOLD_S
    writer.run()
    assert writer.calls == [Start("Forty-two.")]


def test_text_that_grows_is_streamed_at_most_once_per_flush_interval() -> None:
    writer = Writer([])
    for _ in range(50):
        writer.answer.write("word ")
        writer.run()
        writer.now += STREAM_FLUSH_S / 10
    writer.answer.end()
    writer.run(until_idle=False)
    assert isinstance(writer.calls[0], Start)
    assert isinstance(writer.calls[-1], Stop)
    assert len([call for call in writer.calls if isinstance(call, Append)]) <= 7


def test_the_first_text_is_shown_without_waiting_for_a_flush() -> None:
    writer = Writer([])
    writer.answer.write("Well")
    writer.run()
    assert writer.calls == [Start("Well")]


def test_a_stream_is_closed_before_slack_closes_it_even_when_nothing_is_said() -> None:
    writer = Writer([])
    writer.answer.write("Let me think")
    wait = writer.run()
    assert wait == Wait(STREAM_LIFE_S, heeds_text=True)
    writer.now = STREAM_LIFE_S
    writer.run()
    writer.answer.write(" … done")
    writer.answer.end()
    writer.run(until_idle=False)
    assert writer.calls == [Start("Let me think"), Stop("1"), Post(" … done", is_last=True)]


def test_a_stream_that_expired_goes_on_in_the_same_message_by_rewriting_it() -> None:
    writer = Writer(["ok", "expire"])
    writer.answer.write("one")
    writer.run()
    writer.now += 1
    writer.answer.write(" two")
    writer.run()
    writer.answer.write(" three")
    writer.answer.end()
    writer.run(until_idle=False)
    assert writer.slack.visible == "one two three"
    assert len(writer.slack.messages) == 1


def test_a_lost_append_is_settled_by_stopping_and_rewriting_the_message() -> None:
    for fault in ("lost_before", "lost_after"):
        writer = Writer(["ok", fault])
        writer.answer.write("one")
        writer.run()
        writer.now += 1
        writer.answer.write(" two")
        writer.answer.end()
        writer.run(until_idle=False)
        assert [type(call) for call in writer.calls] == [Start, Append, Stop, Update]
        assert writer.slack.visible == "one two"


def test_a_refused_start_becomes_an_ordinary_message_that_is_edited() -> None:
    writer = Writer(["refused"])
    writer.answer.write("one")
    writer.run()
    writer.now += 5
    writer.answer.write(" two")
    writer.run()
    writer.answer.end()
    writer.run(until_idle=False)
    assert [type(call) for call in writer.calls] == [Start, Post, Update]
    assert writer.slack.visible == "one two"


def test_a_message_that_cannot_be_rewritten_is_continued_in_a_new_one() -> None:
    writer = Writer(["refused"])
    writer.answer.write("one")
    writer.run()
    writer.now += 5
    writer.answer.write(" two")
    step = writer.answer.next_step(writer.now)
    assert step == Update("1", "one two")
    writer.answer.refused(Update("1", "one two"), Refusal.OTHER, writer.now, reason="edit_window_closed")
    writer.answer.end()
    writer.run(until_idle=False)
    assert [message.text for message in writer.slack.messages.values()] == ["one", " two"]


def test_a_refused_post_fails_the_answer_with_slacks_reason() -> None:
    writer = Writer([])
    writer.answer.write("one")
    writer.answer.end()
    writer.answer.refused(Post("one"), Refusal.OTHER, 0.0, reason="is_archived")
    assert writer.answer.next_step(0.0) == Failed("is_archived")


def test_a_slack_that_stays_silent_fails_the_answer_after_a_few_tries() -> None:
    answer = Answer()
    answer.write("one")
    answer.end()
    now = 0.0
    for _ in range(5):
        now += 60.0
        step = answer.next_step(now)
        assert step == Post("one", is_last=True)
        answer.lost(Post("one"), now)
    assert isinstance(answer.next_step(now + 60), Failed)


def test_a_code_block_that_is_cut_is_closed_and_opened_again() -> None:
    writer = Writer([])
    line = "x = 1  # a line of code\n"
    writer.answer.write("```python\n" + line * 600 + "```\nDone.")
    writer.answer.end()
    writer.run(until_idle=False)
    first, second = (message.text for message in writer.slack.messages.values())
    assert first.startswith("```python\n")
    assert first.endswith("\n```")
    assert second.startswith("```python\nx = 1")
    assert (first + second).count(line.strip()) == 600


def test_a_crowd_is_never_called_even_when_the_word_arrives_in_pieces() -> None:
    writer = Writer([])
    for piece in ("Hello <", "!chan", "nel> and <!he", "re> and <!DOCTYPE html>"):
        writer.answer.write(piece)
        writer.run()
        writer.now += 1
    writer.answer.end()
    writer.run(until_idle=False)
    assert "<!channel" not in writer.slack.visible
    assert "<!here" not in writer.slack.visible
    assert "<!DOCTYPE html>" in writer.slack.visible


def test_spaces_alone_are_never_sent() -> None:
    writer = Writer([])
    writer.answer.write(" \n ")
    assert writer.run() == Wait(None, heeds_text=True)
    writer.answer.end()
    assert isinstance(writer.run(), Done)
    assert writer.calls == []


def started(text: str = "one", mode: str = "ok") -> Writer:
    writer = Writer([mode])
    writer.answer.write(text)
    writer.run()
    writer.now += 5
    writer.answer.write(" two")
    return writer


def test_a_stream_that_takes_no_more_is_stopped_and_rewritten() -> None:
    writer = started()
    writer.answer.refused(Append("1", " two"), Refusal.OTHER, writer.now)
    writer.answer.end()
    writer.run(until_idle=False)
    assert [type(call) for call in writer.calls] == [Start, Stop, Update, Update]
    assert writer.slack.visible == "one two"


def test_a_doubtful_message_that_is_gone_is_continued_with_what_may_be_missing() -> None:
    writer = started()
    step = writer.answer.next_step(writer.now)
    assert isinstance(step, Append)
    writer.answer.lost(step, writer.now)
    writer.now += 5
    writer.slack.messages["1"].is_streaming = False
    assert writer.answer.next_step(writer.now) == Stop("1")
    writer.answer.refused(Stop("1"), Refusal.NOT_STREAMING, writer.now)
    assert writer.answer.next_step(writer.now) == Update("1", "one two")
    writer.answer.refused(Update("1", "one two"), Refusal.OTHER, writer.now, reason="message_not_found")
    writer.answer.end()
    writer.run(until_idle=False)
    assert [message.text for message in writer.slack.messages.values()] == ["one", " two"]


def test_a_message_that_streams_after_all_is_stopped_before_it_is_rewritten() -> None:
    writer = started(mode="refused")
    writer.answer.refused(Update("1", "one two"), Refusal.STILL_STREAMING, writer.now)
    assert writer.answer.next_step(writer.now) == Stop("1")


def test_a_segment_that_is_full_to_the_brim_is_closed_before_more_is_said() -> None:
    writer = Writer([])
    writer.answer.write("x" * SEGMENT_CHARS)
    writer.run()
    writer.now += 1
    writer.answer.write("y")
    writer.answer.end()
    writer.run(until_idle=False)
    assert [type(call) for call in writer.calls] == [Start, Stop, Post]


def test_an_outcome_that_nobody_asked_for_is_a_bug_and_says_so() -> None:
    with pytest.raises(LookupError):
        Answer().succeeded(Stop("1"), 0.0)
