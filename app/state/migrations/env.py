"""Alembic's way in: the steps run on the connection and in the transaction that ``app.state.migrating`` made."""

from alembic import context

from app.state.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
