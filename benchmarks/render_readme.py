"""Renders the table and the picture of README.md: shipped recipes compared with their teacher and with a simple baseline."""

import math
import statistics
from collections.abc import Iterator

import records
from render_demo import latest
from render_distil import NAMES
from render_glue import baselines_of
from render_recipes import measured

from niwaki.core.recipe_figures import Figures

TASKS = ("rotten_tomatoes", "mrpc", "sst2")
RECIPES = ("slim", "narrow", "terse")
README, PICTURE = "README.md", "docs/images/recipes.svg"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 300, 60, 50, 30, 20  # of the picture and its margins
MOST_MEGABYTES, HIGHEST = 120, 1.005  # ends of the axes


def files(readme: str) -> dict[str, str]:
    for name, content in (("results", table()), ("output", output())):
        readme = between(readme, name, content)
    return {README: readme, PICTURE: picture()}


def between(readme: str, name: str, content: str) -> str:
    """Replaces the text between two markers."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    head, _, rest = readme.partition(begin)
    return f"{head}{begin}{content}\n{end}{rest.partition(end)[2]}"


def output() -> str:
    """What benchmarks/readme.py recorded for the Python block."""
    rows = [row for row in records.read("readme") if row["code"] == records.read("readme")[-1]["code"]]
    newest = rows[-1]
    times = " and ".join(f"{row['seconds']:.0f} s (load {row['machine']['load']:.1f})" for row in rows)
    note = f"Here `my-model` is MiniLM-L6 fine-tuned on film reviews. On {newest['machine']['vcpus']} shared vCPUs it took {times}; the speed-up varies with the load."
    return f"```text\n{newest['output'].strip()}\n```\n\n{note}"


def table() -> str:
    found = {name: {one.task: one for one in sized(name)} for name in RECIPES}
    first = NAMES[TASKS[0]]
    lines = [
        f"| [`{name}`](docs/recipes.md#{name}) | {by_task[first].megabytes:.1f} | {by_task[first].smaller:.0f}× | "
        f"{' | '.join(kept_cell(by_task.get(NAMES[task])) for task in TASKS)} | {by_task[first].faster:.0f}× |"
        for name, by_task in found.items()
    ]
    simple = " | ".join(f"{share:.1%}" for share in baseline())
    return "\n".join(
        [
            f"| model | MB | smaller | score kept: {' | '.join(NAMES[task] for task in TASKS)} | faster |",
            f"|---|---|---|{'---|' * len(TASKS)}---|",
            f"| MiniLM-L6, fine-tuned | {teacher_megabytes():.1f} | 1× | {' | '.join(['100%'] * len(TASKS))} | 1× |",
            *lines,
            f"| TF-IDF + linear SVM | | | {simple} | |",
        ]
    )


def sized(name: str) -> list[Figures]:
    return [one for one in measured()[name] if one.smaller]


def kept_cell(figures: Figures | None) -> str:
    return f"{figures.kept:.1%}" if figures else "not measured"


def baseline() -> list[float]:
    """TF-IDF with a linear SVM, as a share of the fine-tuned model's score on the same rows."""
    demo, glue = latest(records.read("demo")), {row["name"]: row for row in records.read("glue")}
    shares = [statistics.mean(row["baseline"]["score"] / row["stages"][0]["score"] for row in demo)]
    for task in TASKS[1:]:
        row = glue[task]
        simple = next(baseline["value"] for baseline in baselines_of(row) if baseline["kind"] == "tfidf")
        shares.append(simple / statistics.mean(row["glue"]))
    return shares


def teacher_megabytes() -> float:
    one = sized(RECIPES[0])[0]
    return (one.megabytes or 0) * (one.smaller or 0)


def picture() -> str:
    """Score kept against the size of the weights on Rotten Tomatoes, as SVG."""
    points = [("MiniLM-L6, fine-tuned", teacher_megabytes(), 1.0)]
    points += [(name, one.megabytes or 0, one.kept) for name in RECIPES for one in sized(name)[:1]]
    simple = baseline()[0]
    low = math.floor(100 * min(simple, *(kept for *_, kept in points))) / 100
    shapes = [*grid(low)]
    shapes.append(line(LEFT, y(simple, low), WIDTH - RIGHT, y(simple, low), "#c0392b", 'stroke-dasharray="6 4"'))
    shapes.append(text(WIDTH - RIGHT, y(simple, low) - 6, "TF-IDF + linear SVM", "end", "#c0392b"))
    for name, megabytes, kept in points:
        last = megabytes == max(size for _, size, _ in points)  # its label ends at the border
        place, anchor = (WIDTH - RIGHT, "end") if last else (x(megabytes), "middle")
        shapes.append(f'<circle cx="{x(megabytes):.0f}" cy="{y(kept, low):.0f}" r="6" fill="#2e7d32"/>')
        shapes.append(text(place, y(kept, low) + 21, f"{name}, {megabytes:.1f} MB", anchor, "#222"))
    shapes.append(text(WIDTH / 2, HEIGHT - 10, "weights, MB (logarithmic)", "middle"))
    shapes.append(
        text(
            LEFT,
            18,
            f"share of the teacher's accuracy on film reviews, mean of {sized(RECIPES[0])[0].seeds} seeds",
            "start",
        )
    )
    body = "\n".join(shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


def grid(low: float) -> Iterator[str]:
    for megabytes in (1, 2, 5, 10, 20, 50, 100):
        yield text(x(megabytes), HEIGHT - BOTTOM + 18, f"{megabytes}", "middle")
        yield line(x(megabytes), TOP, x(megabytes), HEIGHT - BOTTOM, "#ddd")
    for percent in range(round(100 * low), 101):
        yield text(LEFT - 8, y(percent / 100, low) + 4, f"{percent} %", "end")
        yield line(LEFT, y(percent / 100, low), WIDTH - RIGHT, y(percent / 100, low), "#ddd")


def x(megabytes: float) -> float:
    return LEFT + math.log10(megabytes) / math.log10(MOST_MEGABYTES) * (WIDTH - LEFT - RIGHT)


def y(kept: float, low: float) -> float:
    return HEIGHT - BOTTOM - (kept - low) / (HIGHEST - low) * (HEIGHT - BOTTOM - TOP)


def text(x: float, y: float, words: str, anchor: str, fill: str = "#555") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{fill}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, more: str = "") -> str:
    return f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="{stroke}" {more}/>'
