"""The frame in which another site shows an intent: how large it is, and the HTML that brings it there."""

from dataclasses import dataclass
from html import escape

WIDTH = 480
# The card stands in as many lines as its width makes of it.
HEIGHTS = ((480, 440), (0, 600))


@dataclass(frozen=True)
class Frame:
    """In CSS pixels."""

    width: int
    height: int

    def html(self, src: str, *, title: str) -> str:
        """An `iframe` for anybody's page; what stands in it is escaped."""
        return (
            f'<iframe src="{escape(src)}" title="{escape(title)}" width="{self.width}" height="{self.height}"'
            ' loading="lazy" frameborder="0"></iframe>'
        )


def frame(*, max_width: int | None = None, max_height: int | None = None) -> Frame:
    """The usual frame, or a smaller one where there is not so much room: what does not fit is scrolled to."""
    width = min(WIDTH, max_width or WIDTH)
    height = next(height for least, height in HEIGHTS if width >= least)
    return Frame(width, min(height, max_height or height))
