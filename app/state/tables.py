"""Every table of the state database. A change here comes with a migration."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, MetaData, Table, Text, UniqueConstraint

from app.state.columns import BigId, Instant

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

inbox = Table(
    "inbox",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=True),  # the order of arrival
    Column("event_id", Text, nullable=False, unique=True),
    Column("place", Text, nullable=False, unique=True),  # workspace|channel|position
    Column("session_key", Text, nullable=False),
    Column("thread_key", Text, nullable=False),
    Column("payload", Text, nullable=False),  # the message as JSON; emptied once it has ended
    Column("address", Text),  # how its channel finds the conversation again; without one it dies with the process
    Column("state", Text, nullable=False),  # waiting, begun, command (begun, and not to be done again), ended
    Column("begins", Integer, nullable=False, default=0),  # how often its turn was begun
    Column("outcome", Text),
    Column("accepted_at", Instant, nullable=False),
    Column("begun_at", Instant),
    Column("ended_at", Instant),
    Column("stands_at", BigId),  # the row whose place in line it has; without one its own
)

posts = Table(
    "posts",
    metadata,
    Column("inbox_id", BigId, ForeignKey(inbox.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", Text, primary_key=True),  # a message that an answer made on the platform
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("session_key", Text, nullable=False),
    Column("parent_session_id", Text),
    Column("title", Text),
    Column("created_at", Instant, nullable=False),
    Column("last_active_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("end_reason", Text),
    UniqueConstraint("session_key", "title"),
)

routes = Table(
    "routes",
    metadata,
    Column("session_key", Text, primary_key=True),
    Column("session_id", Text, ForeignKey(sessions.c.session_id), nullable=False, unique=True),
    Column("thread_key", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("origin", Text),  # the source as JSON
    Column("display_name", Text),
    Column("platform", Text),
    Column("chat_type", Text, nullable=False),
    Column("input_tokens", BigInteger, nullable=False, default=0),
    Column("output_tokens", BigInteger, nullable=False, default=0),
    Column("cache_read_tokens", BigInteger, nullable=False, default=0),
    Column("cache_write_tokens", BigInteger, nullable=False, default=0),
    Column("cost_microusd", BigInteger),
    Column("cost_status", Text, nullable=False, default="unknown"),
    Column("last_prompt_tokens", BigInteger, nullable=False, default=0),
    Column("was_auto_reset", Boolean, nullable=False, default=False),
    Column("auto_reset_reason", Text),
    Column("reset_had_activity", Boolean, nullable=False, default=False),
    Column("is_fresh_reset", Boolean, nullable=False, default=False),
    Column("expiry_finalized", Boolean, nullable=False, default=False),
    Column("suspended", Boolean, nullable=False, default=False),
    Column("resume_pending", Boolean, nullable=False, default=False),
    Column("resume_reason", Text),
    Column("last_resume_marked_at", Instant),
    Column("active_turn_token", Text),
    Column("active_turn_started_at", Instant),
    Column("interrupted_boots", Integer, nullable=False, default=0),  # restarts in a row that found it in mid-turn
    Column("watermark", Text),  # the last position of the thread that the transcript accounts for
    Index(None, "thread_key"),
    Index(None, "updated_at"),
)

transcript = Table(
    "transcript",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=True),
    Column("session_id", Text, ForeignKey(sessions.c.session_id, ondelete="CASCADE"), nullable=False),
    Column("role", Text, nullable=False),  # user, assistant
    Column("kind", Text, nullable=False),  # said, observed, summary
    Column("author", Text),
    Column("user_id", Text),
    Column("content", Text, nullable=False),
    Column("position", Text),
    Column("at", Instant, nullable=False),
    Column("is_active", Boolean, nullable=False, default=True),
    Column("is_compacted", Boolean, nullable=False, default=False),
    Column("directives", Text),  # what the message asked for about its own answer, as it is typed
    Column("files", Integer, nullable=False, default=0),  # how many came with it
    Index(None, "session_id", "is_active", "id"),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Text, primary_key=True),  # of session key, message and content, so that one answer is one row
    Column("inbox_id", BigId, ForeignKey(inbox.c.id, ondelete="CASCADE"), nullable=False),
    Column("session_key", Text, nullable=False),
    Column("text", Text, nullable=False),  # emptied once delivered
    Column("turn", Text),  # what is committed with it, as JSON
    Column("state", Text, nullable=False),  # pending, delivered
    Column("attempts", Integer, nullable=False, default=0),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Index(None, "inbox_id"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=True),
    Column("reference", Text, nullable=False),
    Column("session_key", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("channel_id", Text, nullable=False),
    Column("task", Text, nullable=False),  # turn, compression
    Column("agent", Text),
    Column("model", Text),
    Column("outcome", Text, nullable=False),
    Column("input_tokens", BigInteger, nullable=False, default=0),
    Column("output_tokens", BigInteger, nullable=False, default=0),
    Column("cache_read_tokens", BigInteger, nullable=False, default=0),
    Column("cache_write_tokens", BigInteger, nullable=False, default=0),
    Column("is_partial", Boolean, nullable=False, default=False),  # more tokens than were counted
    Column("calls", Integer, nullable=False, default=1),  # that a model took up
    Column("cost_microusd", BigInteger),  # NULL: unknown
    Column("cost_status", Text, nullable=False),
    Column("memory_records", Text),  # ids of the records that went into it, as a JSON list
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant, nullable=False),
    Index(None, "session_id"),
    Index(None, "user_id", "ended_at"),
    Index(None, "channel_id", "ended_at"),
    Index(None, "ended_at"),
)

receipts = Table(
    "receipts",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=True),
    Column("command_id", Text, nullable=False),
    Column("caller_id", Text, nullable=False),
    Column("is_ok", Boolean, nullable=False),
    Column("summary", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Index(None, "at"),
)

overrides = Table(
    "overrides",
    metadata,
    Column("layer", Text, primary_key=True),  # thread, user, channel
    Column("subject", Text, primary_key=True),
    Column("name", Text, primary_key=True),  # agent, model, effort, repo, instructions
    Column("value", Text),
    Column("version", Integer, nullable=False),
    Column("updated_by", Text, nullable=False),
    Column("updated_at", Instant, nullable=False),
)

pending_reflections = Table(
    "pending_reflections",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=True),
    Column("session_key", Text, nullable=False),
    Column("payload", Text, nullable=False),  # the turn, and what could not be written of it, as JSON
    Column("is_begun", Boolean, nullable=False, default=False),  # somebody is at it
    Column("attempts", Integer, nullable=False, default=0),
    Column("not_before_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index(None, "not_before_at"),
)

erasures = Table(
    "erasures",
    metadata,
    Column("kind", Text, primary_key=True),  # thread, person
    Column("subject", Text, primary_key=True),  # the thread key, or the person's id
    Column("erased_at", Instant, nullable=False),  # what was said by then is not learned from any more
)

reviews = Table(
    "reviews",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=True),
    Column("scope_key", Text, nullable=False),
    Column("candidate", Text, nullable=False),  # what would be remembered, as JSON; emptied once decided about
    Column("source_user", Text),
    Column("thread_key", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("decided_at", Instant),
    Column("decided_by", Text),
    Column("decision", Text),  # approved, rejected
    Index(None, "scope_key", "decided_at"),
)

boots = Table(
    "boots",
    metadata,
    Column("id", BigId, primary_key=True, autoincrement=True),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),  # set by an orderly stop: the clean-shutdown mark
)
