"""How far an export has come, in words."""

from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display.statuses import Tone


class State(StrEnum):
    STARTING = "starting"  # nothing is known of it yet
    RUNNING = "running"
    STOPPING = "stopping"  # the reader's wish, before it was noticed
    COMPLETE = "complete"
    TRUNCATED = "truncated"
    STOPPED = "stopped"
    LEFT = "left"  # the download itself was broken off
    NOT_BEGUN = "not begun"  # nothing was heard of it for so long that nobody asks any more


UNDER_WAY = (State.STARTING, State.RUNNING, State.STOPPING)


@dataclass(frozen=True)
class Standing:
    """`why` an export was cut short."""

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
                return f"Broken off after {self.counted}: the download was not taken any further"
            case State.TRUNCATED:
                return f"Cut short after {self.counted}: {self.why}"
            case State.NOT_BEGUN:
                return "No download has begun"

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
