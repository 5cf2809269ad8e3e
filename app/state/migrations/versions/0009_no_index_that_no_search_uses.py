"""Indexes that every turn kept up and no search has used."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_inbox_state_id", table_name="inbox")
    op.drop_index("ix_deliveries_state_created_at", table_name="deliveries")
    op.drop_index("ix_sessions_session_key_last_active_at", table_name="sessions")
