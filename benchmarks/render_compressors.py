"""Renders the page on quantization compared with ONNX Runtime, NNCF and torchao."""

from collections.abc import Iterable

import records
from method_names import current
from render_distil import gap, spread
from render_stack import mean
from results_page import Page, Record, Records, Section

EQUAL = {
    "onnxruntime-int8": "int8",
    "nncf-int8": "int8",
    "torchao-int8": "int8-matrices",
    "torchao-int8-weights": "int8-matrices",
    "torchao-intx4-weights": "rtn-4",
}  # niwaki's counterpart of each tool


def compressors(rows: Records) -> str:
    """niwaki and other tools, from the same teachers."""
    newest = {row["seed"]: row for row in rows}
    found = [current_names(newest[seed]["contenders"]) for seed in sorted(newest)]
    peers = [name for name in found[0] if "-" in name and name.split("-")[0] in ("onnxruntime", "nncf", "torchao")]
    lines = [peer_line(name, [one[name] for one in found], name not in peers) for name in found[0]]
    return "\n".join(
        [
            "Command: `python benchmarks/against_compressors.py`. The same fine-tuned MiniLM-L6 on Rotten Tomatoes, quantized after training: ONNX Runtime's `quantize_dynamic`, NNCF's `quantize` (transformer, 300 "
            "training rows), torchao's `quantize_`, each as documented and in its own environment; the same test rows, one at a time. MB: weights and graph without tokenizer. Accuracy × 100, mean ± "
            "standard deviation over the seeds; the difference to the teacher is paired over the test rows, seed 0.",
            "",
            "| model | tool | accuracy | MB | difference to the teacher |\n|---|---|---|---|---|",
            *lines,
            "",
            *against(found, peers),
            "",
            f"Versions: {versions(found[0], peers)}.",
        ]
    )


def current_names(contenders: Record) -> Record:
    return {current(name): entry for name, entry in contenders.items()}


def peer_line(name: str, rows: Records, own: bool) -> str:
    tool = "niwaki" if own else "other"
    if "refused" in rows[0]:
        return f"| {name} | {tool} | does not run: {rows[0]['refused']} | | |"
    score, size = spread([100 * row["score"]["value"] for row in rows]), mean(lambda row: row["bytes"], rows) / 1e6
    return f"| {name} | {tool} | {score} | {size:.1f} | {gap(rows[0]['over_teacher']) if name != 'teacher' else ''} |"


def against(found: Records, peers: list[str]) -> list[str]:
    """niwaki's counterpart of each tool: ratio of the sizes and difference of the scores."""
    lines = []
    for peer in peers:
        if peer not in EQUAL or "refused" in found[0][peer]:
            continue
        own = EQUAL[peer]
        pairs = [one[own]["over"][peer] for one in found]
        size = mean(lambda one: one[own]["bytes"] / one[peer]["bytes"], found)  # noqa: B023 (used at once)
        lines.append(
            f"- `{own}` compared with {peer}, at {size:.2f} × its size: {'; '.join(gap(pair) for pair in pairs)} (points, per seed)."
        )
    return lines


def versions(contenders: Record, peers: Iterable[str]) -> str:
    known = {name: version for peer in peers for name, version in contenders[peer].get("versions", {}).items()}
    return ", ".join(f"{name} {version}" for name, version in known.items())


def headline() -> str:
    newest = {row["seed"]: row for row in records.read("compressors")}
    found = [current_names(newest[seed]["contenders"]) for seed in sorted(newest)]
    pairs = [one[own]["over"][peer] for one in found for peer, own in EQUAL.items() if "refused" not in one[peer]]
    worse = sum(pair["shown"] and pair["difference"] < 0 for pair in pairs)
    size = found[0]["rtn-4"]["bytes"] / found[0]["torchao-intx4-weights"]["bytes"]
    return f"Less accurate than the corresponding method of another tool in {worse} of {len(pairs)} comparisons; 4-bit weights take {size:.0%} of the size of torchao's."


PAGE = Page(
    "quantization",
    "Quantization, compared with other tools",
    "Compression",
    headline,
    (Section("compressors", "ONNX Runtime, NNCF and torchao", compressors),),
)
