"""Reflections are marked while somebody is at them."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    is_begun = sa.Column("is_begun", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("pending_reflections", is_begun)
