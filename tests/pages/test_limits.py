"""Pages of transfers with numbers at the limits of Python's types."""

import pytest

from tests.corpus import picked
from tests.emulator.driving import quote
from tests.pages.reading import visible_text
from tests.pages.recorded import changed

END_OF_CALENDAR = 253_402_300_799  # 9999-12-31T23:59:59Z
PARTS = ("", "/proof", "/reply", "/feed.atom")
MOMENTS = [
    *("-1", "0", str(END_OF_CALENDAR + 1), str((END_OF_CALENDAR + 1) * 1_000)),
    *("0000-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "0002-01-01T00:00:00+14:00"),
    *("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-14:00", "9999-12-31T24:00:00Z"),
]
TIMES = ("expiresAt", "updatedAt", "createdAt", "startedAt", "finishedAt", "txnMinedAt")


@pytest.mark.parametrize(
    "written",
    picked(
        {each: each for each in MOMENTS},
        "0",
        str((END_OF_CALENDAR + 1) * 1_000),
        "0001-01-01T00:00:00Z",
        "0002-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59.999999999Z",
        "9999-12-31T23:59:59-14:00",
    ),
)
def test_times_at_the_ends_of_the_calendar_leave_the_pages_of_a_transfer_whole(site, emulator, transport, written):
    intent_id = emulator.finished(8)["intentId"]
    operations = ("GetIntent", "GetIntentReceipt", "GetIntentHistory", "SearchIntents")
    transport.changes |= dict.fromkeys(operations, lambda document: changed(document, written, *TIMES))
    for part in PARTS:
        assert site.get(f"/intent/{intent_id}{part}").status_code == 200, part
    for path in ("/history?size=10", "/history?recoverable=1&size=10"):
        assert site.get(path).status_code == 200, path


HOSTILE = [
    pytest.param("0xac9650d8" + f"{32:064x}{2**200:064x}", "Arguments don't match the function", id="an endless list"),
    pytest.param("0xac9650d8" + "ff" * 40_000, "Arguments don't match the function signature", id="long and broken"),
    pytest.param("0xdeadbeef" + "00" * 90_000, "too long to decode", id="too long"),
    pytest.param("0xde", "too short for a function selector", id="too short"),
]


@pytest.mark.parametrize(("data", "words"), HOSTILE)
def test_hostile_call_data_renders_a_normal_page(site, emulator, data, words):
    quoted = quote(emulator, destinationToAddress="0x" + "cd" * 20, destinationCallData=data)
    assert words in visible_text(site.get(f"/intent/{quoted['intentId']}/proof"))
