"""Translates FLORES-101 dev with opus-mt as published and smaller: `python benchmarks/opus_mt.py DATA --weights FOLDER [direction[/variant] …]`.

DATA is a folder of tasks with `flores/dev.parquet`, a column per language (997 sentences). `--weights` has the folders `opus-mt-en-fr` and
`opus-mt-fr-en` of Helsinki-NLP (Marian, 75 million parameters). `--rows` takes the first sentences only; a record says how many. `trimmed` keeps the tokens
of the sentences of both languages, without other scripts. Appends a record per job to results/opus_mt.jsonl.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

import sacrebleu
from jobs import main

from niwaki.data.dataset_files import read_table
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.int8 import Int8
from niwaki.models.model import Model, load_folder
from niwaki.models.trimming import trim_vocabulary

# BLEU that the issue tracker states as published
PUBLISHED = {"en-fr": 47.7, "fr-en": 43.0}
VARIANTS = ("fp32", "int8", "trimmed", "trimmed int8")
JOBS = [(direction, variant) for direction in PUBLISHED for variant in VARIANTS]


def run(direction: str, variant: str, data: str, weights: str, rows: str) -> dict[str, Any]:
    source, target = direction.split("-")
    table = read_table(Path(data).expanduser() / "flores" / "dev.parquet")
    texts, references = (table.column(language).to_pylist()[: int(rows or 0) or None] for language in (source, target))
    model = load_folder(Path(weights).expanduser() / f"opus-mt-{direction}")
    if "trimmed" in variant:
        model = trim_vocabulary(model, texts, references, all_characters=False)
    if "int8" in variant:
        model.apply_edit(Int8())
    with tempfile.TemporaryDirectory() as folder:
        found, size, seconds = translated(model, texts, Path(folder))
    return {
        "direction": direction,
        "variant": variant,
        "rows": len(texts),
        "of": table.num_rows,
        "bleu": sacrebleu.corpus_bleu(found, [references]).score,
        "chrf": sacrebleu.corpus_chrf(found, [references]).score,
        "published_bleu": PUBLISHED[direction],
        "tokens": model.anatomy.tokens.num_embeddings,
        "parameters": model.parameters(),
        "bytes": size,
        "cpu_seconds": seconds,
        "outputs": found[:3],
    }


def translated(model: Model, texts: list[str], folder: Path) -> tuple[list[str], int, float]:
    """The translations in ONNX Runtime with the published search, bytes of the weights, and processor seconds."""
    model.save(folder)
    write_graph(model, folder)
    predictor, began = Predictor(folder, "onnx"), time.process_time()
    found = [one.text for one in predictor.predict(texts)]
    return found, (folder / "model.safetensors").stat().st_size, time.process_time() - began


if __name__ == "__main__":
    main(
        __doc__,
        "opus_mt",
        ("direction", "variant"),
        JOBS,
        run,
        weights="folder with the published models",
        rows="how many sentences; all by default",
    )
