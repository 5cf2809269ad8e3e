"""What people want for themselves."""

from app.evaluation.script import Category, Conversation, Known, Unwanted, Wanted, ada, bot
from memory.scope import ScopeKind

_IT = Category.PREFERENCES
_USER = ScopeKind.USER

CONVERSATIONS = (
    Conversation(
        "short-answers",
        _IT,
        (
            ada("Why is the nightly import slow? I want short answers, and I prefer bullet points over prose."),
            bot("- it reads every row twice\n- the second read has no index"),
        ),
        (
            Wanted("This user wants short answers.", "short answers", _USER, is_standing=True),
            Wanted("This user prefers bullet points over prose.", "bullet prose", _USER, is_standing=True),
        ),
        (Unwanted("The nightly import reads every row twice.", "import twice"),),
    ),
    Conversation(
        "editor",
        _IT,
        (
            ada("How do I jump to a definition? I use Neovim with the gruvbox theme."),
            bot("Press gd. I added a mapping for you."),
        ),
        (Wanted("This user uses Neovim with the gruvbox theme.", "neovim", _USER, is_standing=False),),
        (Unwanted("A mapping was added for the user.", "mapping"),),
    ),
    Conversation(
        "where-somebody-works",
        _IT,
        (
            ada("Can you find a slot for the review? I work from Lisbon and never before 10:00."),
            bot("Thursday at 14:00 suits everybody."),
        ),
        (Wanted("This user works from Lisbon and never before 10:00.", "lisbon", _USER, is_standing=True),),
        (Unwanted("The review takes place on Thursday at 14:00.", "review thursday"),),
    ),
    Conversation(
        "units-from-now-on",
        _IT,
        (
            ada("How far is it to the data centre? From now on give me distances in kilometres."),
            bot("It is 42 kilometres."),
        ),
        (Wanted("This user wants distances in kilometres.", "distances kilomet", _USER, is_standing=True),),
        (Unwanted("The data centre is 42 kilometres away.", "42"),),
    ),
    Conversation(
        "pronouns",
        _IT,
        (ada("Draft the announcement for me. My pronouns are they/them."), bot("Here is a draft.")),
        (Wanted("This user's pronouns are they/them.", "pronouns they", _USER),),
    ),
    Conversation(
        "laptop",
        _IT,
        (
            ada("The build is slow again. My laptop is an M2 MacBook with 16 GB, so I need small Docker images."),
            bot("Try the slim base image."),
        ),
        (Wanted("This user's laptop is an M2 MacBook with 16 GB.", "m2 macbook", _USER),),
        (Unwanted("The build is slow again.", "build slow"),),
    ),
    Conversation(
        "a-guess-of-the-bot",
        _IT,
        (ada("What would you format this file with?"), bot("With four spaces: you prefer spaces to tabs.")),
        (),
        (Unwanted("This user prefers spaces to tabs.", "spaces tabs", _USER),),
    ),
    Conversation(
        "a-wish-that-is-known",
        _IT,
        (ada("As you know I prefer short answers. What is the retention of the logs?"), bot("Fourteen days.")),
        (),
        (
            Unwanted("This user likes brief answers.", "brief|short answers", _USER, restates="Prefers short answers."),
            Unwanted("The logs are kept for fourteen days.", "fourteen|14"),
        ),
        (Known("Prefers short answers.", _USER, is_standing=True),),
    ),
)
