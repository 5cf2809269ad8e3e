"""What a message asks for about its own answer: what is taken, what is refused, and that the rest stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dispatch.directives import Directed, Refused, directed, directives, written
from app.dispatch.resolve import KnownModels, Wish

AGENTS = ("coder", "general")
SECRET = "hunter2sesame"

NAMES = ("agent:", "model:", "effort:", "repo:")

runs = st.permutations(["agent:coder", "model:test/big:1", "effort:low", "repo:acme/api"]).flatmap(
    lambda them_all: st.integers(1, 4).map(lambda number: them_all[:number])
)
gaps = st.sampled_from([" ", "\n", "  ", " \n\t"])


def read(text: str) -> Directed | Refused:
    return directives(text, AGENTS, KnownModels(frozenset({"test", "other"})))


@pytest.mark.parametrize(
    ("text", "wish", "rest"),
    [
        ("agent:coder fix it", Wish(agent="coder"), "fix it"),
        ("  agent:coder fix it", Wish(agent="coder"), "fix it"),
        ("effort:high agent:coder model:test/a/b:1 x", Wish("coder", "test/a/b:1", "high"), "x"),
        ("Agent:coder\nEFFORT:High\n\n  def f():\n    pass\n", Wish("coder", None, "high"), "\n  def f():\n    pass\n"),
        ("repo:https://github.com/Acme/api which linter?", Wish(repo="acme/api"), "which linter?"),
        ("repo:None which linter?", Wish(repo="none"), "which linter?"),
        ("repo:acme/api which linter?", Wish(repo="acme/api"), "which linter?"),
        ("Repo:Acme/Next.JS effort:low x", Wish(effort="low", repo="acme/next.js"), "x"),
        ("effort:low   x", Wish(effort="low"), "  x"),
        ("effort:low", Wish(effort="low"), ""),
        ("effort:low\n", Wish(effort="low"), ""),
        ("effort:low model: what is it?", Wish(effort="low"), "model: what is it?"),
        ("effort:low x effort:high", Wish(effort="low"), "x effort:high"),
    ],
)
def test_directives_are_taken_from_the_start_of_a_message(text: str, wish: Wish, rest: str) -> None:
    assert read(text) == Directed(wish, rest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "model: what is it?",
        "agent : coder",
        "agent:",
        "Which agent:coder do you mean?",
        "x\neffort:low",
        "effort low",
        "effort=low please",
        "`agent:coder`",
        "reagent:coder",
        "my-model:test/a",
        "the effort:high road",
        "budget:5 do it",
        "repo: which one?",
        "the repo:acme/api one",
    ],
)
def test_everything_else_is_the_message(text: str) -> None:
    assert read(text) == Directed(Wish(), text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"agent:{SECRET} hi", "I have no such agent. `agent:` takes one of coder, general."),
        ("agent:Coder hi", "I have no such agent. `agent:` takes one of coder, general."),
        (f"model:{SECRET} hi", "`model:` takes a model as `<provider>/<model>`; the providers are other, test."),
        ("model:/x hi", "`model:` takes a model as `<provider>/<model>`; the providers are other, test."),
        ("model:test/ hi", "`model:` takes a model as `<provider>/<model>`; the providers are other, test."),
        (f"model:{SECRET}/x hi", "`model:` names a provider that is not set up here; the providers are other, test."),
        (f"effort:{SECRET}", "`effort:` takes low, medium or high."),
        (f"repo:{SECRET} hi", "`repo:` takes a repository as `owner/name`, such as `repo:acme/api`, or `none`."),
        (
            "repo:https://github.com/a/b/pull/7 x",
            "`repo:` takes a repository as `owner/name`, such as `repo:acme/api`, or `none`.",
        ),
        ("repo:a/b repo:a/b x", "`repo:` stands there twice; once is enough."),
        ("effort:low effort:low x", "`effort:` stands there twice; once is enough."),
        ("effort:low\nagent:coder AGENT:general", "`agent:` stands there twice; once is enough."),
    ],
)
def test_a_directive_that_cannot_be_followed_is_refused_without_its_value(text: str, reason: str) -> None:
    assert read(text) == Refused(reason)


@given(text=st.text(alphabet=st.sampled_from("agentmodlfrp:/ \n\txé"), max_size=40))
def test_a_text_without_directives_comes_back_byte_for_byte(text: str) -> None:
    start = text.lstrip().lower()
    found = read(text)
    if not start.startswith(NAMES):
        assert found == Directed(Wish(), text)


@given(run=runs, gap=gaps, separator=st.sampled_from([" ", "\n", "\t"]), text=st.text(max_size=40))
def test_what_follows_the_directives_is_untouched(run: list[str], gap: str, separator: str, text: str) -> None:
    if not text.lstrip().lower().startswith(NAMES):
        found = read(f"{gap.join(run)}{separator}{text}")
        assert isinstance(found, Directed)
        assert found.text == text
        asked = (found.wish.agent, found.wish.model, found.wish.effort, found.wish.repo)
        assert sum(part is not None for part in asked) == len(run)


@given(
    st.builds(
        Wish,
        st.none() | st.sampled_from(AGENTS),
        st.none() | st.sampled_from(("test/scripted", "test/big:1")),
        st.none() | st.sampled_from(("low", "medium", "high")),
        st.none() | st.sampled_from(("acme/api", "a/.b_-")),
    ),
    st.text(min_size=1),
)
def test_written_directives_are_read_again_as_they_were_meant(wish: Wish, text: str) -> None:
    rest = read(text)
    if isinstance(rest, Directed) and rest.text == text:
        assert read(directed(text, written(wish))) == Directed(wish, text)


def test_the_longest_message_is_read_as_fast_as_any() -> None:
    text = " " * 50_000 + "agent:" + "x" * 50_000
    assert read(text) == Refused("I have no such agent. `agent:` takes one of coder, general.")
