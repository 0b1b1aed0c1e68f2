"""What an error means for a commit. No message says that nothing happened unless that is certain."""

from datetime import UTC, datetime

import pytest

from intents_ui.display.console import commit
from intents_ui.display.console.commit import CommitOutcome
from intents_ui.service import errors
from intents_ui.service.errors import Flaw, Reason, ServiceError, Unreachable, Unreadable
from intents_ui.service.wire.models import Intent

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def kept_from_it(error: ServiceError) -> ServiceError:
    """Return the error that replaces a call to a service that is being spared."""
    error.again_in = 3.0
    return error


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        pytest.param(errors.Expired(), CommitOutcome.EXPIRED, id="expired"),
        pytest.param(errors.WrongState(), CommitOutcome.MOVED_ON, id="wrong state"),
        pytest.param(errors.Invalid(), CommitOutcome.REFUSED, id="invalid"),
        pytest.param(errors.NotFound(), CommitOutcome.REFUSED, id="not found"),
        pytest.param(errors.AccessDenied(), CommitOutcome.REFUSED, id="access denied"),
        pytest.param(errors.TooBusy(), CommitOutcome.REFUSED, id="too busy"),
        pytest.param(errors.Overloaded(), CommitOutcome.NOT_SENT, id="no place of our own"),
        pytest.param(Unreachable.because(Reason.REFUSED), CommitOutcome.NOT_SENT, id="no connection"),
        pytest.param(Unreachable.because(Reason.DNS), CommitOutcome.NOT_SENT, id="no address"),
        pytest.param(Unreachable.because(Reason.TLS), CommitOutcome.NOT_SENT, id="no secure connection"),
        pytest.param(kept_from_it(Unreachable(status=502)), CommitOutcome.NOT_SENT, id="away, and left alone"),
        pytest.param(kept_from_it(errors.TooBusy()), CommitOutcome.NOT_SENT, id="it has asked for quiet"),
        pytest.param(kept_from_it(errors.AccessDenied()), CommitOutcome.NOT_SENT, id="it refuses our key"),
        pytest.param(Unreachable(code=9000, status=400), CommitOutcome.REFUSED, id="paused"),
        pytest.param(Unreachable(code=2002, status=400), CommitOutcome.UNKNOWN, id="unavailable"),
        pytest.param(Unreachable.because(Reason.TIMEOUT), CommitOutcome.UNKNOWN, id="too slow"),
        pytest.param(Unreachable.because(Reason.BROKEN), CommitOutcome.UNKNOWN, id="broken off"),
        pytest.param(Unreachable(status=502), CommitOutcome.UNKNOWN, id="a proxy's page"),
        pytest.param(errors.OutOfTime(), CommitOutcome.UNKNOWN, id="out of time"),
        pytest.param(Unreadable.because(Flaw.NOT_JSON), CommitOutcome.UNKNOWN, id="unreadable"),
        pytest.param(Unreadable.because(Flaw.OTHER_INTENT), CommitOutcome.UNKNOWN, id="about another intent"),
    ],
)
def test_each_error_has_its_commit_outcome(error: ServiceError, outcome: CommitOutcome) -> None:
    assert commit.outcome_of(error) is outcome
    result = commit.told(outcome, error=error, now=NOW)
    assert result.outcome is outcome
    is_certain = outcome in (CommitOutcome.REFUSED, CommitOutcome.EXPIRED, CommitOutcome.NOT_SENT)
    assert (commit.NOTHING_MOVED in result.what) is is_certain


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("QUOTED", CommitOutcome.UNKNOWN),
        ("COMMITTED", CommitOutcome.COMMITTED),
        ("EXECUTING", CommitOutcome.UNKNOWN),
        ("FROZEN", CommitOutcome.UNKNOWN),
        (None, CommitOutcome.UNKNOWN),
    ],
)
def test_only_the_intents_own_status_replaces_a_lost_response(status: str | None, outcome: CommitOutcome) -> None:
    result = commit.told(CommitOutcome.UNKNOWN, state=Intent(intent_id="0x1", status=status), now=NOW)
    assert result.outcome is outcome
    assert ("may still be in progress" in result.what) is (status == "QUOTED")


def test_without_a_readable_status_the_error_cause_tells_it() -> None:
    error = errors.WrongState(cause="intent 0xab status=EXECUTING, since 12:00")
    assert "Current status: EXECUTING." in commit.told(CommitOutcome.MOVED_ON, error=error, now=NOW).what
    for cause in (None, "", "status=", "no word of it"):
        result = commit.told(CommitOutcome.MOVED_ON, error=errors.WrongState(cause=cause), now=NOW)
        assert "Couldn't load the current status" in result.what
