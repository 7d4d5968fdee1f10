"""Renders the comparison of generation with CTranslate2."""

import statistics
from typing import Any

import records
from results_page import Page, Section

Record = dict[str, Any]
TARGET = 1.2  # times CTranslate2, at BLEU ± 0.2
PEER, OURS = "CTranslate2 int8", "niwaki native int8"


def newest(rows: list[Record], kind: str) -> Record | None:
    return next((row for row in reversed(rows) if row["kind"] == kind), None)


def merged(rows: list[Record]) -> Record | None:
    """The newest scores of each contender: they may have been run one by one, since scores do not depend on what else runs."""
    found = [row for row in rows if row["kind"] == "quality"]
    contenders = {name: one for row in found for name, one in row["contenders"].items()}
    order = sorted(contenders, key=lambda name: name == PEER)
    return {**found[-1], "contenders": {name: contenders[name] for name in order}} if found else None


def table(rows: list[Record]) -> str:
    speed, quality = newest(rows, "speed"), merged(rows)
    parts = [
        "Command: `python benchmarks/translation_speed.py DATA --model FOLDER --peer PYTHON CT2`, with `--quality` for BLEU. opus-mt en-fr (Marian, 75 M parameters) with "
        "int8 weights on FLORES-101 dev. Token ids go in and come out; tokenization is not timed. All contenders use all cores; they take turns lap by lap. "
        "`batched`: all sentences in one call, which each contender sorts and splits itself; `single`: one call per sentence. Ratios are medians of the laps' ratios to CTranslate2, with "
        f"sentences per second in brackets. Target: {TARGET} × CTranslate2 at equal BLEU (± 0.2).",
    ]
    if speed is not None:
        keys = list(speed["contenders"][PEER])
        laps = len(speed["contenders"][PEER][keys[0]]["per_second"])
        parts.append(
            "\n".join(
                [
                    f"{speed['rows']} sentences, {laps} laps, CTranslate2 {speed['ctranslate2']}, load average {speed['machine']['load']:.0f} on {speed['machine']['vcpus']} cores (the machine was shared):",
                    "",
                    "| engine | " + " | ".join(keys) + " |",
                    "|---" * (len(keys) + 1) + "|",
                    *(f"| {name} | {speeds(found, keys)} |" for name, found in speed["contenders"].items()),
                ]
            )
        )
    if quality is not None:
        beams = list(next(iter(quality["contenders"].values())))
        parts.append(
            "\n".join(
                [
                    f"BLEU (sacreBLEU) on {quality['rows']} of 997 sentences, from one batched call:",
                    "",
                    "| engine | " + " | ".join(beams) + " |",
                    "|---" * (len(beams) + 1) + "|",
                    *(f"| {name} | {bleus(found, beams)} |" for name, found in quality["contenders"].items()),
                ]
            )
        )
    return "\n\n".join(parts)


def bleus(found: Record, beams: list[str]) -> str:
    return " | ".join(f"{found[beam]['bleu']:.2f}" for beam in beams)


def speeds(found: Record, keys: list[str]) -> str:
    each = (f"{found[key]['ratio']:.2f} × ({statistics.median(found[key]['per_second']):.1f})" for key in keys)
    return " | ".join(each)


def headline() -> str:
    row = newest(records.read("translation_speed"), "speed")
    if row is None:
        return ""
    ratios = [one["ratio"] for one in row["contenders"][OURS].values()]
    return f"opus-mt en-fr in int8 generates {min(ratios):.1f} to {max(ratios):.1f} times as many sentences per second as in CTranslate2."


PAGE = Page(
    "generation_speed",
    "Speed of generation",
    "Speed",
    headline,
    (Section("translation_speed", "opus-mt en-fr and CTranslate2", table),),
)
