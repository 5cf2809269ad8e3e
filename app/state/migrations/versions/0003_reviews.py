"""What looks like an instruction is kept for a person to decide about."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", BIG_ID, nullable=False, autoincrement=True),
        sa.Column("scope_key", sa.Text(), nullable=False),
        sa.Column("candidate", sa.Text(), nullable=False),
        sa.Column("source_user", sa.Text()),
        sa.Column("thread_key", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger()),
        sa.Column("decided_by", sa.Text()),
        sa.Column("decision", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_reviews"),
    )
    op.create_index("ix_reviews_scope_key_decided_at", "reviews", ["scope_key", "decided_at"])
