"""HTML and size of the frame in which another site embeds a transfer."""

from dataclasses import dataclass
from html import escape

WIDTH = 480
# The number of lines depends on the width.
HEIGHTS = ((480, 440), (0, 600))


@dataclass(frozen=True)
class Frame:
    """Size in CSS pixels."""

    width: int
    height: int

    def html(self, src: str, *, title: str) -> str:
        """Return an `iframe` element with escaped content."""
        return (
            f'<iframe src="{escape(src)}" title="{escape(title)}" width="{self.width}" height="{self.height}"'
            ' loading="lazy" frameborder="0"></iframe>'
        )


def frame(*, max_width: int | None = None, max_height: int | None = None) -> Frame:
    """Return the default frame, or a smaller one that fits. Content that doesn't fit scrolls."""
    width = min(WIDTH, max_width or WIDTH)
    height = next(height for least, height in HEIGHTS if width >= least)
    return Frame(width, min(height, max_height or height))
