"""Measures heads on a shared trunk: `python benchmarks/heads.py [DELTAS]`.

On MiniLM-L6 with random heads and random LoRA deltas, one thread, texts of rotten_tomatoes, all contenders in turns (medians of the rounds, processor seconds):
one head and nine, encoder outputs from the cache, and batches in which every row has another delta next to batches of a single one.
Appends one record to results/heads.jsonl.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from records import append, circumstances
from safetensors.torch import load_file, save_file

from niwaki.core.files import MANIFEST, commit_folder, fingerprint
from niwaki.core.head_folder import HEAD_WEIGHTS
from niwaki.engines.encoder_cache import EncoderCache
from niwaki.engines.export import write_graph
from niwaki.engines.heads import Heads
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.add_delta import AddDelta
from niwaki.models.head import Head
from niwaki.models.model import Model, load_folder
from niwaki.models.sources import locate
from niwaki.run.add_head import add_head
from niwaki.tasks.rotten_tomatoes import RottenTomatoes

TEXTS, ROUNDS, HEADS = 100, 7, 9


def saved(model: Model, folder: Path) -> Path:
    folder.mkdir()
    model.save(folder)
    write_graph(model, folder)
    return folder


def make_trunk(home: Path, deltas: int) -> Path:
    """MiniLM with nine heads without deltas and many with LoRA, all random."""
    start, labels = locate("minilm"), Head(["no", "yes"])
    trunk = saved(load_folder(start, labels), home / "trunk")
    first = add_head(trunk, saved(load_folder(start, labels), home / "plain"), "plain-0")
    model = load_folder(trunk)
    model.apply_edit(AddDelta(kind="lora", targets=["query", "value"], settings={"rank": 8}))
    tuned = add_head(trunk, saved(model, home / "lora"), "lora-0")
    copy_heads(first, HEADS)
    copy_heads(tuned, deltas)
    return trunk


def copy_heads(home: Path, count: int) -> None:
    """Further heads with other numbers: saving one by `add_head` each would trace the graph each time."""
    tensors = load_file(home / HEAD_WEIGHTS)
    for number in range(1, count):
        torch.manual_seed(number)
        other = {name: torch.randn_like(value) * 0.02 for name, value in tensors.items()}
        with commit_folder(home.with_name(f"{home.name.rpartition('-')[0]}-{number}")) as folder:
            for path in home.iterdir():
                if path.name not in (MANIFEST, HEAD_WEIGHTS):
                    (folder / path.name).write_bytes(path.read_bytes())
            save_file(other, folder / HEAD_WEIGHTS, metadata={"format": "pt"})


def seconds_of(contenders: dict[str, Callable[[], object]], prepare: Callable[[], None]) -> dict[str, float]:
    """The median processor time of each, run in turns; `prepare` runs before each and is not timed."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, run in contenders.items():
            if not name.startswith("cached"):
                prepare()
            began = time.process_time()
            run()
            times[name].append(time.process_time() - began)
    return {name: statistics.median(found) for name, found in times.items()}


def memory_mb() -> float:
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(fields["VmRSS"].split()[0]) / 1000


def measure_heads(trunk: Path, texts: list[str]) -> dict[str, float]:
    names, cache = [f"plain-{number}" for number in range(HEADS)], EncoderCache()
    nine, one = Heads(trunk, names, 1, cache), Heads(trunk, names[:1], 1, cache)
    alone = Predictor(trunk / "heads" / "plain-0", "torch", 1)
    found = seconds_of(
        {
            "niwaki.load, one head, batches": lambda: alone.predict(texts),
            "one head": lambda: one.predict(texts),
            "nine heads": lambda: nine.predict(texts),
            "cached nine heads": lambda: nine.predict(texts),
            "cached one head": lambda: one.predict(texts),
        },
        cache.clear,
    )
    encoder = seconds_of({"one head": lambda: one.predict(texts)}, cache.clear)["one head"]
    fetch = measure_fetch(one, texts)
    return {**found, "encoder pass of a text": encoder / len(texts), "fetching its outputs from memory": fetch}


def measure_fetch(heads: Heads, texts: list[str]) -> float:
    """Seconds to look up the encoder outputs of one text."""
    runtime = heads.heads["plain-0"].runtime
    encoded = heads.tokenize(texts)
    inputs = [
        {name: torch.from_numpy(array) for name, array in encoded.padded(torch.tensor([n]).numpy(), 0).items()}
        for n in range(len(texts))
    ]
    inputs = [{name: one[name] for name in runtime.inputs} for one in inputs]
    heads.predict(texts)
    calls = heads.trunk.encoder_calls
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for one in inputs:
            heads.trunk.readings(runtime.encoder, one)
        times.append((time.process_time() - began) / len(inputs))
    assert heads.trunk.encoder_calls == calls, "all outputs come from the cache"
    return min(times)


def measure_mixed(trunk: Path, texts: list[str], deltas: int) -> dict[str, float]:
    before = memory_mb()
    names, cache = [f"lora-{number}" for number in range(deltas)], EncoderCache()
    one = Heads(trunk, names[:1], 1, cache)
    one.predict(texts)
    with_one = memory_mb()
    heads = Heads(trunk, names, 1, cache)
    mixed = [names[number % deltas] for number in range(len(texts))]
    heads.predict_mixed(texts, mixed)
    with_all = memory_mb()
    alone = Predictor(trunk / "heads" / "lora-0", "torch", 1)
    found = seconds_of(
        {
            "mixed": lambda: heads.predict_mixed(texts, mixed),
            "single delta": lambda: heads.predict_mixed(texts, names[:1] * len(texts)),
            "niwaki.load, single delta, batches": lambda: alone.predict(texts),
        },
        cache.clear,
    )
    differing = sum(
        a.record() != heads.heads[name].predict([text])[0].record()
        for a, text, name in zip(heads.predict_mixed(texts, mixed), texts, mixed, strict=True)
    )
    sizes = {"before": before, "one delta": with_one, "all deltas": with_all}
    return {**found, "answers unlike the solo answer": differing, **{f"MB, {k}": v for k, v in sizes.items()}}


def main(deltas: int) -> None:
    torch.set_num_threads(1)
    task = RottenTomatoes()
    texts = list(task.inputs(task.splits()["test"]))[:TEXTS]
    with tempfile.TemporaryDirectory() as scratch:
        trunk = make_trunk(Path(scratch), deltas)
        heads, mixed = measure_heads(trunk, texts), measure_mixed(trunk, texts, deltas)
    record = {"texts": len(texts), "deltas": deltas, "heads": heads, "mixed": mixed}
    append("heads", {**record, "recipe": fingerprint([TEXTS, ROUNDS, HEADS]), **circumstances()})
    for name, value in {**heads, **mixed}.items():
        print(f"{name:<40} {value:12.6f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
