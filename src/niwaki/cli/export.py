"""Writes a model as an engine wants it, if it still answers as before."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result

PANEL = "Use"
PEFT = "peft"


def command(
    model: str = typer.Argument(help="folder of a model, or of a run (then the stage it says to deploy)"),
    to: str = typer.Option(
        "native",
        help="an engine of `niwaki list engines` (native, onnx, openvino, torch or a plug-in), or hub: the layout that Optimum, "
        "sentence-transformers, transformers.js and TEI read; or peft: a LoRA, (IA)³, prompt or prefix alone, as the peft package reads it",
    ),
    out: Path = typer.Option(Path("exported"), help="folder to write"),
    precision: str = typer.Option("", help="int8 or float; none is int8 for native, and as it is for the others"),
    task: str = typer.Option("", help="task whose test rows are the gate (niwaki list tasks)"),
    data: str = typer.Option("", help="rows that are the gate: csv, tsv, jsonl, parquet, a folder"),
    set_: list[str] = typer.Option([], "--set", help="change a setting of the data: data.text=review"),
    tolerance: float = typer.Option(0.005, min=0.0, max=1.0, help="how much of the score may be lost"),
    json: AsJson = False,
) -> None:
    """Write a model for an engine, and compare it with its source: the same texts, in torch and in the engine.

    With --task or --data the gate is the score on the test rows: a loss beyond --tolerance gives exit code 4, and nothing is
    written. Without them, it is the share of the embedded sentences with the same answer.
    """
    from niwaki import api

    if to == PEFT:
        folder = str(api.write_peft(model, out))
        print_result({"out": folder}, json, f"{folder}: the delta in peft's format")
        return
    result = api.export(model, to, out, precision=precision, task=task, data=data, overrides=set_, tolerance=tolerance)
    lines = [
        f"{result['out']}: {result['bytes'][1] / 1e6:.1f} MB, was {result['bytes'][0] / 1e6:.1f} MB",
        f"{result['same_answers']:.2%} of {result['texts']} texts are answered as before; logits {result['logits_apart']['mean']:.2g} apart, {result['logits_apart']['most']:.2g} at most",
    ]
    if "scores" in result:
        before, after = result["scores"]
        paired = result["paired"]
        lines.append(
            f"{result['metric']} {after:.4f}, was {before:.4f}: {after - before:+.4f} ({paired['low']:+.4f} to {paired['high']:+.4f})"
        )
    if result["remark"]:
        lines.append(result["remark"])
    print_result(result, json, "\n".join(lines))
