"""The first schema, and the full-text index of what was said."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _boots()
    _inbox()
    _overrides()
    _pending_reflections()
    _receipts()
    _runs()
    _sessions()
    _deliveries()
    _posts()
    _routes()
    _transcript()
    if op.get_bind().dialect.name == "sqlite":
        _full_text_sqlite()
    else:
        _full_text_postgresql()


def _boots() -> None:
    op.create_table(
        "boots",
        sa.Column("id", BIG_ID, nullable=False, autoincrement=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_boots"),
    )


def _inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("id", BIG_ID, nullable=False, autoincrement=True),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("address", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("begins", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.Text()),
        sa.Column("accepted_at", sa.BigInteger(), nullable=False),
        sa.Column("begun_at", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_inbox"),
        sa.UniqueConstraint("event_id", name="uq_inbox_event_id"),
        sa.UniqueConstraint("place", name="uq_inbox_place"),
    )
    op.create_index("ix_inbox_state_id", "inbox", ["state", "id"])


def _overrides() -> None:
    op.create_table(
        "overrides",
        sa.Column("layer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text()),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("layer", "subject", "name", name="pk_overrides"),
    )


def _pending_reflections() -> None:
    op.create_table(
        "pending_reflections",
        sa.Column("id", BIG_ID, nullable=False, autoincrement=True),
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_pending_reflections"),
    )
    op.create_index("ix_pending_reflections_not_before_at", "pending_reflections", ["not_before_at"])


def _receipts() -> None:
    op.create_table(
        "receipts",
        sa.Column("id", BIG_ID, nullable=False, autoincrement=True),
        sa.Column("command_id", sa.Text(), nullable=False),
        sa.Column("caller_id", sa.Text(), nullable=False),
        sa.Column("is_ok", sa.Boolean(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_receipts"),
    )
    op.create_index("ix_receipts_at", "receipts", ["at"])


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", BIG_ID, nullable=False, autoincrement=True),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text()),
        sa.Column("model", sa.Text()),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_read_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_microusd", sa.BigInteger()),
        sa.Column("cost_status", sa.Text(), nullable=False),
        sa.Column("memory_records", sa.Text()),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_channel_id_ended_at", "runs", ["channel_id", "ended_at"])
    op.create_index("ix_runs_ended_at", "runs", ["ended_at"])
    op.create_index("ix_runs_session_id", "runs", ["session_id"])
    op.create_index("ix_runs_user_id_ended_at", "runs", ["user_id", "ended_at"])


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("parent_session_id", sa.Text()),
        sa.Column("title", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_active_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("end_reason", sa.Text()),
        sa.PrimaryKeyConstraint("session_id", name="pk_sessions"),
        sa.UniqueConstraint("session_key", "title", name="uq_sessions_session_key_title"),
    )
    op.create_index("ix_sessions_session_key_last_active_at", "sessions", ["session_key", "last_active_at"])


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("inbox_id", BIG_ID, nullable=False),
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("turn", sa.Text()),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_deliveries_inbox_id", ondelete="CASCADE"),
    )
    op.create_index("ix_deliveries_inbox_id", "deliveries", ["inbox_id"])
    op.create_index("ix_deliveries_state_created_at", "deliveries", ["state", "created_at"])


def _posts() -> None:
    op.create_table(
        "posts",
        sa.Column("inbox_id", BIG_ID, nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("inbox_id", "position", name="pk_posts"),
        sa.ForeignKeyConstraint(["inbox_id"], ["inbox.id"], name="fk_posts_inbox_id", ondelete="CASCADE"),
    )


def _routes() -> None:
    op.create_table(
        "routes",
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("origin", sa.Text()),
        sa.Column("display_name", sa.Text()),
        sa.Column("platform", sa.Text()),
        sa.Column("chat_type", sa.Text(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_read_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_microusd", sa.BigInteger()),
        sa.Column("cost_status", sa.Text(), nullable=False),
        sa.Column("last_prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("was_auto_reset", sa.Boolean(), nullable=False),
        sa.Column("auto_reset_reason", sa.Text()),
        sa.Column("reset_had_activity", sa.Boolean(), nullable=False),
        sa.Column("is_fresh_reset", sa.Boolean(), nullable=False),
        sa.Column("expiry_finalized", sa.Boolean(), nullable=False),
        sa.Column("suspended", sa.Boolean(), nullable=False),
        sa.Column("resume_pending", sa.Boolean(), nullable=False),
        sa.Column("resume_reason", sa.Text()),
        sa.Column("last_resume_marked_at", sa.BigInteger()),
        sa.Column("active_turn_token", sa.Text()),
        sa.Column("active_turn_started_at", sa.BigInteger()),
        sa.Column("interrupted_boots", sa.Integer(), nullable=False),
        sa.Column("watermark", sa.Text()),
        sa.PrimaryKeyConstraint("session_key", name="pk_routes"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.session_id"], name="fk_routes_session_id"),
        sa.UniqueConstraint("session_id", name="uq_routes_session_id"),
    )
    op.create_index("ix_routes_thread_key", "routes", ["thread_key"])
    op.create_index("ix_routes_updated_at", "routes", ["updated_at"])


def _transcript() -> None:
    op.create_table(
        "transcript",
        sa.Column("id", BIG_ID, nullable=False, autoincrement=True),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("author", sa.Text()),
        sa.Column("user_id", sa.Text()),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("position", sa.Text()),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("is_compacted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_transcript"),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.session_id"], name="fk_transcript_session_id", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_transcript_session_id_is_active_id", "transcript", ["session_id", "is_active", "id"])


def _full_text_sqlite() -> None:
    """Rows of ``transcript`` by their words. The index is derived: it can be rebuilt from the table at any time.

    The triggers keep it in step (https://sqlite.org/fts5.html#external_content_tables). Every row is in it, active
    or not, so that switching a row's state costs nothing here; whoever searches looks at ``transcript.is_active``.
    """
    taken_out = "INSERT INTO transcript_fts(transcript_fts, rowid, content) VALUES ('delete', old.id, old.content);"
    put_in = "INSERT INTO transcript_fts(rowid, content) VALUES (new.id, new.content);"
    op.execute(
        "CREATE VIRTUAL TABLE transcript_fts USING fts5("
        "content, content='transcript', content_rowid='id', tokenize='unicode61 remove_diacritics 2')"
    )
    for name, moment, statements in (
        ("transcript_fts_insert", "AFTER INSERT", put_in),
        ("transcript_fts_delete", "AFTER DELETE", taken_out),
        ("transcript_fts_update", "AFTER UPDATE OF id, content", f"{taken_out} {put_in}"),
    ):
        op.execute(f"CREATE TRIGGER {name} {moment} ON transcript BEGIN {statements} END")


def _full_text_postgresql() -> None:
    # A text search vector holds a megabyte at most, so that of a longer line only the beginning is indexed.
    words = "to_tsvector('simple', left(content, 100000))"
    op.execute(f"CREATE INDEX ix_transcript_content_words ON transcript USING gin ({words})")
