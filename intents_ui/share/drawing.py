"""Renders the card of a transfer: 1200 by 630 pixels, the size that chats and search engines show.

One card at a time, because fonts aren't thread-safe. It uses the colors and fonts of the pages. Untrusted text is
truncated to its space. Characters missing in the font show as its placeholder box, so that none disappears.
"""

import io
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache

from PIL import Image, ImageDraw, ImageFont

from intents_ui import installation
from intents_ui.formatting.text import END_OF_ISOLATE, ISOLATE
from intents_ui.transfers.statuses import Tone
from intents_ui.transfers.summary import Card, PreviewEnd

type Strokes = tuple[tuple[tuple[float, float], ...], ...]

SIZE = (1200, 630)
# Rendered larger and scaled down, which smooths lines and letter spacing.
SCALE = 2

FONTS = installation.ROOT / "static" / "fonts"
SANS, MONO = "inter-latin.woff2", "jetbrains-mono-latin.woff2"
# Replacements for the brackets that `formatting/text.py` puts around hidden characters: the font has
# only small ones. It has no isolates.
BRACKETS = str.maketrans("⟨⟩", "\u2039\u203a", ISOLATE + END_OF_ISOLATE)
MAX_LETTERS = 400


# Colors of the light theme in static/css/theme.css.
PAPER, CARD, SUNK, LINE = "#f6f7f9", "#ffffff", "#f1f3f6", "#e3e6eb"
INK, INK_2, INK_3, ACCENT = "#12161c", "#4b5563", "#626b78", "#2f5bea"
TONES = {
    Tone.NEUTRAL: ("#4b5563", "#eef0f3"),
    Tone.PROGRESS: ("#2f5bea", "#eef2ff"),
    Tone.GOOD: ("#117242", "#e8f6ee"),
    Tone.ATTENTION: ("#8f5400", "#fdf3e1"),
    Tone.BAD: ("#c1292e", "#fdecec"),
}
# Strokes of static/img/icon-<tone>.svg, on a 24 by 24 grid.
SIGNS: dict[Tone, Strokes] = {
    Tone.NEUTRAL: (((8, 12), (16, 12)),),
    Tone.PROGRESS: (((7.5, 12), (16, 12)), ((12.5, 8.5), (16, 12), (12.5, 15.5))),
    Tone.GOOD: (((7.5, 12.5), (10.5, 15.5), (16.5, 8.5)),),
    Tone.ATTENTION: (((12, 6.5), (12, 13)), ((12, 16.7), (12, 16.9))),
    Tone.BAD: (((8.5, 8.5), (15.5, 15.5)), ((15.5, 8.5), (8.5, 15.5))),
}

# Strokes of the logo in the page header.
BRAND = (
    ((4, 0), (18, 0), (23, 2), (26, 6), (26, 9), (23, 14), (18, 16), (10, 16)),
    ((15, 11), (10, 16), (15, 21)),
)

LEFT, RIGHT = 88, 1112
MONEY = (88, 350, 1112, 494)


def png(card: Card) -> bytes:
    image = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), PAPER)
    canvas = Canvas(image)
    canvas.box((40, 40, 1160, 590), CARD, radius=28, line=LINE)
    _state(canvas, card)
    _answer(canvas, card)
    _money(canvas, card)
    _foot(canvas, card)
    written = io.BytesIO()
    image.reduce(SCALE).save(written, "PNG")
    return written.getvalue()


def _state(canvas: "Canvas", card: Card) -> None:
    color, ground = TONES[card.tone]
    style = TextStyle(30, weight=650, color=color)
    word = style.cut(card.status.word, 480)
    canvas.box((LEFT, 78, LEFT + 76 + style.width(word), 134), ground, radius=16)
    canvas.sign(card.tone, (LEFT + 33, 106), color)
    canvas.write((LEFT + 60, 117), word, style)
    id_style = TextStyle(24, face=MONO, color=INK_3)
    canvas.write((RIGHT, 115), id_style.cut(card.intent, 440), id_style, anchor="rs")


def _answer(canvas: "Canvas", card: Card) -> None:
    headline = fitted(card.headline, RIGHT - LEFT, sizes=(60, 52, 46, 40), weight=680)
    canvas.write((LEFT, 220), headline.cut(card.headline, RIGHT - LEFT), headline)
    words = TextStyle(30, color=INK_2)
    for row, line in enumerate(words.lines(card.sentence, RIGHT - LEFT, most=2)):
        canvas.write((LEFT, 272 + row * 40), line, words)


def _money(canvas: "Canvas", card: Card) -> None:
    left, top, right, bottom = MONEY
    middle = (left + right) // 2
    canvas.box(MONEY, SUNK, radius=20)
    _end(canvas, card.sent, left + 32, middle - 56)
    _end(canvas, card.received, middle + 64, right - 24)
    if card.has_arrived:
        center = (middle, (top + bottom) // 2)
        canvas.disc(center, 30, CARD, line=LINE)
        canvas.strokes((((-10, 0), (10, 0)), ((2, -8), (10, 0), (2, 8))), center, ACCENT, width=4)


def _end(canvas: "Canvas", end: PreviewEnd, left: int, right: int) -> None:
    if end.has_any_step:
        amount = fitted(end.amount, right - left, sizes=(46, 40, 34, 28, 22), weight=650)
    else:
        amount = fitted(end.amount, right - left, sizes=(30, 26, 22), weight=450, color=INK_2)
    # With a warning below, the lines are closer together.
    rows = (404, 441, 474) if end.warning else (418, 460, 0)
    said = TextStyle(26, color=INK_2)
    warning = TextStyle(20, weight=550, color=TONES[Tone.ATTENTION][0])
    for row, line, style in zip(
        rows, (end.amount, f"on {end.chain}", end.warning), (amount, said, warning), strict=True
    ):
        canvas.write((left, row), style.cut(line, right - left), style)


def _foot(canvas: "Canvas", card: Card) -> None:
    when = TextStyle(24, color=INK_3)
    canvas.write((LEFT, 552), when.cut(card.when, 850), when)
    brand = TextStyle(28, weight=650)
    canvas.write((RIGHT, 552), "Intents", brand, anchor="rs")
    x = RIGHT - brand.width("Intents") - 44
    canvas.disc((x + 4, 536), 5, ACCENT)
    canvas.strokes(BRAND, (x, 536), ACCENT, width=3.4)


class TextStyle:
    """A font with size, weight and color."""

    def __init__(self, size: float, *, weight: int = 400, color: str = INK, face: str = SANS) -> None:
        self.font = _font(face, weight, round(size * SCALE))
        self.color = color

    def width(self, words: str) -> float:
        return self.font.getlength(words.translate(BRACKETS)) / SCALE

    def cut(self, words: str, width: float) -> str:
        """Return the text truncated to the width, ending with `…` if it was."""
        words = words[:MAX_LETTERS]
        if self.width(words) <= width:
            return words
        return f"{longest(words, width, lambda head: self.width(f'{head}…')).rstrip()}…"

    def lines(self, words: str, width: float, *, most: int) -> Iterator[str]:
        """Wrap text between words, or inside one that is longer than a line. The last line is truncated."""
        rest = words[:MAX_LETTERS]
        for _ in range(most - 1):
            if self.width(rest) <= width:
                break
            head = longest(rest, width, self.width)
            head = head.rsplit(" ", 1)[0] if " " in head else head
            yield head
            rest = rest[len(head) :].lstrip()
        yield self.cut(rest, width)


class Canvas:
    """Canvas with the coordinates of the finished card."""

    def __init__(self, image: Image.Image) -> None:
        self._draw = ImageDraw.Draw(image)

    def box(self, corners: tuple[float, ...], ground: str, *, radius: int, line: str | None = None) -> None:
        self._draw.rounded_rectangle([each * SCALE for each in corners], radius * SCALE, ground, line, 2 * SCALE)

    def disc(self, center: tuple[float, float], radius: float, ground: str, *, line: str | None = None) -> None:
        x, y = center
        corners = [(each * SCALE) for each in (x - radius, y - radius, x + radius, y + radius)]
        self._draw.ellipse(corners, ground, line, 2 * SCALE)

    def sign(self, tone: Tone, center: tuple[float, float], color: str) -> None:
        self.disc(center, 17, color)
        scaled = tuple(tuple(((x - 12) * 1.5, (y - 12) * 1.5) for x, y in stroke) for stroke in SIGNS[tone])
        self.strokes(scaled, center, CARD, width=4)

    def strokes(self, strokes: Strokes, center: tuple[float, float], color: str, *, width: float) -> None:
        """Draw lines with round ends and corners."""
        for stroke in strokes:
            points = [((center[0] + x) * SCALE, (center[1] + y) * SCALE) for x, y in stroke]
            self._draw.line(points, color, round(width * SCALE), joint="curve")
            for x, y in (points[0], points[-1]):
                radius = width * SCALE / 2
                self._draw.ellipse([x - radius, y - radius, x + radius, y + radius], color)

    def write(self, at: tuple[float, float], words: str, style: TextStyle, *, anchor: str = "ls") -> None:
        place = (at[0] * SCALE, at[1] * SCALE)
        self._draw.text(place, words.translate(BRACKETS), style.color, style.font, anchor=anchor)


def fitted(words: str, width: float, *, sizes: tuple[int, ...], weight: int, color: str = INK) -> TextStyle:
    """Return the style with the largest size in which the text fits, or else the smallest size."""
    styles = [TextStyle(size, weight=weight, color=color) for size in sizes]
    return next((style for style in styles if style.width(words[:MAX_LETTERS]) <= width), styles[-1])


def longest(words: str, width: float, width_of: Callable[[str], float]) -> str:
    """Return the longest prefix that fits, at least one character so that wrapping always advances."""
    return words[: max(1, bisect_right(range(1, len(words) + 1), width, key=lambda end: width_of(words[:end])))]


@cache
def _font(face: str, weight: int, size: int) -> ImageFont.FreeTypeFont:
    # The other layout engine would reorder right-to-left text.
    font = ImageFont.truetype(FONTS / face, size, layout_engine=ImageFont.Layout.BASIC)
    font.set_variation_by_axes([weight])
    return font
