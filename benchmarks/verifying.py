"""Measures the cost of verifying a model folder on loading: `python benchmarks/verifying.py`.

Commits folders with random weights of several sizes and verifies them as `niwaki.load` does, with the file in the page cache. The
load of a real model is timed with and without verification, interleaved. Appends a record to results/verifying.jsonl.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

from records import append, circumstances

from niwaki.core.files import commit_folder
from niwaki.core.model_integrity import check_unchanged
from niwaki.engines import predictor
from niwaki.engines.export import write_graph
from niwaki.models.head import Head
from niwaki.models.sources import load

SIZES_MB = (20, 90, 400)
ROUNDS = 7


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        record = {"sizes": [of_size(Path(place), size) for size in SIZES_MB], "load": of_model(Path(place))}
    append("verifying", {**record, **circumstances()})
    print(record)


def of_size(place: Path, megabytes: int) -> dict:
    with commit_folder(place / f"model-{megabytes}") as folder:
        (folder / "model.safetensors").write_bytes(os.urandom(megabytes * 1_000_000))
    times = [seconds(lambda: check_unchanged(place / f"model-{megabytes}")) for _ in range(ROUNDS)]
    return {"megabytes": megabytes, "seconds": statistics.median(times), "low": min(times), "high": max(times)}


def of_model(place: Path) -> dict:
    """The bundled MiniLM, loaded in ONNX Runtime."""
    with commit_folder(place / "minilm") as folder:
        model = load("minilm", Head(["negative", "positive"]))
        model.save(folder)
        write_graph(model, folder)
    check, times = predictor.check_unchanged, {"verified": [], "unverified": []}
    for _ in range(ROUNDS):
        for name, verify in (("verified", check), ("unverified", lambda folder: None)):
            predictor.check_unchanged = verify
            times[name].append(seconds(lambda: predictor.Predictor(place / "minilm", "onnx", threads=1)))
    predictor.check_unchanged = check
    size = sum(path.stat().st_size for path in (place / "minilm").iterdir())
    return {"megabytes": size / 1e6, **{name: statistics.median(found) for name, found in times.items()}}


def seconds(call) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
