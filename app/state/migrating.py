"""Bringing a database's schema up to date."""

from sqlalchemy import Engine

from app.state.tables import metadata


def upgrade(engine: Engine) -> None:
    metadata.create_all(engine)
