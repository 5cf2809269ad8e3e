"""What is taught about a repository is known where people work in it and nowhere else: the bot and its demo model."""

from pathlib import Path

from app.playground.server import Playground
from config.settings import Settings
from tests.e2e.conftest import ADA, ALICE, BOB, BOT, DEPLOYS, GENERAL, LEADS, MENTION, RANDOM
from tests.e2e.conftest import settings_of as scripted_settings_of
from tests.e2e.test_learning import Talk, learning, settings_of
from tests.e2e.test_restarts import LEARNS, ended, mortal_bot

TAUGHT = "We use ruff as the linter in this repository"
QUESTION = "which linter do we use?"


def admin_is(settings: Settings, person: str) -> Settings:
    return settings.model_copy(update={"access": settings.access.model_copy(update={"admins": (person,)})})


async def test_what_one_channel_taught_about_a_repository_is_quoted_in_another_that_works_in_it_and_nowhere_else(
    playground: Playground,
) -> None:
    """Criterion: Dispatcher end to end: a repo-bound run writes into repo:owner/name, read by those bound to it."""
    settings = admin_is(settings_of(playground, store="auto"), ALICE)
    playground.people.invite(ALICE, RANDOM, BOT)
    async with learning(settings) as application:
        talk = Talk(playground, application)
        assert "set by admins" in await talk.says(f"{MENTION} config set repo acme/api --layer channel", user=BOB)
        assert "repo is `acme/api` for this channel now" in await talk.says(
            f"{MENTION} config set repo acme/api --layer channel"
        )
        await talk.says(f"{MENTION} config set repo Acme/API --layer channel", channel=DEPLOYS)
        await talk.says(f"{MENTION} {TAUGHT}")
        assert "`mem:repo:acme/api:0`" in await talk.says(f"{MENTION} memory list repo", channel=DEPLOYS, user=BOB)
        assert "No repository is set here" in await talk.says(f"{MENTION} memory list repo", channel=RANDOM)
    async with learning(settings) as application:
        talk = Talk(playground, application)
        there = await talk.says(f"{MENTION} {QUESTION}", user=BOB, channel=DEPLOYS)
        elsewhere = await talk.says(f"{MENTION} {QUESTION}", user=BOB, channel=RANDOM)
        asked_about = await talk.says(f"{MENTION} repo:acme/API {QUESTION}", user=BOB, channel=RANDOM)
        by_link = await talk.says(f"{MENTION} repo:<https://github.com/acme/api> {QUESTION}", user=BOB, channel=RANDOM)
        about_another = await talk.says(f"{MENTION} repo:acme/web {QUESTION}", user=BOB, channel=DEPLOYS)
        about_none = await talk.says(f"{MENTION} repo:none {QUESTION}", user=BOB, channel=DEPLOYS)
    assert "ruff" in there
    assert "ruff" not in elsewhere
    assert "ruff" in asked_about
    assert "ruff" in by_link
    assert "ruff" not in about_another
    assert "ruff" not in about_none


async def test_a_thread_is_bound_and_released_by_its_people(playground: Playground) -> None:
    playground.people.invite(ALICE, RANDOM, BOT)
    async with learning(settings_of(playground)) as application:
        talk = Talk(playground, application)
        await talk.says(f"{MENTION} repo:acme/api {TAUGHT}")
        root = playground.people.say(BOB, RANDOM, f"{MENTION} config set repo acme/api")
        await playground.answer(RANDOM, root.ts)
        assert "ruff" in await talk.says(QUESTION, user=BOB, channel=RANDOM, root=root)
        assert "- repo: `acme/api`" in await talk.says("!status", user=BOB, channel=RANDOM, root=root)
        assert "No repo is set" in await talk.says("!new", user=BOB, channel=RANDOM, root=root)
        await talk.says(QUESTION, user=BOB, channel=RANDOM, root=root)
        last = talk.answers(root)[-1]
        assert "ruff" not in last.text


async def test_what_is_said_behind_closed_doors_about_a_repository_stays_there(playground: Playground) -> None:
    """Specification, section 23: from a DM or a private channel nothing is written into a repository's scope."""
    async with learning(settings_of(playground)) as application:
        talk = Talk(playground, application)
        dm = playground.people.open_dm(ADA, BOT)
        await talk.says("repo:acme/api We use tox for every branch of this repository", user=ADA, channel=dm.id)
        await talk.says(
            f"{MENTION} repo:acme/api We use nox for pull requests in this repository", user=ADA, channel=LEADS
        )
        listed = await talk.says(f"{MENTION} memory list --repo acme/api", user=ADA, channel=GENERAL)
        assert "(`repo:acme/api`)\nNo active records." in listed
        at_home = await talk.says("repo:acme/api what do we use for every branch?", user=ADA, channel=dm.id)
        among_leads = await talk.says(f"{MENTION} what do we use for pull requests?", user=ADA, channel=LEADS)
        others = await talk.says(
            f"{MENTION} repo:acme/api what do we use for every branch and pull requests?", user=BOB
        )
    assert "tox" in at_home
    assert "nox" in among_leads
    assert not {"tox", "nox"} & set(others.replace(".", " ").split())


async def test_a_repository_is_taught_after_the_restart_what_was_answered_before_it(
    playground: Playground, tmp_path: Path
) -> None:
    """What is pending in the state database knows what its turn was about."""
    plain = scripted_settings_of(playground, "socket")
    assert plain.state.url is not None
    memory = plain.memory.model_copy(update={"enabled": True, "store": "sqlite", "mode": "passive"})
    async with mortal_bot(playground, plain.state.url.get_secret_value(), "after end", LEARNS) as process:
        playground.people.say(ALICE, GENERAL, f"{MENTION} repo:acme/api {TAUGHT}")
        await ended(process)
    async with learning(plain.model_copy(update={"memory": memory, "data_dir": tmp_path})) as application:
        talk = Talk(playground, application)
        await talk.rest()
        listed = await talk.says(f"{MENTION} memory list repo --repo acme/api", user=BOB)
    assert "`mem:repo:acme/api:0`" in listed
    assert "ruff" in listed
