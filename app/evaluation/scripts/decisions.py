"""What was settled, by whom, and since when."""

from app.evaluation.script import Category, Conversation, Unwanted, Wanted, ada, ben, bot, cleo
from memory.scope import ScopeKind

_IT = Category.DECISIONS

CONVERSATIONS = (
    Conversation(
        "with-its-reason",
        _IT,
        (
            ada("Write that down: we decided to use Postgres for the ledger because of its row locks."),
            bot("MySQL has row locks, too, but I have written it down."),
        ),
        (Wanted("We decided to use Postgres for the ledger because of its row locks.", "postgres ledger"),),
        (Unwanted("MySQL has row locks, too.", "mysql"),),
    ),
    Conversation(
        "since-yesterday",
        _IT,
        (
            ada("Our old billing API is frozen since yesterday, new endpoints go to v2."),
            bot("Then I open the change against v2."),
        ),
        (
            Wanted(
                "The old billing API is frozen since 2026-11-24; new endpoints go to v2.",
                "billing frozen",
                ScopeKind.ORG,
            ),
        ),
    ),
    Conversation(
        "a-date-to-come",
        _IT,
        (ada("We drop Python 3.9 at the end of March 2027. Which files does that touch?"), bot("Eleven files.")),
        (Wanted("We drop Python 3.9 at the end of March 2027.", "python 3.9 march"),),
        (Unwanted("Dropping Python 3.9 touches eleven files.", "eleven|11 files", is_judgement=True),),
    ),
    Conversation(
        "proposed-by-one-and-agreed-by-another",
        _IT,
        (
            ben("I propose that audit logs are kept for 400 days."),
            ada("Agreed, audit logs are kept for 400 days."),
            bot("I will change the retention."),
        ),
        (Wanted("Audit logs are kept for 400 days.", "audit 400"),),
    ),
    Conversation(
        "who-is-responsible",
        _IT,
        (
            ada("Whom do I ask about invoices? Ah, right: Cleo is responsible for billing."),
            bot("Yes, ask Cleo."),
        ),
        (Wanted("Cleo is responsible for billing.", "cleo billing"),),
    ),
    Conversation(
        "what-was-rejected",
        _IT,
        (
            ada("Compare Kafka and Redis streams for us."),
            bot("Kafka scales further; Redis streams need no new service."),
            ada("We will not use Kafka, our volume does not justify it."),
            bot("Then Redis streams."),
        ),
        (Wanted("We will not use Kafka, our volume does not justify it.", "not|no|against|rejected kafka"),),
        (Unwanted("Kafka scales further than Redis streams.", "scales", is_judgement=True),),
    ),
    Conversation(
        "with-a-summary",
        _IT,
        (
            cleo("We decided that every service must expose a health check at /healthz."),
            ada("And our timeout for it is 2 seconds."),
            bot("I will add both to the template."),
        ),
        (
            Wanted("Every service must expose a health check at /healthz.", "service health"),
            Wanted("The timeout of the health check is 2 seconds.", "timeout 2|two"),
        ),
        summary=Wanted("It was decided how services expose a health check.", "health"),
    ),
)
