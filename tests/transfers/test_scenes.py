"""What the emulator's scenarios show at each moment, and what the clock alone changes."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from intents_ui.transfers import summary as summaries
from intents_ui.transfers.transfer import Transfer
from tests.transfers.builders import NOW, at, before, intent, receipt, summary
from tests.transfers.scenes import MOMENTS, Scene, scene


def said(told: Scene, now) -> tuple:
    summary, steps = told.story(now), told.timeline(now)
    return (
        (summary.key, summary.who),
        told.story(now).status,
        told.story(now).received.note,
        [stop.reached for stop in told.stops(now)],
        (told.at(now).is_late, [step.state for step in steps.steps], [step.expected_at for step in steps.steps]),
        told.at(now).may_change,
    )


@given(
    st.sampled_from(MOMENTS),
    st.one_of(st.timedeltas(timedelta(), timedelta(minutes=40)), st.timedeltas(timedelta(), timedelta(days=3))),
    st.floats(0, 1, exclude_max=True),
)
def test_no_summary_changes_before_its_next_time(moment, later, share):
    which, at, variant = moment
    result, now = scene(which, at, variant), NOW + later
    until = summaries.changes_at(result.at(now))
    assert until is None or until > now
    between = now + ((until - now) if until else timedelta(days=300)) * share
    if between != until:
        assert said(result, between) == said(result, now)


@given(st.sampled_from(MOMENTS))
def test_reloading_at_every_change_time_reaches_the_final_state(moment):
    which, at, variant = moment
    result, now, moments = scene(which, at, variant), NOW, 0
    while until := summaries.changes_at(result.at(now)):
        now, moments = until, moments + 1
    assert moments < 10
    assert said(result, now) == said(result, now + timedelta(days=300))


def changes(of_intent, of_receipt=None, *, now=NOW) -> list[timedelta]:
    found = []
    while moment := summaries.changes_at(at(of_intent, of_receipt, now=now)):
        found.append(moment - NOW)
        now = moment
    return found


def test_each_kind_of_transfer_has_its_moments():
    minute, second = timedelta(minutes=1), timedelta(seconds=1)
    assert changes(intent("QUOTED")) == [minute, 3 * minute, 14 * minute]
    assert 9 * minute in changes(intent("COMMITTED", expires_at=None))
    started = receipt(
        deposit="SUCCEEDED", origin="SUCCEEDED", destination="ON_HOLD", summary=summary(started_at=before(seconds=5))
    )
    assert changes(intent(expires_at=None), started) == [10 * second, 70 * second, 15 * minute - 20 * second]
    failed = receipt("FAILED", deposit="SUCCEEDED", origin="FAILED")
    assert changes(None, failed) == [15 * minute - 20 * second, 30 * minute - 20 * second]
    assert changes(intent("SUCCEEDED"), receipt("SUCCEEDED", destination="SUCCEEDED")) == []


def test_a_quote_with_an_unread_receipt_does_not_expire():
    offer = intent("QUOTED", expires_at=before(minutes=1))
    assert Transfer(offer, None, now=NOW).is_expired
    assert not Transfer(offer, None, now=NOW, is_unread=True).is_expired
