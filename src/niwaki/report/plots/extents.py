"""How wide a text may become, without a browser: the widths of DejaVu Sans, the widest of the fonts in common use."""

NARROW, WIDE, OTHER = 0.41, 1.0, 1.05  # in ems; OTHER is all that is not ASCII: CJK, emoji, Cyrillic
WIDTHS = {
    **dict.fromkeys(" !'(),-./:;I[\\]fijlrt|J", NARROW),
    **dict.fromkeys("%@MWmw#+<=>^~", WIDE),
    **dict.fromkeys("ABCDGHKNOQRUVXZ&", 0.79),
}
DEFAULT = 0.64  # digits and the other letters
BOLD = 1.14
LINE = 1.25  # height of a line, in ems
ASCENT = 0.97  # from the baseline up, in ems


def text_width(text: str, size: float, bold: bool = False) -> float:
    """An upper bound for the width of a text, in the unit of the font size."""
    ems = sum(WIDTHS.get(character, DEFAULT if character.isascii() else OTHER) for character in text)
    return ems * size * (BOLD if bold else 1.0)


def shorten(text: str, size: float, most: float, bold: bool = False) -> str:
    """The text, or as much of its start as fits into `most`, with an ellipsis."""
    if text_width(text, size, bold) <= most:
        return text
    while text and text_width(text + "…", size, bold) > most:
        text = text[:-1]
    return text.rstrip() + "…"
