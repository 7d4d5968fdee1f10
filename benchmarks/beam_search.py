"""Compares the generation speed of niwaki with transformers' `generate` on the same Marian model: `python benchmarks/beam_search.py`.

The weights are random, so every text has the maximum length; the shape is that of the translation model in docs/results/generation.md. This
measures decoding steps, the cache of keys and values, and the search. Appends a record to results/search.jsonl.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import torch
from records import append, circumstances

import stock
from niwaki.answers.text import TARGET, Text
from niwaki.core.seeds import numpy_generator
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.speed import race
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.target_tokenizer import load_target_tokenizer
from niwaki.run.runner import quiet_libraries

SHAPE = {
    "d_model": 256,
    "encoder_layers": 3,
    "decoder_layers": 3,
    "encoder_ffn_dim": 512,
    "decoder_ffn_dim": 512,
    "max_position_embeddings": 64,
}
VOCABULARY_SIZE, WORDS, LONGEST, TEXTS = 6000, 14, 20, 64


def main() -> None:
    quiet_libraries()
    words = [f"w{number}" for number in range(VOCABULARY_SIZE)]
    draw = numpy_generator(0, "search")
    texts = [" ".join(words[number] for number in row) for row in draw.integers(0, VOCABULARY_SIZE, (TEXTS, WORDS))]
    with tempfile.TemporaryDirectory() as folder:
        source = stock.folder("marian", Path(folder) / "stock", words=words, noise=0.05, **SHAPE)
        for beam in (1, 4):
            append(
                "search", {"beam": beam, **raced(source, Path(folder) / f"beam-{beam}", beam, texts), **circumstances()}
            )


def raced(source: Path, saved: Path, beam: int, texts: list[str]) -> dict[str, Any]:
    save(source, saved, beam)
    ours = {name: Predictor(saved, name) for name in ("onnx", "torch")}
    contenders = {"transformers": generating(source, beam), **{name: one.values for name, one in ours.items()}}
    written = {name: run(texts) for name, run in contenders.items()}
    found = race(contenders, texts, reference="transformers", singles=3)
    keys = ("throughput", "ratio", "latency_ms", "energy_per_1000")
    return {
        "shape": SHAPE,
        "pieces": VOCABULARY_SIZE,
        "texts": TEXTS,
        "longest": LONGEST,
        "same": {name: sum(map(str.__eq__, written[name], written["transformers"])) for name in ours},
        "contenders": {name: {key: entry[key] for key in keys} for name, entry in found["contenders"].items()},
    }


def save(source: Path, saved: Path, beam: int) -> None:
    """Saves the model as a stage does, with its graphs."""
    tokenizer = load_target_tokenizer(source)
    assert tokenizer is not None
    kind = Text(beam=beam, max_new_tokens=LONGEST, **tokenizer.special_tokens)
    model = load_folder(
        source, Head(["text"], kind.architecture, kind.to_json(), files=lambda: {TARGET: tokenizer.target})
    )
    saved.mkdir()
    model.save(saved)
    write_graph(model, saved)


def generating(source: Path, beam: int) -> Any:
    """Generates as the documentation of transformers recommends, on all cores."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    network, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(source).eval(), AutoTokenizer.from_pretrained(source)

    def run(texts: Sequence[str]) -> list[str]:
        found: list[str] = []
        for start in range(0, len(texts), 32):
            given = tokenizer(
                list(texts[start : start + 32]), return_tensors="pt", padding=True, return_token_type_ids=False
            )
            with torch.inference_mode():
                ids = network.generate(
                    **given,
                    num_beams=beam,
                    do_sample=False,
                    max_new_tokens=LONGEST,
                    length_penalty=1.0,
                    early_stopping=False,
                )
            found += tokenizer.batch_decode(ids, skip_special_tokens=True)
        return found

    return run


if __name__ == "__main__":
    main()
