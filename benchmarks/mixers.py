"""Time of encoders with cheaper attention by length of the text: `python benchmarks/mixers.py [laps]` (5).

A BERT of 6 layers with a hidden size of 384 and random weights, 4,096 positions, in ONNX Runtime with one thread: plain attention, windows of 64
tokens, linear attention, Fourier mixing in the first four layers or in all, and tokens dropped until 30 % are left. Laps are interleaved and every lap runs each model once at each length, with about 4,096
tokens a call; a figure is the median over laps. Appends to results/mixers.jsonl.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from records import append, circumstances

import tiny
from niwaki.engines.export import write_graph
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.methods._method import Method, Reshapes
from niwaki.methods.convert.fourier import Fourier
from niwaki.methods.convert.linear_attention import LinearAttention
from niwaki.methods.convert.token_dropping import TokenDropping
from niwaki.methods.convert.window import Window
from niwaki.models.model import Model

LENGTHS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
TOKENS = 4096  # of a call
SHAPE = {"hidden_size": 384, "num_attention_heads": 12, "intermediate_size": 1536, "num_hidden_layers": 6}
METHODS: dict[str, Reshapes | None] = {
    "attention": None,
    "window 64": Window(window=64),
    "linear attention": LinearAttention(),
    "fourier 4 of 6": Fourier(attention_layers=2),
    "fourier": Fourier(attention_layers=0),
    "token dropping": TokenDropping(),
}


def encoder() -> Model:
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = tiny.tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=max(LENGTHS),
        num_labels=2,
        architectures=["BertForSequenceClassification"],
        **SHAPE,
    )
    return Model(BertForSequenceClassification(config).eval(), tokenizer)


def engine(method: Reshapes | None, folder: Path) -> Onnx:
    model = encoder()
    if method is not None:
        assert isinstance(method, Method)
        model = method.dry_prepare(model)
    folder.mkdir()
    model.save(folder)
    write_graph(model, folder)
    return Onnx(folder, 1)


def seconds(runtime: Onnx, length: int) -> float:
    """For one text."""
    texts = TOKENS // length
    ids = np.full((texts, length), 7, dtype=np.int64)
    arrays = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    start = time.process_time()
    runtime.logits(arrays)
    return (time.process_time() - start) / texts


def main(laps: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        engines = {
            name: engine(method, Path(home) / f"{place}") for place, (name, method) in enumerate(METHODS.items())
        }
        found: dict[str, dict[int, list[float]]] = {name: {length: [] for length in LENGTHS} for name in engines}
        for lap in range(laps + 1):  # the first one warms up
            for length in LENGTHS:
                for name, runtime in engines.items():
                    spent = seconds(runtime, length)
                    if lap:
                        found[name][length].append(spent)
            print(f"lap {lap} of {laps}", file=sys.stderr)
    medians = {name: {str(n): statistics.median(each) for n, each in by.items()} for name, by in found.items()}
    append("mixers", {"laps": laps, "shape": SHAPE, "seconds": medians, **circumstances()})
    for name, by_length in medians.items():
        print(name, *(f"{length}: {1000 * value:.2f} ms" for length, value in by_length.items()), sep="\t")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
