"""Values as JSON in the state database: whatever is said is written, and read back as every store holds it."""

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from app.state.json_text import json_text
from tests.fakes import EPOCH


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    author: str | None
    at: datetime
    count: int
    parts: tuple[str, ...] = ()


_SAID = TypeAdapter(Said)
_texts = st.text(st.characters())
_moments = st.timedeltas(timedelta(0), timedelta(days=9_999)).map(lambda since: EPOCH + since)
_said = st.builds(Said, _texts, st.none() | _texts, _moments, st.integers(), st.lists(_texts).map(tuple))


def whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@given(_said)
@example(Said('\ud83d \ude00 \x00 \x7f \u2028 é 漢 😀 "\\/<', "\udfff\ud800", EPOCH, 2**70, ("\x00",)))
@example(Said("\ud83d\ude00", None, EPOCH, 0))
@example(Said("😀 \x00", None, EPOCH, 0))
def test_what_was_said_is_read_back_but_for_halves_of_characters(said: Said) -> None:
    kept = json_text(_SAID, said)
    author = None if said.author is None else whole(said.author)
    assert _SAID.validate_json(kept) == replace(
        said, text=whole(said.text), author=author, parts=tuple(whole(part) for part in said.parts)
    )
    assert "\x00" not in kept
    kept.encode()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_whole_characters_are_written_as_themselves(text: str) -> None:
    said = Said(text, None, EPOCH, 1)
    assert json.loads(json_text(_SAID, said))["text"] == text
    assert all(character in json_text(_SAID, said) for character in text if character.isalnum())


def test_what_was_written_with_spaces_between_its_parts_is_read() -> None:
    said = Said("hi", "Alice", EPOCH, 1, ("a", "b"))
    assert _SAID.validate_json(json.dumps(_SAID.dump_python(said, mode="json"), ensure_ascii=False)) == said
