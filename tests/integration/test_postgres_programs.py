"""The PostgreSQL server that the tests start where the machine has none."""

import psycopg

from tests.state_databases import postgres_in_a_folder, program_of_wheel


def test_a_server_starts_from_the_programs_of_a_wheel() -> None:
    """As root or not, without Docker."""
    with postgres_in_a_folder(program_of_wheel) as server, psycopg.connect(server.new()) as connection:
        assert connection.info.server_version >= 160_000
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
