"""Runs as rows: written inside whatever transaction they belong to, and summed up."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, not_, or_, select

from app.agents.pricing import AT_LEAST, INCLUDED, Total
from app.sessions.entry import Tokens
from app.sessions.usage import By, Run, Share, Spent, Which
from app.state.prepared import Prepared
from app.state.tables import runs

_INSERT = Prepared(runs.insert())
_COLUMNS = {By.USER: runs.c.user_id, By.CHANNEL: runs.c.channel_id, By.MODEL: runs.c.model, By.TASK: runs.c.task}

_KNOWN = func.coalesce(func.sum(runs.c.cost_microusd), 0)
_TOKENS = [
    func.coalesce(func.sum(column), 0)
    for column in (runs.c.input_tokens, runs.c.output_tokens, runs.c.cache_read_tokens, runs.c.cache_write_tokens)
]
_RUN_TOKENS = runs.c.input_tokens + runs.c.output_tokens + runs.c.cache_read_tokens + runs.c.cache_write_tokens
_ALL_TOKENS = func.sum(_RUN_TOKENS)
_UNKNOWN = runs.c.cost_microusd.is_(None)
_UNCOUNTED = and_(_UNKNOWN, runs.c.is_partial, _RUN_TOKENS == 0)
"""Ended before its provider told of any token: it adds to a sum, and is no reason to hide it."""
_SUMS: Sequence[ColumnElement[Any]] = (
    *_TOKENS,
    _KNOWN,
    func.count(runs.c.id),
    func.count(case((runs.c.cost_status == INCLUDED, 1))),
    func.count(case((and_(_UNKNOWN, not_(_UNCOUNTED)), 1))),
    func.count(case((or_(runs.c.cost_status == AT_LEAST, _UNCOUNTED), 1))),
    func.count(case((runs.c.is_partial, 1))),
    func.coalesce(func.sum(runs.c.calls), 0),
)


def insert(connection: Connection, run: Run) -> None:
    row = {
        "reference": run.reference,
        "session_key": run.session_key,
        "session_id": run.session_id,
        "user_id": run.user_id,
        "channel_id": run.channel_id,
        "task": run.task.value,
        "agent": run.agent,
        "model": run.model,
        "outcome": run.outcome,
        "input_tokens": run.tokens.input,
        "output_tokens": run.tokens.output,
        "cache_read_tokens": run.tokens.cache_read,
        "cache_write_tokens": run.tokens.cache_write,
        "is_partial": run.tokens.is_partial,
        "calls": run.calls,
        "cost_microusd": run.cost.microusd,
        "cost_status": run.cost.status,
        "memory_records": json.dumps(run.memory_records) if run.memory_records else None,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
    }
    _INSERT.rows(connection, row)


def total(connection: Connection, which: Which) -> Spent:
    return _spent(connection.execute(select(*_SUMS).where(*_conditions(which))).one())


def shares(connection: Connection, by: By, which: Which, limit: int) -> Sequence[Share]:
    column = _COLUMNS[by]
    rows = connection.execute(
        select(column, *_SUMS)
        .where(*_conditions(which))
        .group_by(column)
        .order_by(_KNOWN.desc(), _ALL_TOKENS.desc(), column.nulls_last())
        .limit(limit)
    )
    return [Share(row[0], _spent(row[1:])) for row in rows]


def _conditions(which: Which) -> Sequence[ColumnElement[bool]]:
    given = (
        (runs.c.session_key, which.session_key),
        (runs.c.session_id, which.session_id),
        (runs.c.user_id, which.user_id),
        (runs.c.channel_id, which.channel_id),
    )
    conditions: list[ColumnElement[bool]] = [column == value for column, value in given if value is not None]
    if which.since is not None:
        conditions.append(runs.c.ended_at >= which.since)
    return conditions


def _spent(sums: Sequence[Any]) -> Spent:
    """PostgreSQL sums whole numbers up to decimal ones."""
    fresh, output, read, written, known, count, included, unknown, at_least, partial, calls = map(int, sums)
    tokens = Tokens(fresh, output, read, written, is_partial=partial > 0)
    return Spent(tokens, Total(known, count, included, unknown, at_least), calls)
