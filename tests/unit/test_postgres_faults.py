"""Why PostgreSQL could not be reached: the driver says it in words only, and the operator hears what to look at."""

import psycopg
import pytest

from memory.stores.postgres_faults import reason_of


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ('FATAL:  password authentication failed for user "bot"', "it refuses the login"),
        ("fe_sendauth: no password supplied", "it refuses the login"),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1"', "it refuses the login"),
        ('FATAL:  database "memory" does not exist', "the server has no such database"),
        ("FATAL:  sorry, too many clients already", "it has no connection left"),
        ("FATAL:  the database system is starting up", "it is shutting down or starting"),
        ("could not resolve host name", "there is no such host"),
        ("connection to server failed: Connection refused", "nobody listens there"),
        ("server closed the connection unexpectedly", "the connection was lost"),
    ],
)
def test_why_there_is_no_connection_is_told(told: str, reason: str) -> None:
    assert reason_of(psycopg.OperationalError(told)) == reason
