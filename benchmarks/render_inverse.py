"""Renders the page on inverse problems: verified antiderivatives of a model, its student and sympy."""

import records
from results_page import Page, Record, Records, Section


def integration(rows: Records) -> str:
    row = rows[-1]
    pairs = row["data"].get("pairs", 100_000)
    teacher = next(iter(row["stages"].values()))
    epochs = {name: (train or {}).get("epochs") for name, train in row["training"].items() if train}
    spent = row["cpu_seconds"]
    trained = ", ".join(
        f"{name} {count:g}, {spent[name] / 60:.1f} processor minutes" for name, count in epochs.items() if name in spent
    )
    return "\n".join(
        [
            f"Command: `python benchmarks/inverse.py RUN`. Recipe `inverse` with {pairs:,} generated pairs (epochs: {trained}, with generating the pairs and scoring), {row['questions']} test questions, beam "
            f"{row['data'].get('beam', 10)}. Every answer is verified at complex points. sympy {row['sympy']['version']} has {row['sympy']['limit']:g} s for each question.",
            "",
            "| | verified at 1 | verified among all candidates | s per question | size, MB | share of the first stage's |",
            "|---|---|---|---|---|---|",
            *(line(name, stage, teacher) for name, stage in row["stages"].items()),
            f"| sympy.integrate | {row['sympy']['results'].get('verified', 0) / row['questions']:.1%} | | {row['sympy']['seconds_per_question']:.3f} | | |",
            "",
            "sympy: " + ", ".join(f"{count} {name}" for name, count in row["sympy"]["results"].items()) + ".",
        ]
    )


def line(name: str, stage: Record, teacher: Record) -> str:
    kept = f"{stage['at_k'] / teacher['at_k']:.1%}" if teacher["at_k"] else "none"
    return f"| {name} | {stage['at_1']:.1%} | {stage['at_k']:.1%} | {stage['seconds_per_question']:.3f} | {stage['bytes'] / 1e6:.2f} | {kept} |"


def headline() -> str:
    row = records.read("inverse")[-1]
    best = max(row["stages"].values(), key=lambda stage: stage["at_k"])
    solved = row["sympy"]["results"].get("verified", 0) / row["questions"]
    return f"After {row['data'].get('pairs', 100_000):,} generated pairs, {best['at_k']:.0%} of the antiderivatives are verified; sympy finds {solved:.0%}."


PAGE = Page("inverse", "Inverse problems", "Tasks", headline, (Section("inverse", "Antiderivatives", integration),))
