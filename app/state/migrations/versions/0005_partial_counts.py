"""Runs say whether all of their tokens were counted."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("is_partial", sa.Boolean(), nullable=False, server_default=sa.false()))
