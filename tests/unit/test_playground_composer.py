"""What Slack's client makes of typed text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.playground.composer import rich_text, wire_text

Json = dict[str, Any]


def elements(text: str) -> list[Json]:
    return rich_text(text)[0]["elements"]


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("<@U0SWITCH01> hi", "<@U0SWITCH01> hi"),
        ("<!here> and <#C0GENERAL1|general>", "<!here> and <#C0GENERAL1|general>"),
        ("see https://example.com/a?b=1&c=2.", "see <https://example.com/a?b=1&amp;c=2>."),
        ("<https://example.com|there>", "<https://example.com|there>"),
        ("`a < https://b.example`", "`a &lt; https://b.example`"),
        ("```x = <y> && z```", "```x = &lt;y&gt; &amp;&amp; z```"),
        ("already &lt;escaped&gt; &amp; done", "already &lt;escaped&gt; &amp; done"),
    ],
)
def test_text_is_stored_in_slacks_markup(typed: str, stored: str) -> None:
    assert wire_text(typed) == stored


@given(st.text(alphabet="ab <>&|`*_~:@#!/.\nhttps", max_size=60))
def test_stored_text_stays_as_it_is(text: str) -> None:
    stored = wire_text(text)
    assert wire_text(stored) == stored


@given(st.text(max_size=80))
def test_any_text_makes_blocks(text: str) -> None:
    blocks = rich_text(wire_text(text))
    assert len(blocks) == (1 if text else 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<@U0ALICE001>", {"type": "user", "user_id": "U0ALICE001"}),
        ("<#C0GENERAL1|general>", {"type": "channel", "channel_id": "C0GENERAL1"}),
        ("<!subteam^S0TEAM>", {"type": "usergroup", "usergroup_id": "S0TEAM"}),
        ("<!here>", {"type": "broadcast", "range": "here"}),
        ("<https://example.com>", {"type": "link", "url": "https://example.com"}),
        ("<https://example.com|there>", {"type": "link", "url": "https://example.com", "text": "there"}),
        (":thumbs_up:", {"type": "emoji", "name": "thumbs_up"}),
        ("`code`", {"type": "text", "text": "code", "style": {"code": True}}),
        ("*bold*", {"type": "text", "text": "bold", "style": {"bold": True}}),
        ("~gone~", {"type": "text", "text": "gone", "style": {"strike": True}}),
        ("a &lt; b", {"type": "text", "text": "a < b"}),
        ("10:30:45", {"type": "text", "text": "10:30:45"}),
        ("snake_case_name", {"type": "text", "text": "snake_case_name"}),
    ],
)
def test_inline_markup_becomes_an_element(text: str, expected: Json) -> None:
    assert elements(text) == [{"type": "rich_text_section", "elements": [expected]}]


def test_styles_nest() -> None:
    section = elements("*all _this_ <@U0BOB00001>*")[0]["elements"]
    assert section == [
        {"type": "text", "text": "all ", "style": {"bold": True}},
        {"type": "text", "text": "this", "style": {"bold": True, "italic": True}},
        {"type": "text", "text": " ", "style": {"bold": True}},
        {"type": "user", "user_id": "U0BOB00001", "style": {"bold": True}},
    ]


def test_fences_and_quotes_are_sections_of_their_own() -> None:
    parts = elements("look:\n```\nx = 1\n```\n&gt; said\nand so on")
    assert [part["type"] for part in parts] == [
        "rich_text_section",
        "rich_text_preformatted",
        "rich_text_quote",
        "rich_text_section",
    ]
    assert parts[1]["elements"] == [{"type": "text", "text": "x = 1"}]
    assert parts[2]["elements"] == [{"type": "text", "text": "said"}]
