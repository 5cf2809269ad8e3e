"""How a team works, and how its things are built."""

from app.evaluation.script import Category, Conversation, Unwanted, Wanted, ada, ben, bot
from memory.scope import ScopeKind

_IT = Category.CONVENTIONS

CONVERSATIONS = (
    Conversation(
        "days-of-deploys",
        _IT,
        (
            ada("Can this go out tomorrow? We deploy on Tuesdays and Thursdays, never on Fridays."),
            bot("Then Thursday it is."),
        ),
        (Wanted("We deploy on Tuesdays and Thursdays, never on Fridays.", "deploy tuesday thursday friday"),),
        (Unwanted("This goes out on Thursday.", "goes out thursday", is_judgement=True),),
    ),
    Conversation(
        "tests-of-a-repository",
        _IT,
        (
            ada("Fix the failing test. In this repository the tests run with `make check`, not with bare pytest."),
            bot("Fixed: the fixture closed the file twice."),
        ),
        (
            Wanted(
                "In this repository the tests run with `make check`, not with bare pytest.",
                "tests make check",
                ScopeKind.REPO,
            ),
        ),
        (Unwanted("The failing test was fixed.", "fixed", ScopeKind.REPO),),
        repo="acme/api",
    ),
    Conversation(
        "what-a-channel-is-for",
        _IT,
        (
            ada("Who reads this? This channel is for incidents only; requests go to #help."),
            bot("Understood, I will point people to #help."),
        ),
        (Wanted("This channel is for incidents only; requests go to #help.", "channel incidents", ScopeKind.CHANNEL),),
    ),
    Conversation(
        "a-command",
        _IT,
        (
            ada("The queue hangs. Remember: our queue is restarted with `bin/queue restart --drain`."),
            bot("It runs again."),
        ),
        (Wanted("Our queue is restarted with `bin/queue restart --drain`.", "queue restart drain"),),
        (Unwanted("The queue hangs.", "hangs"),),
    ),
    Conversation(
        "three-rules-in-a-list",
        _IT,
        (
            ada(
                "For the changelog:\n- Our changelog is written in the past tense.\n- We use semantic versioning.\n"
                "- Breaking changes must be marked with an exclamation mark."
            ),
            bot("I will write it like that."),
        ),
        (
            Wanted("Our changelog is written in the past tense.", "changelog past tense"),
            Wanted("We use semantic versioning.", "semantic version"),
            Wanted("Breaking changes must be marked with an exclamation mark.", "breaking exclamation"),
        ),
    ),
    Conversation(
        "what-the-bot-proposed-and-somebody-confirmed",
        _IT,
        (ada("Yes, exactly. Please rename mine."), bot("Renamed.")),
        (Wanted("Branch names start with the number of the ticket.", "branch ticket"),),
        (Unwanted("The branch was renamed.", "renamed"),),
        before=(
            ada("What is wrong with the name of my branch?"),
            bot("Branch names start with the number of the ticket here, and yours does not."),
        ),
    ),
    Conversation(
        "what-a-file-shows",
        _IT,
        (
            ada("Have a look at the Dockerfile. We always pin base images by digest."),
            bot("FROM python:3.11-slim\nEXPOSE 8080\nUSER nobody", "file"),
            bot("It exposes port 8080 and does not pin its base image."),
        ),
        (Wanted("We always pin base images by digest.", "pin image digest"),),
        (Unwanted("The service exposes port 8080.", "8080"), Unwanted("Containers run as nobody.", "nobody")),
    ),
    Conversation(
        "said-earlier-in-the-thread",
        _IT,
        (ada("Good. And the second part?"), bot("The second part follows.")),
        (Wanted("Our feature flags live in LaunchDarkly.", "flags launchdarkly"),),
        before=(ben("Our feature flags live in LaunchDarkly."), bot("Noted, here is the first part.")),
    ),
    Conversation(
        "an-invented-number",
        _IT,
        (ada("Connect to it, please. The staging database listens on port 5432."), bot("Connected.")),
        (Wanted("The staging database listens on port 5432.", "staging 5432"),),
        (Unwanted("The staging database listens on port 5433.", "5433"),),
    ),
)
