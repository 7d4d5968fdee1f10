"""Energy label A to G: joules per 1,000 inferences against absolute thresholds. A is empty today, to leave room.

Each class is ten times the one before. An estimate with a band of ×/÷3 spans a factor of 9, so two letters at the most.
"""

from dataclasses import dataclass
from html import escape
from textwrap import wrap

from niwaki.core.errors import UsageError
from niwaki.meter.reading import Reading, significant

# the highest joules per 1,000 inferences of each class; G is all above
THRESHOLDS = {"A": 0.01, "B": 0.1, "C": 1.0, "D": 10.0, "E": 100.0, "F": 1000.0, "G": float("inf")}
COLOURS = ("#00843d", "#4caf2a", "#b5cc18", "#f7d800", "#f5a300", "#e8631a", "#d4171e")
LETTERS = ("#fff", "#111", "#111", "#111", "#111", "#111", "#fff")  # whichever has more contrast on the bar's colour
WIDTH, FOOT, LINE = 260, 250, 17  # the label is shown at this size; its smallest text has 12 pixels
NAME, WORDS = 22, 30  # characters that fit into a line of the head and of the foot


@dataclass(frozen=True)
class EnergyLabel:
    """The letter of the figure, and the letters its range touches."""

    letter: str  # "?" when the energy is not known
    letters: str  # "D", or "D–E" when the range spans two
    joules_per_1000: float | None
    low: float | None
    high: float | None
    name: str = ""
    task: str = ""
    quality: str = ""

    def svg(self) -> str:
        """A picture in one piece: no script, no font, no address outside."""
        marked = range(ord(self.letters[0]), ord(self.letters[-1]) + 1) if self.letter != "?" else range(0)
        bars = [_bar(row, letter, ord(letter) in marked) for row, letter in enumerate(THRESHOLDS)]
        lines = _lines(self)
        return "\n".join([_head(self, FOOT + LINE * len(lines)), *bars, *_foot(lines), "</svg>"])

    def figure(self) -> str:
        if self.joules_per_1000 is None:
            return "energy not known"
        return f"{significant(self.joules_per_1000)} J per 1,000 inferences"

    def interval(self) -> str:
        if self.low is None or self.high is None or self.low == self.high:
            return ""
        return f"between {significant(self.low)} and {significant(self.high)} J"


def energy_label(
    joules_per_1000: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    name: str = "",  # of the model
    task: str = "",
    quality: str = "",  # e.g. "accuracy 0.87": a label without it compares what cannot be compared
) -> EnergyLabel:
    if joules_per_1000 is None:
        return EnergyLabel("?", "?", None, None, None, name, task, quality)
    low, high = (joules_per_1000 if end is None else end for end in (low, high))
    if not 0 <= low <= joules_per_1000 <= high:
        raise UsageError(f"label: {low} to {high} is not a range around {joules_per_1000} joules")
    best, worst = letter_of(low), letter_of(high)
    letters = best if best == worst else f"{best}–{worst}"
    return EnergyLabel(letter_of(joules_per_1000), letters, joules_per_1000, low, high, name, task, quality)


def per_1000(reading: Reading, inferences: int) -> tuple[float | None, float | None, float | None]:
    """Joules, low and high per 1,000 inferences: `energy_label(*per_1000(reading, n))`."""
    if inferences < 1:
        raise UsageError(f"label: {inferences} inferences have no figure per 1,000; measure 1 or more")
    figures = (reading.joules, reading.joules_low, reading.joules_high)
    joules, low, high = (None if figure is None else 1000 * figure / inferences for figure in figures)
    return joules, low, high


def letter_of(joules_per_1000: float) -> str:
    return next(letter for letter, most in THRESHOLDS.items() if joules_per_1000 <= most)


def _head(shown: EnergyLabel, height: int) -> str:
    title = escape(
        " ".join(part for part in (f"Energy label {shown.letters}: {shown.figure()}", shown.interval()) if part)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" font-family="sans-serif"><title>{title}</title>'
        f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6" fill="#fff" stroke="#555"/>'
        '<text x="12" y="24" font-size="15" font-weight="bold" fill="#111">'
        f"{escape(_cut(shown.name or 'energy', NAME))}</text>"
    )


def _bar(row: int, letter: str, marked: bool) -> str:
    top, width = 36 + row * 27, 70 + row * 16
    arrow = f"12,{top} {width},{top} {width + 11},{top + 11} {width},{top + 22} 12,{top + 22}"
    bar = f'<polygon points="{arrow}" fill="{COLOURS[row]}"/>'
    text = f'<text x="20" y="{top + 17}" font-size="15" font-weight="bold" fill="{LETTERS[row]}">'
    mark = f"246,{top} 206,{top} 195,{top + 11} 206,{top + 22} 246,{top + 22}"
    sign = f'<text x="214" y="{top + 17}" font-size="15" font-weight="bold" fill="#fff">{letter}</text>'
    return f"{bar}{text}{letter}</text>" + (f'<polygon points="{mark}" fill="#111"/>{sign}' if marked else "")


def _lines(shown: EnergyLabel) -> list[str]:
    """The foot: each part on lines of its own, two at the most."""
    parts = [shown.figure(), shown.interval(), shown.task, shown.quality or "quality not stated"]
    return [line for part in parts for line in wrap(part, WORDS, max_lines=2, placeholder=" …")]


def _foot(lines: list[str]) -> list[str]:
    return [
        f'<text x="12" y="{FOOT + LINE * row}" font-size="12" fill="#111">{escape(line)}</text>'
        for row, line in enumerate(lines)
    ]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
