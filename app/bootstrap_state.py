"""The part of the composition root that opens the bot's own records: conversations, queues, settings, receipts."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from app.clock import Clock
from app.dispatch.journal import Journal
from app.dispatch.keying import Keying
from app.dispatch.reflecting import PendingReflections
from app.dispatch.unlearning import Erasures
from app.sessions.cache import ConversationCache
from app.sessions.cached_transcripts import CachedTranscripts
from app.sessions.key import KeyRules
from app.sessions.store import SessionStore
from app.sessions.usage import Usage
from app.state.erasures import StateErasures
from app.state.journal import StateJournal
from app.state.lock import holding
from app.state.opening import default_url, open_database
from app.state.preferences import StatePreferences
from app.state.receipts import StateReceipts
from app.state.reflections import StateReflections
from app.state.reviews import StateReviews
from app.state.sessions import StateSessions
from app.state.usage import StateUsage
from config.settings import Settings


@dataclass(frozen=True, slots=True)
class State:
    """Everything that outlives the process but memory."""

    journal: Journal
    sessions: SessionStore
    cache: ConversationCache
    transcripts: CachedTranscripts
    preferences: StatePreferences
    receipts: StateReceipts
    usage: Usage
    reflections: PendingReflections
    erasures: Erasures
    reviews: StateReviews
    keying: Keying


@asynccontextmanager
async def open_state(settings: Settings, clock: Clock, *, is_bot: bool) -> AsyncGenerator[State]:
    """The state database the settings name, closed when the context ends.

    ``is_bot``: no other bot may use the same one meanwhile; a terminal beside it may. Raises ``StateError``'s tree,
    and ``ConfigurationError`` where a bot runs already.
    """
    keying = keying_of(settings)
    url = state_url(settings)
    async with AsyncExitStack() as stack:
        if is_bot:
            await stack.enter_async_context(holding(url))
        database = await stack.enter_async_context(open_database(url, clock))
        sessions = StateSessions(database, clock, keying.rules)
        kept = settings.sessions.cache
        cache = ConversationCache(clock, max_size=kept.max_size, idle_ttl_s=kept.idle_ttl_s)
        yield State(
            journal=StateJournal(database, clock),
            sessions=sessions,
            cache=cache,
            transcripts=CachedTranscripts(sessions, cache),
            preferences=StatePreferences(database, clock.now),
            receipts=StateReceipts(database),
            usage=StateUsage(database),
            reflections=StateReflections(database, clock),
            erasures=StateErasures(database, clock),
            reviews=StateReviews(database, clock),
            keying=keying,
        )


def state_url(settings: Settings) -> str:
    url = settings.state.url
    return default_url(settings.data_dir) if url is None else url.get_secret_value()


def keying_of(settings: Settings) -> Keying:
    sessions = settings.sessions
    rules = KeyRules(sessions.group_sessions_per_user, sessions.thread_sessions_per_user)
    return Keying(rules, sessions.dm_top_level_threads_as_sessions)
