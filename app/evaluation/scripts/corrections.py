"""What was known and is no longer true, and what is only said again."""

from app.evaluation.script import Category, Conversation, Known, Unwanted, Wanted, ada, ben, bot
from memory.scope import ScopeKind

_IT = Category.CORRECTIONS
_USER, _CHANNEL = ScopeKind.USER, ScopeKind.CHANNEL

_MONDAYS = "Deploys go out on Mondays."
_TABS = "This user prefers tabs."
_FRANKFURT = "Our staging cluster is in Frankfurt."
_ON_CALL = "The on-call phone of this channel is answered by Ben."
_ROTATION = "The database password rotates every 90 days."

CONVERSATIONS = (
    Conversation(
        "another-day",
        _IT,
        (ada("Correction: our deploys go out on Wednesdays."), bot("Thanks, on Wednesdays then.")),
        (Wanted("Our deploys go out on Wednesdays.", "deploys wednesday", corrects=_MONDAYS),),
        known=(Known(_MONDAYS), Known(_FRANKFURT)),
    ),
    Conversation(
        "against-what-the-bot-recalled",
        _IT,
        (
            ada("When do we deploy?"),
            bot("Deploys go out on Mondays."),
            ada("No, we deploy on Wednesdays now."),
            bot("Then on Wednesdays."),
        ),
        (Wanted("We deploy on Wednesdays.", "deploy wednesday", corrects=_MONDAYS),),
        (Unwanted("Deploys go out on Mondays.", "deploys mondays"),),
        (Known(_MONDAYS, is_recalled=True),),
    ),
    Conversation(
        "another-taste",
        _IT,
        (ada("I prefer spaces now, not tabs. Reformat it."), bot("Reformatted with spaces.")),
        (Wanted("This user prefers spaces, not tabs.", "spaces", _USER, corrects=_TABS, is_standing=True),),
        known=(Known(_TABS, _USER, is_standing=True),),
    ),
    Conversation(
        "somebody-else-corrects-a-taste",
        _IT,
        (ben("Ada prefers spaces now, not tabs."), ada("Format the file for me."), bot("Formatted with spaces.")),
        (),
        (
            Unwanted("This user prefers spaces now.", "prefers spaces", _USER, corrects=_TABS),
            Unwanted("This user prefers spaces, not tabs.", "spaces tabs", ScopeKind.ORG, corrects=_TABS),
        ),
        (Known(_TABS, _USER, is_standing=True),),
    ),
    Conversation(
        "word-for-word-again",
        _IT,
        (ada("Deploy it there. Our staging cluster is in Frankfurt."), bot("Deployed.")),
        (),
        (Unwanted("Our staging cluster is in Frankfurt.", "frankfurt"),),
        (Known(_FRANKFURT),),
    ),
    Conversation(
        "in-other-words-again",
        _IT,
        (ada("We have staging in Frankfurt, so ping it from there."), bot("12 ms.")),
        (),
        (
            Unwanted("Staging is located in Frankfurt.", "frankfurt", restates=_FRANKFURT),
            Unwanted("The ping to staging takes 12 ms.", "12 ms"),
        ),
        (Known(_FRANKFURT),),
    ),
    Conversation(
        "an-echo-beside-something-new",
        _IT,
        (
            ada("Where is staging?"),
            bot("Our staging cluster is in Frankfurt."),
            ada("Thanks. Our production cluster is in Dublin."),
            bot("Good to know."),
        ),
        (Wanted("Our production cluster is in Dublin.", "production dublin"),),
        (Unwanted("The staging cluster stands in Frankfurt.", "staging frankfurt"),),
        (Known(_FRANKFURT, is_recalled=True),),
    ),
    Conversation(
        "labelled-for-everybody",
        _IT,
        (ada("Our on-call phone of this channel is answered by Cleo now."), bot("Noted.")),
        (
            Wanted(
                "The on-call phone of this channel is answered by Cleo.",
                "on-call|phone cleo",
                _CHANNEL,
                ScopeKind.ORG,
                corrects=_ON_CALL,
            ),
        ),
        known=(Known(_ON_CALL, _CHANNEL),),
    ),
    Conversation(
        "one-among-many",
        _IT,
        (
            ada("Correction: the database password rotates every 30 days. Adapt the reminder for the service pages."),
            bot("Adapted."),
        ),
        (Wanted("The database password rotates every 30 days.", "rotates 30", corrects=_ROTATION),),
        (Unwanted("The reminder was adapted.", "reminder"),),
        (
            Known(_ROTATION),
            *(Known(f"Service page {number} describes the reminder of service {number}.") for number in range(1, 25)),
        ),
    ),
)
