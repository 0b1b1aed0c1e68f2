"""What happens: the thirty scenarios, and what a caller's own intent does."""

from typing import Final

from intents_ui.emulator.arrivals import ARRIVALS
from intents_ui.emulator.scripts import Plot, steps
from intents_ui.emulator.troubles import TROUBLES

PLOTS: Final = tuple(sorted((*ARRIVALS, *TROUBLES), key=lambda plot: plot.number))

# What an executed intent does when its caller asks for no plot: the same story on one chain and across two, quickly.
QUICK_SAME_CHAIN: Final = steps("""
    0  EXECUTING  MINING     ON_HOLD
    1  EXECUTING  SUCCEEDED  PENDING
    2  EXECUTING  SUCCEEDED  MINING
    4  SUCCEEDED  SUCCEEDED  SUCCEEDED
""")
QUICK_CROSS_CHAIN: Final = steps("""
    0  EXECUTING  MINING     ON_HOLD    ON_HOLD
    1  EXECUTING  SUCCEEDED  PENDING    ON_HOLD
    2  EXECUTING  SUCCEEDED  MINING     ON_HOLD
    3  EXECUTING  SUCCEEDED  SUCCEEDED  ON_HOLD
    4  EXECUTING  SUCCEEDED  SUCCEEDED  MINING
    6  SUCCEEDED  SUCCEEDED  SUCCEEDED  SUCCEEDED
""")


def plot_named(which: int | str) -> Plot:
    """A plot by number or slug. KeyError names what was asked for."""
    for plot in PLOTS:
        if which in (plot.number, plot.slug, str(plot.number)):
            return plot
    raise KeyError(which)
