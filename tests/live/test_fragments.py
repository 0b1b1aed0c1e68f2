"""Snapshot fragments are rendered once for all subscribers; an error reaches only those who wait for it."""

import asyncio
import gc
import threading

import pytest

from intents_ui.live.fragments import Fragments
from intents_ui.live.snapshot import Snapshot


async def test_an_error_that_no_caller_awaits_is_not_logged_as_never_retrieved():
    reported, go_on = [], threading.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))

    def render(snapshot: Snapshot) -> str:
        go_on.wait(30)
        raise ValueError("not drawn")

    fragments = Fragments(render)
    snapshot = Snapshot("0x1", None, learned_at=None)
    left = asyncio.create_task(fragments.event(snapshot))
    stays = asyncio.create_task(fragments.event(snapshot))
    await asyncio.sleep(0)
    left.cancel()
    stays.cancel()
    go_on.set()
    await asyncio.wait([left, stays])
    del left, stays
    while fragments._cache:
        await asyncio.sleep(0.01)
    for _ in range(3):
        await asyncio.sleep(0)
        gc.collect()
    assert reported == []


async def test_a_waiting_caller_gets_the_error():
    def render(snapshot: Snapshot) -> str:
        raise ValueError("not drawn")

    with pytest.raises(ValueError, match="not drawn"):
        await Fragments(render).event(Snapshot("0x1", None, learned_at=None))
