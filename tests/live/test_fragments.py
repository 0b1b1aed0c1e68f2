"""The fragment of a picture is made once for all who ask, and its failure is theirs alone."""

import asyncio
import gc
import threading

import pytest

from intents_ui.live.fragments import Fragments
from intents_ui.live.picture import Picture


async def test_a_failure_that_nobody_waits_for_any_more_is_not_reported_as_never_retrieved():
    reported, go_on = [], threading.Event()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))

    def render(picture: Picture) -> str:
        go_on.wait(30)
        raise ValueError("not drawn")

    fragments = Fragments(render)
    picture = Picture("0x1", None, learned_at=None)
    left = asyncio.create_task(fragments.event(picture))
    stays = asyncio.create_task(fragments.event(picture))
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


async def test_who_waits_is_told_of_the_failure():
    def render(picture: Picture) -> str:
        raise ValueError("not drawn")

    with pytest.raises(ValueError, match="not drawn"):
        await Fragments(render).event(Picture("0x1", None, learned_at=None))
