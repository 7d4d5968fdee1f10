"""A small plot of score against size, for notebooks."""

from collections.abc import Sequence

from niwaki.compression.candidates import SOURCE
from niwaki.compression.judge import Candidate
from niwaki.report.plots import pareto

# the classes of report/templates/page.css, in colours that are readable on light and dark pages
STYLE = """\
.niwaki-plot { max-width: 420px; font: 12px sans-serif; }
.niwaki-plot text { fill: currentColor; }
.niwaki-plot .grid { stroke: #8884; }
.niwaki-plot .front { fill: none; stroke: #2a9d8f; stroke-dasharray: 5 4; }
.niwaki-plot .leader, .niwaki-plot .bar { stroke: #888; }
.niwaki-plot .reach { fill: none; }
.niwaki-plot .mark { fill: #888; }
.niwaki-plot .chosen .mark { fill: #2a9d8f; }
.niwaki-plot .name.chosen { fill: #2a9d8f; font-weight: 700; }
"""


def plot(metric: str, candidates: Sequence[Candidate], chosen: str) -> str:
    """SVG with its style in a `div`."""
    points = [
        pareto.Point(
            one.name, one.bytes / 1e6, one.test_score, kind(one, chosen), tip(one), None, (one.test_low, one.test_high)
        )
        for one in candidates
    ]
    size = pareto.Axis("MB on disk", lambda value: f"{value:g} MB")
    drawing = pareto.draw(points, size, pareto.Axis(metric, lambda value: f"{value:.3g}"), None, pareto.NARROW)
    key = "".join(f"<div>{number}: {name}</div>" for number, name in drawing.key)
    return f'<div class="niwaki-plot"><style>{STYLE}</style>{drawing.svg}{key}</div>'


def kind(candidate: Candidate, chosen: str) -> str:
    if candidate.name == SOURCE:
        return "reference"
    return "chosen" if candidate.name == chosen else "stage"


def tip(candidate: Candidate) -> str:
    return f"{candidate.name}: {candidate.test_score:.4f}, {candidate.bytes / 1e6:.1f} MB"
