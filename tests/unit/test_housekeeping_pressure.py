"""Memory pressure: what the machine tells, what is let go, and what never is (session lifecycle, section 11)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from app.sessions.entry import SessionKey
from app.sessions.pressure import (
    FLOOR_BYTES,
    MB,
    MEMORY_OVER_BUDGET,
    Evictable,
    MemoryGauge,
    MemoryHigh,
    PressurePass,
    PressureRules,
    Reading,
    budget_bytes,
    parse_groups,
    parse_kb,
    parse_limit,
    parse_stat,
    shed,
    trim,
)

GB = 1024 * MB

MEMINFO = """MemTotal:       24684084 kB
MemFree:        19236408 kB
MemAvailable:   21784324 kB
"""
STATUS = """Name:\tpython
VmRSS:\t  812000 kB
RssAnon:\t  700000 kB
RssFile:\t  112000 kB
RssShmem:\t       0 kB
"""
SMAPS_ROLLUP = """556350fd0000-7fff586fc000 ---p 00000000 00:00 0                          [rollup]
Rss:                1764 kB
Pss_Anon:            112 kB
Private_Dirty:       112 kB
Anonymous:           600000 kB
Swap:                  0 kB
"""
STAT_V2 = """anon 1572864000
file 819200
kernel 4096000
anon_thp 0
inactive_anon 1048576
"""
STAT_V1 = """cache 9723904
rss 10371072
shmem 9084928
hierarchical_memory_limit 9223372036854771712
total_cache 2658971648
total_rss 2081415168
total_rss_huge 0
"""
GROUPS_V1 = """9:name=systemd:/
6:cpu,cpuacct:/app
4:memory:/app
0::/
"""
UNLIMITED_V1 = "9223372036854771712\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("max\n", None), ("2147483648\n", 2 * GB), (UNLIMITED_V1, None), ("", None), ("-1\n", None), ("0\n", 0)],
)
def test_a_limit_is_read_or_there_is_none(text: str, expected: int | None) -> None:
    assert parse_limit(text) == expected


def test_anonymous_memory_is_read_from_both_kinds_of_statistics() -> None:
    assert parse_stat(STAT_V2) == 1_572_864_000
    assert parse_stat(STAT_V1) == 2_081_415_168
    assert parse_stat("") is None
    assert parse_stat("anon lots\n") is None


def test_figures_of_proc_are_kilobytes() -> None:
    assert parse_kb(MEMINFO, "MemTotal") == 24_684_084 * 1024
    assert parse_kb(STATUS, "RssAnon") == 700_000 * 1024
    assert parse_kb(SMAPS_ROLLUP, "Anonymous") == 600_000 * 1024
    assert parse_kb(STATUS, "Name") is None
    assert parse_kb("", "MemTotal") is None


def test_the_process_finds_its_groups() -> None:
    assert parse_groups("0::/system.slice/bot.service\n") == {"": "/system.slice/bot.service"}
    assert parse_groups(GROUPS_V1) == {"name=systemd": "/", "cpu": "/app", "cpuacct": "/app", "memory": "/app", "": "/"}


def machine(root: Path, files: Mapping[str, str]) -> MemoryGauge:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return MemoryGauge(root)


PROC = {"proc/meminfo": MEMINFO, "proc/self/status": STATUS, "proc/self/smaps_rollup": SMAPS_ROLLUP}
IN_SERVICE = {"proc/self/cgroup": "0::/system.slice/bot.service\n"}
SERVICE, SLICE = "sys/fs/cgroup/system.slice/bot.service", "sys/fs/cgroup/system.slice"


@pytest.mark.parametrize(
    ("files", "limit", "anonymous"),
    [
        pytest.param(
            {
                **IN_SERVICE,
                f"{SERVICE}/memory.high": "1073741824\n",
                f"{SERVICE}/memory.max": "2147483648\n",
                f"{SERVICE}/memory.stat": STAT_V2,
            },
            GB,
            1_572_864_000,
            id="high goes before max",
        ),
        pytest.param(
            {
                **IN_SERVICE,
                f"{SERVICE}/memory.high": "max\n",
                f"{SERVICE}/memory.max": "2147483648\n",
                f"{SERVICE}/memory.stat": STAT_V2,
            },
            2 * GB,
            1_572_864_000,
            id="max without high",
        ),
        pytest.param(
            {
                **IN_SERVICE,
                f"{SERVICE}/memory.high": "max\n",
                f"{SERVICE}/memory.max": "max\n",
                f"{SERVICE}/memory.stat": "anon 1\n",
                f"{SLICE}/memory.max": "3221225472\n",
                f"{SLICE}/memory.stat": STAT_V2,
            },
            3 * GB,
            1_572_864_000,
            id="the limit of a group around it, with that group's use",
        ),
        pytest.param(
            {
                "proc/self/cgroup": "0::/../../docker/0123\n",
                "sys/fs/cgroup/memory.max": "2147483648\n",
                "sys/fs/cgroup/memory.stat": STAT_V2,
            },
            2 * GB,
            1_572_864_000,
            id="a container that sees only its own group",
        ),
        pytest.param(
            {
                "proc/self/cgroup": GROUPS_V1,
                "sys/fs/cgroup/memory/app/memory.limit_in_bytes": "4294967296\n",
                "sys/fs/cgroup/memory/app/memory.stat": STAT_V1,
            },
            4 * GB,
            2_081_415_168,
            id="version 1",
        ),
        pytest.param(
            {
                "proc/self/cgroup": GROUPS_V1,
                "sys/fs/cgroup/memory/app/memory.limit_in_bytes": UNLIMITED_V1,
                "sys/fs/cgroup/memory/app/memory.stat": STAT_V1,
            },
            None,
            600_000 * 1024,
            id="no limit: the process's own memory",
        ),
        pytest.param(
            {**IN_SERVICE, f"{SERVICE}/memory.max": "2147483648\n"},
            2 * GB,
            600_000 * 1024,
            id="a limit without statistics",
        ),
    ],
)
def test_the_nearest_limit_counts_and_use_is_measured_where_it_is_charged(
    tmp_path: Path, files: Mapping[str, str], limit: int | None, anonymous: int
) -> None:
    gauge = machine(tmp_path, {**PROC, **files})
    assert gauge.read() == Reading(limit, 24_684_084 * 1024, anonymous)


def test_without_a_rollup_the_status_tells_and_without_proc_nothing_does(tmp_path: Path) -> None:
    assert machine(tmp_path / "old", {"proc/self/status": STATUS}).read() == Reading(None, None, 700_000 * 1024)
    assert MemoryGauge(tmp_path / "elsewhere").read() == Reading(None, None, None)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux only")
def test_this_machine_can_be_read() -> None:
    reading = MemoryGauge().read()
    assert reading.total_bytes is not None
    assert reading.anonymous_bytes is not None
    assert 0 < reading.anonymous_bytes < reading.total_bytes


@pytest.mark.parametrize(
    ("setting", "limit", "total", "expected"),
    [
        ("auto", 4 * GB, 16 * GB, int(4 * GB * 0.65)),
        ("auto", None, 16 * GB, int(16 * GB * 0.65)),
        ("auto", 64 * GB, 16 * GB, int(16 * GB * 0.65)),
        ("auto", 700 * MB, 16 * GB, FLOOR_BYTES),
        ("auto", 640 * MB, 16 * GB, FLOOR_BYTES),
        # Of less than that, a floor would be more than there is room for.
        ("auto", 513 * MB, 16 * GB, int(513 * MB * 0.8)),
        ("auto", 512 * MB, 16 * GB, int(512 * MB * 0.8)),
        ("auto", 256 * MB, 16 * GB, int(256 * MB * 0.8)),
        ("auto", 4 * GB, 256 * MB, int(256 * MB * 0.8)),
        ("auto", 0, 16 * GB, 0),
        ("auto", 2 * GB, None, int(2 * GB * 0.65)),
        ("auto", None, None, None),
        (300, 4 * GB, 16 * GB, 300 * MB),
        (0, 4 * GB, 16 * GB, None),
        ("off", 4 * GB, 16 * GB, None),
    ],
)
def test_the_budget_is_a_share_of_what_is_allowed_or_what_the_operator_says(
    setting: MemoryHigh, limit: int | None, total: int | None, expected: int | None
) -> None:
    assert FLOOR_BYTES == 512 * MB
    assert budget_bytes(setting, Reading(limit, total, None)) == expected


@given(limit=st.integers(min_value=1, max_value=64 * GB), more=st.integers(min_value=0, max_value=GB))
def test_the_budget_is_below_what_is_allowed_and_grows_with_it(limit: int, more: int) -> None:
    small = budget_bytes("auto", Reading(limit, None, None))
    large = budget_bytes("auto", Reading(limit + more, None, None))
    assert small is not None
    assert large is not None
    assert small < limit
    assert small <= large


def loose(count: int) -> list[Evictable]:
    return [Evictable(SessionKey(f"k{number}")) for number in range(count)]


def test_the_least_recently_used_go_first_and_no_more_than_a_pass_may_take() -> None:
    assert shed(loose(40), max_evictions_per_pass=16, protect_recent=8) == tuple(f"k{number}" for number in range(16))
    assert shed(loose(12), max_evictions_per_pass=16, protect_recent=8) == tuple(f"k{number}" for number in range(6))
    assert shed(loose(1), max_evictions_per_pass=16, protect_recent=8) == ("k0",)
    assert shed([], max_evictions_per_pass=16, protect_recent=8) == ()


@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40),
    st.integers(1, 20),
    st.integers(0, 12),
)
def test_nobody_at_work_unwritten_or_recent_is_ever_shed(
    flags: list[tuple[bool, bool]], max_evictions: int, protect_recent: int
) -> None:
    everybody = [
        Evictable(SessionKey(f"k{number}"), is_pinned=pinned, is_flushed=flushed)
        for number, (pinned, flushed) in enumerate(flags)
    ]
    gone = shed(everybody, max_evictions_per_pass=max_evictions, protect_recent=protect_recent)
    recent = min(protect_recent, len(everybody) // 2)
    may_go = [each.key for each in everybody[: len(everybody) - recent] if each.is_flushed and not each.is_pinned]
    assert list(gone) == may_go[:max_evictions]


class Shelf:
    """Conversations that count how they are let go."""

    def __init__(self, evictables: Sequence[Evictable]) -> None:
        self.there = list(evictables)

    def evictables(self) -> Sequence[Evictable]:
        return self.there

    def let_go(self, keys: Sequence[SessionKey]) -> int:
        before = len(self.there)
        self.there = [each for each in self.there if each.key not in keys]
        return before - len(self.there)


async def test_over_its_budget_each_pass_lets_some_go_and_says_so(tmp_path: Path) -> None:
    gauge, shelf = machine(tmp_path, PROC), Shelf(loose(5))
    pressure = PressurePass(shelf, gauge, PressureRules(500, max_evictions_per_pass=2, protect_recent=2))
    with structlog.testing.capture_logs() as lines:
        assert [await pressure.run() for _ in range(2)] == [2, 2]
    assert [each.key for each in shelf.there] == ["k4"]
    line = {"event": MEMORY_OVER_BUDGET, "log_level": "warning", "used_mb": 585, "budget_mb": 500, "let_go": 2}
    assert lines == [line, line]


async def test_pressure_that_nothing_relieves_is_told_once_until_it_has_gone(tmp_path: Path) -> None:
    gauge, shelf = machine(tmp_path, PROC), Shelf([])
    pressure = PressurePass(shelf, gauge, PressureRules(memory_high_mb=500))
    with structlog.testing.capture_logs() as lines:
        for anonymous_kb in (600_000, 600_000, 1_000, 600_000):
            machine(tmp_path, {"proc/self/smaps_rollup": f"Anonymous: {anonymous_kb} kB\n"})
            assert await pressure.run() == 0
    assert [line["let_go"] for line in lines] == [0, 0]


@pytest.mark.parametrize("setting", ["off", 0, 10_000, "auto"])
async def test_below_the_budget_or_without_one_nothing_is_let_go(tmp_path: Path, setting: MemoryHigh) -> None:
    shelf = Shelf(loose(30))
    assert await PressurePass(shelf, machine(tmp_path, PROC), PressureRules(setting)).run() == 0
    assert len(shelf.there) == 30


async def test_where_nothing_is_known_of_memory_nothing_is_let_go(tmp_path: Path) -> None:
    shelf = Shelf(loose(30))
    assert await PressurePass(shelf, MemoryGauge(tmp_path), PressureRules(1)).run() == 0


@pytest.mark.skipif(not Path("/lib/x86_64-linux-gnu/libc.so.6").exists(), reason="glibc only")
def test_freed_memory_goes_back_to_the_system_where_the_c_library_can() -> None:
    assert trim()
