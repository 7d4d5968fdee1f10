"""How large the predictor's batches should be, and how to share cores: `python benchmarks/batches.py MODEL_FOLDER`.

Every setting runs the same texts in turns; appends one record to results/batches.jsonl. The defaults in
engines/predictor.py and the one thread a call of engines/runtimes/onnx.py come from this.
"""

import sys
from pathlib import Path

from records import append, circumstances

import niwaki
from niwaki.engines import predictor as module
from niwaki.evaluate.speed import race
from niwaki.tasks.rotten_tomatoes import RottenTomatoes

SETTINGS = ((8, 256), (16, 512), (32, 1024), (64, 2048), (128, 4096))
TEXTS = 512


def runner(model: niwaki.load, rows: int, tokens: int):
    def run(texts: list[str]) -> None:
        module.BATCH_ROWS, module.BATCH_TOKENS = rows, tokens
        model.logits(texts)

    return run


def main(folder: Path) -> None:
    task = RottenTomatoes()
    texts = [text for (text,) in task.texts(task.splits()["test"])][:TEXTS]
    streams = niwaki.load(folder)  # several calls at once, one thread each
    split = niwaki.load(folder, threads=1)  # one call at a time, its products split between cores
    split.runtime = SplitOnnx(folder)
    contenders = {f"{rows} rows, {tokens} tokens": runner(streams, rows, tokens) for rows, tokens in SETTINGS}
    contenders["32 rows, each product split between cores"] = runner(split, 32, 1024)
    result = race(contenders, texts, reference="32 rows, 1024 tokens", singles=5)
    rows = {name: {key: entry[key] for key in ("throughput", "ratio")} for name, entry in result["contenders"].items()}
    append("batches", {"model": folder.name, "settings": rows, **circumstances()})
    for name, entry in rows.items():
        print(f"{name:<45} {entry['throughput']['value']:8.0f}/s  {entry['ratio']['value']:.2f}")


class SplitOnnx:
    """The other way to use two cores."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime

        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
        self.inputs = [entry.name for entry in self.session.get_inputs()]

    def logits(self, ids, mask, types):
        given = {"ids": ids, "mask": mask, "types": types}
        return self.session.run(None, {name: given[name] for name in self.inputs})[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
