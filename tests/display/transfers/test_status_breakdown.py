from decimal import Decimal
from itertools import pairwise

from intents_ui.display.transfers import statuses
from intents_ui.display.transfers.statuses import EXPIRED, INTENTS, mix


def shown(*words: str) -> list[statuses.StatusLabel]:
    return [INTENTS[statuses.IntentStatus(word)] for word in words]


def test_each_status_is_counted_once_delivered_ones_first():
    shares = mix([*shown("FAILED", "SUCCEEDED", "EXECUTING", "SUCCEEDED", "ABORTED"), EXPIRED])
    assert [(share.word, share.count) for share in shares] == [
        ("Succeeded", 2),
        ("In progress", 1),
        ("Failed", 1),
        ("Aborted", 1),
        ("Expired", 1),
    ]


def test_the_bar_is_full_and_shares_have_gaps():
    shares = mix(shown("FAILED", "SUCCEEDED", "EXECUTING"))
    assert shares[0].start == 0
    assert shares[-1].start + shares[-1].width == 100
    for share, following in pairwise(shares):
        assert share.start + share.width < following.start


def test_the_smallest_share_is_still_visible():
    few = mix(shown(*["SUCCEEDED"] * 249, "FAILED"))[-1]
    assert few.width > 0
    first = mix(shown("SUCCEEDED", *["FAILED"] * 249))[0]
    assert first.width > 0


def test_one_status_fills_the_bar_and_no_transfers_leave_none():
    (only,) = mix(shown("QUOTED", "QUOTED"))
    assert (only.start, only.width) == (Decimal(0), Decimal(100))
    assert mix([]) == ()


def test_an_unknown_status_keeps_its_own_word():
    (share,) = mix([statuses.unknown("FROZEN")])
    assert (share.word, share.count) == ("FROZEN", 1)
