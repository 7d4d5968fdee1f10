"""Renders the page on many languages: alignment of word vectors."""

import records
from results_page import Page, Record, Records, Section


def align(rows: Records) -> str:
    newest = {(row["pair"], row["variant"]): row for row in rows}
    pairs = list(dict.fromkeys(pair for pair, _ in newest))
    variants = list(dict.fromkeys(variant for _, variant in newest))
    first = next(iter(newest.values()))
    tested = {pair: row["test"] for (pair, _), row in newest.items()}  # the words are the same for all maps
    covered = ", ".join(f"{pair} {test['covered']:,} of {test['words']:,}" for pair, test in tested.items())
    return "\n".join(
        [
            "Command: `python benchmarks/align.py DATA E5`. Precision at 1 in %, with 95 % intervals over test words (MUSE's). English words are embedded by MiniLM-L6 and those of the other language by "
            f"multilingual-e5-small, one word at a time, {first['words'][0]:,} words each; the two spaces have nothing in common. Sentence encoders are no word2vec: figures are not comparable with those of "
            f"MUSE's vectors. Test words with vectors and a translation: {covered}.",
            "",
            f"| map | {' | '.join(pairs)} |",
            f"|---|{'---|' * len(pairs)}",
            *(
                f"| {variant} | {' | '.join(cell(newest.get((pair, variant))) for pair in pairs)} |"
                for variant in variants
            ),
        ]
    )


def cell(row: Record | None) -> str:
    if row is None or "p@1" not in row["test"]:
        return ""
    found = row["test"]["p@1"]
    return f"{100 * found['value']:.1f} ({100 * found['low']:.1f} to {100 * found['high']:.1f})"


def headline() -> str:
    rows = {(row["pair"], row["variant"]): row["test"] for row in records.read("align")}
    best = {pair: max(test["p@1"]["value"] for (one, _), test in rows.items() if one == pair) for pair, _ in rows}
    return "Word vectors of two encoders are aligned by a dictionary: precision at 1 is " + ", ".join(
        f"{100 * value:.0f} % ({pair})" for pair, value in best.items()
    )


PAGE = Page("languages", "Many languages", "Tasks", headline, (Section("align", "Alignment of word vectors", align),))
