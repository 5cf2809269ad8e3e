"""German and French: what is said stays in the language it was said in."""

from app.evaluation.script import Category, Conversation, Known, Unwanted, Wanted, ada, ben, bot
from memory.scope import ScopeKind

_IT = Category.LANGUAGES
_USER = ScopeKind.USER
_INVOICES = "Die Rechnungen gehen am Monatsersten raus."

CONVERSATIONS = (
    Conversation(
        "deploys-in-german",
        _IT,
        (
            ada("Geht das morgen raus? Wir deployen immer dienstags und nie am Freitag."),
            bot("Dann am Dienstag."),
        ),
        (Wanted("Wir deployen immer dienstags und nie am Freitag.", "deploy dienstag freitag"),),
    ),
    Conversation(
        "short-answers-in-german",
        _IT,
        (ada("Ich bevorzuge kurze Antworten. Wo liegt das Handbuch?"), bot("Im Wiki.")),
        (Wanted("Diese Person bevorzugt kurze Antworten.", "bevorzug kurze antworten", _USER, is_standing=True),),
        (Unwanted("Das Handbuch liegt im Wiki.", "wiki"),),
    ),
    Conversation(
        "a-decision-in-german",
        _IT,
        (
            ada("Wir haben beschlossen, das Reporting mit ClickHouse zu bauen. Legst du das Projekt an?"),
            bot("Das Projekt ist angelegt."),
        ),
        (
            Wanted(
                "Es wurde beschlossen, das Reporting mit ClickHouse zu bauen.", "reporting clickhouse", ScopeKind.ORG
            ),
        ),
        (Unwanted("Das Projekt wurde angelegt.", "angelegt"),),
    ),
    Conversation(
        "noise-in-german",
        _IT,
        (ada("Unser PR 12 wurde gemergt, alle Tests sind grün."), bot("Sehr schön!")),
        (),
        (Unwanted("PR 12 wurde gemergt, alle Tests sind grün.", "12"),),
    ),
    Conversation(
        "a-correction-in-german",
        _IT,
        (ada("Korrektur: unsere Rechnungen gehen am Monatsletzten raus."), bot("Danke, ist notiert.")),
        (Wanted("Die Rechnungen gehen am Monatsletzten raus.", "rechnungen monatsletzt", corrects=_INVOICES),),
        known=(Known(_INVOICES),),
    ),
    Conversation(
        "two-languages-in-one-thread",
        _IT,
        (
            ben("Unser Testsystem steht in Nürnberg."),
            ada("And our production system is in Helsinki."),
            bot("Nuremberg for tests, Helsinki for production."),
        ),
        (
            Wanted("Unser Testsystem steht in Nürnberg.", "testsystem nürnberg|nuremberg"),
            Wanted("Our production system is in Helsinki.", "production helsinki"),
        ),
    ),
    Conversation(
        "a-habit-in-french",
        _IT,
        (
            ada("Nous utilisons GitLab pour tous les dépôts. Tu peux créer le mien ?"),
            bot("C'est fait : le dépôt est créé."),
        ),
        (Wanted("Nous utilisons GitLab pour tous les dépôts.", "gitlab dépôts"),),
        (Unwanted("Le dépôt a été créé.", "créé"),),
    ),
    Conversation(
        "a-preference-in-french",
        _IT,
        (ada("Je préfère les réponses en français. Où est le guide ?"), bot("Dans le wiki.")),
        (
            Wanted(
                "Cet utilisateur préfère les réponses en français.",
                "préfère réponses français",
                _USER,
                is_standing=True,
            ),
        ),
    ),
)
