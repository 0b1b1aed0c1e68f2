"""JSON as indented text. Numbers, escapes and keys stay exactly as received."""

import re

INDENT = "  "
# Maximum indentation, so that deeply nested text doesn't become a page of spaces.
DEEPEST = 64

TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]\s*[\]}]|[\[\]{}:,]|[^\s\[\]{}:,"]+|"', re.DOTALL)


def indented(text: str) -> str:
    """Return the same tokens in the same order, one field per line. In text that isn't JSON, only whitespace
    changes.
    """
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
