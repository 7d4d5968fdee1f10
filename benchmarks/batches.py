"""Compares batch sizes and ways to share cores in the predictor: `python benchmarks/batches.py MODEL_FOLDER`.

Every setting runs the same texts, interleaved. Appends one record to results/batches.jsonl. The defaults of the scheduler and the single
thread per call in engines/runtimes/onnx.py are based on it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from records import append, circumstances

from niwaki.engines import runtime
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.speed import Runner, race
from niwaki.tasks.rotten_tomatoes import RottenTomatoes

SETTINGS = ((8, 256), (16, 512), (32, 1024), (64, 2048), (128, 4096))
TEXTS = 512


def runner(model: Predictor, rows: int, tokens: int) -> Runner:
    def run(texts: Sequence[str]) -> None:
        runtime.BATCH_ROWS, runtime.BATCH_TOKENS = rows, tokens
        model.values(texts)

    return run


def main(folder: Path) -> None:
    task = RottenTomatoes()
    texts = list(task.inputs(task.splits()["test"]))[:TEXTS]
    streams = Predictor(folder, "onnx")  # concurrent calls with one thread each
    contenders = {f"{rows} rows, {tokens} tokens": runner(streams, rows, tokens) for rows, tokens in SETTINGS}
    contenders["32 rows, each product split between cores"] = runner(split(folder), 32, 1024)
    result = race(contenders, texts, reference="32 rows, 1024 tokens", singles=5)
    rows = {name: {key: entry[key] for key in ("throughput", "ratio")} for name, entry in result["contenders"].items()}
    append("batches", {"model": folder.name, "settings": rows, **circumstances()})
    for name, entry in rows.items():
        print(f"{name:<45} {entry['throughput']['value']:8.0f}/s  {entry['ratio']['value']:.2f}")


def split(folder: Path) -> Predictor:
    """The alternative for two cores: one call at a time."""
    import onnxruntime

    found = Predictor(folder, "onnx", threads=1)
    found.runtime.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
