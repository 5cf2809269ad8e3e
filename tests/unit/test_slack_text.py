"""Between Slack's text and everybody else's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.slack.format import held_back, mentions, to_plain, without_crowd_mentions, without_mention
from app.slack.splitting import Fence, cut, open_fence


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("&amp;lt;", "&lt;"),
        ("see <https://example.test>", "see https://example.test"),
        ("see <https://example.test|the page>", "see the page (https://example.test)"),
        ("see <https://example.test|example.test>", "see https://example.test"),
        ("mail <mailto:a@b.test|a@b.test>", "mail a@b.test"),
        ("ask <@U1> and <@U2|bob>", "ask <@U1> and <@U2>"),
        ("in <#C1|general> or <#C2>", "in #general or #C2"),
        ("<!here> <!subteam^S1|@team> <!date^1^x|today>", "@here @team today"),
        ("1 &lt; 2 < 3", "1 < 2 < 3"),
    ],
)
def test_slacks_text_is_read_as_a_person_reads_it(text: str, plain: str) -> None:
    assert to_plain(text) == plain


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<@UBOT> hello", "hello"),
        ("hello <@UBOT> there", "hello there"),
        ("<@UBOT|switchboard>", ""),
        ("<@UOTHER> hello", "<@UOTHER> hello"),
        ("line one\n<@UBOT> line two", "line one\n line two"),
    ],
)
def test_the_bots_own_mention_is_taken_out(text: str, left: str) -> None:
    assert without_mention(text, "UBOT") == left


def test_a_mention_is_the_whole_id_and_nothing_less() -> None:
    assert mentions("hi <@UBOT>", "UBOT")
    assert mentions("hi <@UBOT|bot>", "UBOT")
    assert not mentions("hi <@UBOTTOM>", "UBOT")
    assert not mentions("hi UBOT", "UBOT")


@given(st.text(alphabet=st.sampled_from("<!chanelryvosubtm^S1> "), max_size=60))
def test_no_text_calls_a_crowd(text: str) -> None:
    safe = without_crowd_mentions(text)
    assert not any(word in safe for word in ("<!channel", "<!here", "<!everyone", "<!subteam^"))
    assert safe.replace("\u200b", "") == text


def test_only_what_might_become_a_crowd_mention_is_held_back() -> None:
    assert held_back("a <") == 1
    assert held_back("a <!he") == 4
    assert held_back("a <b") == 0
    assert held_back("a <!x") == 0
    assert held_back("nothing") == 0


@given(st.text(max_size=400), st.integers(min_value=1, max_value=100))
def test_a_cut_is_a_start_of_the_text_that_fits(text: str, room: int) -> None:
    piece = cut(text, room)
    assert text.startswith(piece)
    assert len(piece) <= room
    assert piece or not text


def test_a_cut_prefers_paragraphs_then_lines_then_words() -> None:
    assert cut("aaaa bbbb\n\ncccc dddd", 16) == "aaaa bbbb\n\n"
    assert cut("aaaa bbbb\ncccc dddd", 16) == "aaaa bbbb\n"
    assert cut("aaaa bbbb cccc dddd", 16) == "aaaa bbbb cccc "
    assert cut("a" * 30, 16) == "a" * 16
    assert cut("abc", 0) == ""


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("plain", None),
        ("```py\nx", Fence("```py", "```")),
        ("```py\nx\n```", None),
        ("````\n```\nx", Fence("````", "````")),
        ("~~~\nx", Fence("~~~", "~~~")),
        ("```not `a fence", None),
        ("```py\nx\n``` no end", Fence("```py", "```")),
        ("    ```\nindented", None),
    ],
)
def test_an_open_fence_is_found(text: str, fence: Fence | None) -> None:
    assert open_fence(text) == fence
