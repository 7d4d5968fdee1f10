"""The section on translation: published outputs of one system, by our scorer, by sacreBLEU and by their organizers."""

from typing import Any

Record = dict[str, Any]
SAME = 1e-9  # of a score from 0 to 100


def wmt22(rows: list[Record]) -> str:
    newest = {(row["pair"], row["reference"]): row for row in rows}
    scores = [(row, name) for row in newest.values() for name in ("bleu", "chrf")]
    alike = {
        other: sum(abs(row["ours"][name]["value"] - row[other][name]) < SAME for row, name in scores)
        for other in ("sacrebleu", "official")
    }
    furthest = max(abs(row["ours"][name]["value"] - row["official"][name]) for row, name in scores)
    last = list(newest.values())[-1]
    slowest = max(row["seconds"]["resampling"] for row in newest.values())
    head = "| pair, reference | rows | BLEU, ours (95 %) | BLEU, official | chrF, ours (95 %) | chrF, official |\n|---|---|---|---|---|---|"
    return "\n\n".join(
        [
            "Command: `python benchmarks/wmt22.py DATA`. Outputs of the system Online-B on the test sets of WMT22's General Machine Translation Task, scored by the "
            "task `translation` (scores × 100 here), beside the organizers' figures (wmt22-news-systems, automatic-scores.tsv).",
            "\n".join([head, *map(line, newest.values())]),
            f"Of {len(scores)} scores, {alike['official']} are the official ones and {alike['sacrebleu']} those of sacreBLEU's own call, to 1e-9; the furthest is {furthest:.1g} from the official one. "
            f"Signature: {last['signature']}. The intervals, from 1,000 draws of the rows, took at most {slowest:.1f} s of CPU. Pairs into Chinese and Japanese are "
            "left out: their official BLEU cuts words in other ways than 13a.",
        ]
    )


def line(row: Record) -> str:
    cells = []
    for name in ("bleu", "chrf"):
        ours = row["ours"][name]
        cells += [f"{ours['value']:.2f} ({ours['low']:.1f} to {ours['high']:.1f})", f"{row['official'][name]:.2f}"]
    return f"| {row['pair']}, {row['reference']} | {row['rows']} | {' | '.join(cells)} |"
