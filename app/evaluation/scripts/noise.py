"""What is true for an hour, or says nothing at all."""

from app.evaluation.script import Category, Conversation, Unwanted, Wanted, ada, ben, bot
from memory.scope import ScopeKind

_IT = Category.NOISE

CONVERSATIONS = (
    Conversation(
        "status-of-a-change",
        _IT,
        (
            ada("We merged PR #41 and all tests are green, so our PR #42 is next."),
            bot("Great, I will look at #42."),
        ),
        (),
        (
            Unwanted("PR #41 is merged and all tests are green.", "41"),
            Unwanted("PR #42 is next.", "42"),
        ),
    ),
    Conversation("hello", _IT, (ada("Good morning!"), bot("Good morning, Ada.")), is_asked=False),
    Conversation(
        "general-knowledge",
        _IT,
        (ada("What is a mutex?"), bot("A lock that only one thread holds at a time.")),
        (),
        (Unwanted("A mutex is a lock that one thread holds at a time.", "mutex"),),
        tool_calls=0,
        is_asked=False,
    ),
    Conversation(
        "a-commit",
        _IT,
        (ada("Our fix is in commit 4f9a8b7c, please deploy it."), bot("Deployed 4f9a8b7c.")),
        (),
        (Unwanted("The fix is in commit 4f9a8b7c.", "4f9a8b7c"),),
        repo="acme/api",
    ),
    Conversation(
        "trouble-of-the-moment",
        _IT,
        (ada("Our CI is red right now."), bot("The runner has no disk space left.")),
        (),
        (Unwanted("The CI is red right now.", "red"), Unwanted("The runner has no disk space left.", "disk")),
    ),
    Conversation(
        "an-appointment",
        _IT,
        (ada("We moved the standup to 10:30 today."), bot("I told everybody.")),
        (),
        (Unwanted("The standup takes place at 10:30 today.", "standup 10:30"),),
    ),
    Conversation(
        "progress",
        _IT,
        (ada("I'm still working on our importer and will push it tomorrow."), bot("Take your time.")),
        (),
        (Unwanted("Ada is still working on the importer.", "importer"),),
    ),
    Conversation(
        "only-questions",
        _IT,
        (ada("Is our limit 100 requests per second? Does Cleo own the gateway?"), bot("I could not find out.")),
        (),
        (
            Unwanted("The limit is 100 requests per second.", "100 requests"),
            Unwanted("Cleo owns the gateway.", "cleo gateway"),
        ),
    ),
    Conversation(
        "one-fact-in-much-chatter",
        _IT,
        (
            ben("lol, what a day"),
            ada("Thanks, you are the best! By the way, our VPN is called Burrow. See you at lunch!"),
            bot("You are welcome."),
        ),
        (Wanted("Our VPN is called Burrow.", "vpn burrow"),),
        (Unwanted("Thanks, you are the best!", "best"), Unwanted("See you at lunch!", "lunch")),
    ),
    Conversation(
        "a-command-of-the-bot",
        _IT,
        (
            ada("Please open a ticket for our broken printer."),
            bot("Opened ticket 7781.", "tool"),
            bot("I opened ticket 7781 for the printer."),
        ),
        (),
        (
            Unwanted("Ticket 7781 was opened for the printer.", "7781"),
            Unwanted("Please open a ticket for the printer.", "open ticket", ScopeKind.USER),
        ),
    ),
)
