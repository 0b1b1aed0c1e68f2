"""JSON text laid out for reading, token by token: no number, escape or key is ever written anew."""

import re

INDENT = "  "
# Deeper levels stay at this one, so that a bottomless text does not become a page of blanks.
DEEPEST = 64

TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]\s*[\]}]|[\[\]{}:,]|[^\s\[\]{}:,"]+|"', re.DOTALL)


def indented(text: str) -> str:
    """The same tokens in the same order, one member a line. Text that is no JSON loses only blanks between tokens."""
    parts: list[str] = []
    depth = 0
    for match in TOKENS.finditer(text):
        part = match[0]
        if part in ("]", "}"):
            depth -= 1
            parts += [_new_line(depth), part]
        elif part in ("[", "{"):
            depth += 1
            parts += [part, _new_line(depth)]
        elif part == ",":
            parts += [part, _new_line(depth)]
        elif part == ":":
            parts.append(": ")
        else:
            parts.append("".join(part.split()) if part[0] in "[{" else part)
    return "".join(parts)


def _new_line(depth: int) -> str:
    return "\n" + INDENT * max(0, min(depth, DEEPEST))
