"""A disconnected client is not an error in the log."""

import asyncio
import gc

import pytest

from intents_ui.server import lifespan


@pytest.mark.parametrize(("error", "reports"), [(asyncio.CancelledError(), 0), (ValueError("lost"), 1)])
def test_only_cancellations_are_left_out_of_never_retrieved_exception_logs(
    caplog: pytest.LogCaptureFixture, error: BaseException, reports: int
) -> None:
    def fail() -> None:
        raise error

    async def lose() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lifespan.report_unless_cancelled)
        future = loop.run_in_executor(None, fail)
        await asyncio.wait([future])
        del future
        gc.collect()

    asyncio.run(lose())
    assert len([record for record in caplog.records if "never retrieved" in record.message]) == reports
