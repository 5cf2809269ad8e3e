"""Runs say how many model calls they made; of earlier ones no more is known than whether there was any."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("calls", sa.Integer(), nullable=False, server_default="0"))
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    columns = [sa.column(name, sa.BigInteger()) for name in names]
    runs = sa.table("runs", sa.column("calls", sa.Integer()), sa.column("is_partial", sa.Boolean()), *columns)
    has_asked = sa.or_(runs.c.is_partial, *(runs.c[name] > 0 for name in names))
    op.execute(runs.update().where(has_asked).values(calls=1))
