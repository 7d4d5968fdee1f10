"""Whether a regular expression of a stranger's ends soon on every text.

Backtracking takes time without end where a repeat without limit holds another one: `(a+)+`. Such patterns are refused,
with references back, recursion, and repeats beyond reason. What is left takes at most some powers of a text's length,
and the engine's own limit on retries is behind it.
"""

import re

LONGEST, MOST_REPEATS = 1000, 1000
COUNTED = re.compile(r"\{(\d*)(,?)(\d*)\}")
FORBIDDEN = re.compile(r"\\(?:[1-9]|k[<'{]|g[<'{])|\(\?(?:R|P>|P=|&|\d|\(|\{|C)")


def fault_in_pattern(pattern: str) -> str | None:
    """Why the pattern is not taken, or None."""
    if len(pattern) > LONGEST:
        return f"has more than {LONGEST} characters"
    if FORBIDDEN.search(pattern):
        return "refers back to itself, which can take without end"
    open_groups: list[bool] = [False]  # whether each holds a repeat without limit
    place, held = 0, False  # `held`: whether what was just read, a group, does
    while place < len(pattern):
        sign = pattern[place]
        repeat, width = _repeat(pattern, place)
        if width:
            if repeat > MOST_REPEATS and repeat != UNLIMITED:
                return f"repeats more than {MOST_REPEATS} times"
            if repeat > 1 and held:
                return "repeats a repeat, which can take without end"
            open_groups[-1] = open_groups[-1] or repeat == UNLIMITED
            place += width + (pattern[place + width : place + width + 1] in ("?", "+"))  # lazy or possessive
            held = False
            continue
        held = False
        if sign == "\\":
            place += 1
        elif sign == "[":
            place = _class_end(pattern, place)
        elif sign == "(":
            open_groups.append(False)
        elif sign == ")" and len(open_groups) > 1:
            held = open_groups.pop()
            open_groups[-1] = open_groups[-1] or held
        place += 1
    return None if len(open_groups) < 20 else "has more than 20 groups open at once"


UNLIMITED = 1 << 30


def _repeat(pattern: str, place: int) -> tuple[int, int]:
    """How often the sign at `place` repeats what is before it, and how many characters it has; (0, 0) for no repeat."""
    sign = pattern[place]
    if sign in "*+":
        return UNLIMITED, 1
    if sign == "?" and pattern[place - 1 : place] != "(":
        return 1, 1
    counted = COUNTED.match(pattern, place) if sign == "{" else None
    if not counted or counted[0] in ("{}", "{,}"):
        return 0, 0
    least, comma, most = counted.groups()
    if comma and not most:
        return (UNLIMITED if int(least or 0) <= MOST_REPEATS else UNLIMITED - 1), len(counted[0])
    return min(int(most or least), UNLIMITED - 1), len(counted[0])


def _class_end(pattern: str, place: int) -> int:
    """Where the class of characters that opens at `place` closes; a bracket at its front is a character."""
    place += 1
    if pattern[place : place + 1] == "^":
        place += 1
    first, depth = place, 1
    while place < len(pattern):
        sign = pattern[place]
        if sign == "\\":
            place += 1
        elif sign == "[":
            depth += 1  # [:alpha:], or a class within
        elif sign == "]" and place > first:
            depth -= 1
            if not depth:
                return place
        place += 1
    return place
