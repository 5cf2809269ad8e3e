"""Several people in one thread: whose words are whose."""

from app.evaluation.script import Category, Conversation, Unwanted, Wanted, ada, ben, bot, cleo
from memory.scope import ScopeKind

_IT = Category.PEOPLE
_USER = ScopeKind.USER

CONVERSATIONS = (
    Conversation(
        "the-taste-of-another",
        _IT,
        (
            ben("I prefer dark mode and long explanations."),
            ada("Our style guide is in Notion. Open it, please."),
            bot("Here it is."),
        ),
        (Wanted("Our style guide is in Notion.", "style notion"),),
        (Unwanted("This user prefers dark mode and long explanations.", "dark", _USER),),
    ),
    Conversation(
        "each-for-themselves",
        _IT,
        (
            ada("I prefer dark mode."),
            ben("I prefer light mode. Show me the dashboard."),
            bot("Here is the dashboard in light mode."),
        ),
        (Wanted("This user prefers light mode.", "light mode", _USER, is_standing=True),),
        (Unwanted("This user prefers dark mode.", "dark mode", _USER),),
        asker="ben",
    ),
    Conversation(
        "one-asks-and-another-answers",
        _IT,
        (ada("Who owns the importer?"), ben("Cleo owns the importer."), bot("I will ask Cleo.")),
        (Wanted("Cleo owns the importer.", "cleo importer"),),
    ),
    Conversation(
        "in-the-first-person",
        _IT,
        (
            cleo("I maintain the exporter, so ask me before you change its format."),
            ada("Fine. We use Avro for it."),
            bot("Avro it is."),
        ),
        (
            Wanted("Cleo maintains the exporter and is asked before its format changes.", "cleo exporter"),
            Wanted("We use Avro for the exporter.", "avro"),
        ),
    ),
    Conversation(
        "a-rule-for-somebody-else",
        _IT,
        (
            ben("Ada always wants to be answered in French."),
            ada("Summarise the thread, please."),
            bot("Here is the summary."),
        ),
        (),
        (Unwanted("This user wants to be answered in French.", "french", _USER),),
    ),
    Conversation(
        "two-who-know-parts",
        _IT,
        (
            ben("Our staging cluster has three nodes."),
            cleo("And our production cluster has nine nodes."),
            ada("Write both into the runbook."),
            bot("Written."),
        ),
        (
            Wanted("Our staging cluster has three nodes.", "staging three|3"),
            Wanted("Our production cluster has nine nodes.", "production nine|9"),
        ),
    ),
    Conversation(
        "a-disagreement-settled",
        _IT,
        (
            ben("Let's keep backups for a week?"),
            cleo("No, we keep backups for 35 days, that is what the contract says."),
            ada("Right, 35 days."),
            bot("The retention is 35 days now."),
        ),
        (Wanted("We keep backups for 35 days because of the contract.", "backups 35"),),
        (Unwanted("Backups are kept for one week.", "week", is_judgement=True),),
    ),
)
