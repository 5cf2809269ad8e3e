"""Work that is asked for several times is done once."""

import asyncio

import pytest

from app.slack.once import Once


class Work:
    """Counts how often it is begun; goes on when it may."""

    def __init__(self, *faults: Exception) -> None:
        self.begun = 0
        self.may_go_on = asyncio.Event()
        self._faults = list(faults)

    async def __call__(self) -> None:
        self.begun += 1
        await self.may_go_on.wait()
        if self._faults:
            raise self._faults.pop(0)


async def test_those_who_ask_meanwhile_wait_for_the_end_of_it_and_those_who_ask_later_do_not() -> None:
    once, work = Once[str](), Work()
    asking = [asyncio.ensure_future(once.do("a", work)) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(each.done() for each in asking)
    work.may_go_on.set()
    await asyncio.gather(*asking)
    await once.do("a", work)
    assert work.begun == 1
    await once.do("b", work)
    assert work.begun == 2


async def test_what_failed_is_tried_by_the_next_one_who_waits() -> None:
    once, work = Once[str](), Work(ZeroDivisionError())
    first, second = (asyncio.ensure_future(once.do("a", work)) for _ in range(2))
    work.may_go_on.set()
    with pytest.raises(ZeroDivisionError):
        await first
    await second
    assert work.begun == 2


async def test_whether_it_is_done_is_told_once_whoever_does_it_is_over() -> None:
    once, work = Once[str](), Work(ZeroDivisionError())
    assert not await once.is_done("a")
    doing, asking = asyncio.ensure_future(once.do("a", work)), asyncio.ensure_future(once.is_done("a"))
    await asyncio.sleep(0)
    assert not asking.done()
    work.may_go_on.set()
    with pytest.raises(ZeroDivisionError):
        await doing
    assert not await asking
    await once.do("a", work)
    assert await once.is_done("a")


async def test_one_who_no_longer_waits_takes_it_from_nobody() -> None:
    once, work = Once[str](), Work()
    first, second = (asyncio.ensure_future(once.do("a", work)) for _ in range(2))
    await asyncio.sleep(0)
    second.cancel()
    work.may_go_on.set()
    await first
    assert work.begun == 1


async def test_no_more_is_remembered_than_is_allowed() -> None:
    once, work = Once[int](2), Work()
    work.may_go_on.set()
    for name in (1, 2, 3):
        await once.do(name, work)
    await once.do(3, work)
    assert work.begun == 3
    await once.do(1, work)
    assert work.begun == 4
