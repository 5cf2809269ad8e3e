"""A turn's directives and files are kept with it; what a command has answered keeps the command's place in line."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

BIG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("transcript", sa.Column("directives", sa.Text()))
    op.add_column("transcript", sa.Column("files", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("inbox", sa.Column("stands_at", BIG_ID))
