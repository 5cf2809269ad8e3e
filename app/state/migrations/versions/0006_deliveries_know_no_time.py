"""When a delivery is tried again is the process's to know; a new one tries it at once."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_column("deliveries", "next_at")
