"""Progress of an export."""

from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display.transfers.statuses import Tone


class State(StrEnum):
    STARTING = "starting"  # no progress reported yet
    RUNNING = "running"
    STOPPING = "stopping"  # requested by the user, not yet in effect
    COMPLETE = "complete"
    TRUNCATED = "truncated"
    STOPPED = "stopped"
    LEFT = "left"  # the browser canceled the download
    NOT_BEGUN = "not begun"  # no progress for so long that polling stopped


UNDER_WAY = (State.STARTING, State.RUNNING, State.STOPPING)


@dataclass(frozen=True)
class Standing:
    """State of an export. `why`: the reason it's incomplete."""

    state: State
    rows: int = 0
    why: str = ""

    @property
    def is_known(self) -> bool:
        return self.state not in (State.STARTING, State.NOT_BEGUN)

    @property
    def is_over(self) -> bool:
        return self.state not in UNDER_WAY

    @property
    def can_be_stopped(self) -> bool:
        return self.state in (State.STARTING, State.RUNNING)

    @property
    def icon(self) -> str:
        match self.state:
            case State.STARTING | State.RUNNING | State.STOPPING:
                return "loader-circle"
            case State.COMPLETE:
                return "check"
            case _:
                return "triangle-alert"

    @property
    def sentence(self) -> str:
        match self.state:
            case State.STARTING:
                return "Starting"
            case State.RUNNING:
                return f"{self.counted} so far"
            case State.STOPPING:
                return f"Stopping after {self.counted}"
            case State.COMPLETE:
                return f"Complete: {self.counted}"
            case State.STOPPED:
                return f"Stopped after {self.counted}"
            case State.LEFT:
                return f"Canceled by the browser after {self.counted}"
            case State.TRUNCATED:
                return f"Incomplete: stopped after {self.counted} ({self.why})"
            case State.NOT_BEGUN:
                return "Not started"

    @property
    def counted(self) -> str:
        return f"{self.rows:,} {'row' if self.rows == 1 else 'rows'}"

    @property
    def tone(self) -> Tone:
        match self.state:
            case State.STARTING | State.RUNNING | State.STOPPING:
                return Tone.PROGRESS
            case State.COMPLETE:
                return Tone.GOOD
            case _:
                return Tone.ATTENTION
