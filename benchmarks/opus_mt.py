"""Translates FLORES-101 dev with opus-mt as published and smaller: `python benchmarks/opus_mt.py DATA --weights FOLDER [direction[/variant] …]`.

DATA is a folder of tasks with `flores/dev.parquet`, a column per language (997 sentences). `--weights` has the folders `opus-mt-en-fr` and
`opus-mt-fr-en` of Helsinki-NLP (Marian, 75 million parameters). A variant is a list of changes: `trimmed` keeps the tokens of English and French
texts of other tasks (Wikipedia, image captions, sentence pairs), `3 decoder layers` those evenly spaced, `int8` packs weights, `4 bits`, `4-bit table` and `4-bit matrices` all or some in groups of 64. `--engine` is
native by default. `--rows` takes the first sentences only; a record says how many. Appends a record per job to results/opus_mt.jsonl.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
from jobs import main

from niwaki.data.dataset_files import read_table
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.quality import bootstrap_rows
from niwaki.models.edits.decoder import Decoder
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.model import Model, load_folder
from niwaki.models.trimming import trim_vocabulary
from niwaki.tasks import _translation_scores as scores

# BLEU that the issue tracker states as published
PUBLISHED = {"en-fr": 47.7, "fr-en": 43.0}
VARIANTS = (
    "fp32",
    "int8",
    "4 bits",
    "4-bit matrices + int8",
    "trimmed",
    "trimmed + int8",
    "trimmed + 4-bit table + int8",
    "trimmed + 4-bit matrices + int8",
    "trimmed + 5 decoder layers + int8",
    "trimmed + 3 decoder layers + int8",
)
JOBS = [(direction, variant) for direction in PUBLISHED for variant in VARIANTS]
WIKIPEDIA_ARTICLES = 10_000  # for trimming


def run(direction: str, variant: str, data: str, weights: str, rows: str, engine: str) -> dict[str, Any]:
    engine, count = engine or "native", int(rows or 0)
    texts, references = sentences(data, direction, count)
    found, facts = translated(direction, variant, data, weights, count, engine)
    whole = reference(direction, data, weights, count, engine)
    return {
        "direction": direction,
        "variant": variant,
        "engine": engine,
        "rows": len(texts),
        "of": len(sentences(data, direction, 0)[0]),
        "bleu": sacrebleu.corpus_bleu(found, [references]).score,
        "chrf": sacrebleu.corpus_chrf(found, [references]).score,
        "published_bleu": PUBLISHED[direction],
        "kept": kept(found, whole, references),
        **facts,
        "outputs": found[:3],
    }


def sentences(data: str, direction: str, count: int) -> tuple[list[str], list[str]]:
    table = read_table(Path(data).expanduser() / "flores" / "dev.parquet")
    source, target = (table.column(language).to_pylist()[: count or None] for language in direction.split("-"))
    return source, target


def reference(direction: str, data: str, weights: str, count: int, engine: str) -> list[str]:
    """The translations of the unchanged model, which later jobs find in a file."""
    path = Path("runs") / f"opus-mt-{direction}-{engine}-{count}.json"
    if not path.exists():
        found, _ = translated(direction, "fp32", data, weights, count, engine)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found), encoding="utf-8")
    texts: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return texts


@cache
def translated(
    direction: str, variant: str, data: str, weights: str, count: int, engine: str
) -> tuple[list[str], dict[str, Any]]:
    """The translations with the published search, and the size and processor seconds of the model."""
    model = load_folder(Path(weights).expanduser() / f"opus-mt-{direction}")
    for change in variant.split(" + "):
        changed(model, change, data, direction)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder))
        write_graph(model, Path(folder))
        write_program(model, Path(folder))
        predictor, began = Predictor(Path(folder), engine), time.process_time()
        found = [one.text for one in predictor.predict(sentences(data, direction, count)[0])]
        seconds, size = time.process_time() - began, (Path(folder) / "model.safetensors").stat().st_size
    tokens = model.anatomy.tokens.num_embeddings
    return found, {"tokens": tokens, "parameters": model.parameters(), "bytes": size, "cpu_seconds": seconds}


def changed(model: Model, change: str, data: str, direction: str) -> None:
    """Applies a change of a variant."""
    if change == "trimmed":
        texts, targets = (usual_texts(data, language) for language in direction.split("-"))
        trim_vocabulary(model, texts, targets, all_characters=False)
    elif change == "int8":
        model.apply_edit(Int8())
    elif change == "4 bits":
        model.apply_edit(LowBit(base=16, group=64, small_weights=True))
    elif change in ("4-bit table", "4-bit matrices"):
        model.apply_edit(LowBit(base=16, group=64, matrices=change == "4-bit matrices", table=change == "4-bit table"))
    elif change.endswith(" decoder layers"):
        count = int(change.split()[0])
        model.apply_edit(Decoder(keep=[round(place) for place in np.linspace(0, 5, count)]))


def usual_texts(data: str, language: str) -> Iterator[str]:
    """English or French texts that are not those of FLORES."""
    home = Path(data).expanduser()
    if language == "en":
        yield from read_table(home / "wiki_en" / "train.parquet").column("text").to_pylist()[:WIKIPEDIA_ARTICLES]
    columns = {
        "multi30k/train": (language,),
        "xnli/dev": (f"premise_{language}", f"hypothesis_{language}"),
        "xnli/test": (f"premise_{language}", f"hypothesis_{language}"),
        "pawsx/dev": (f"sentence1_{language}", f"sentence2_{language}"),
        "pawsx/test": (f"sentence1_{language}", f"sentence2_{language}"),
        f"ud_pud/{language}": ("text",),
        f"wmt22/{'fr-de' if language == 'fr' else 'en-de'}": ("source",),
        f"muse_dicts/{'fr-en' if language == 'fr' else 'en-fr'}": ("source",),
    }
    columns |= {"wmt22/de-fr": ("ref_A", "hyp_Online-B")} if language == "fr" else {}
    for name, named in columns.items():
        table = read_table(home / f"{name}.parquet")
        for column in named:
            yield from filter(None, table.column(column).to_pylist())


def kept(found: list[str], whole: list[str], references: list[str]) -> dict[str, float]:
    """The share of the BLEU of the unchanged model, with a paired bootstrap interval of 95 %."""
    ours, theirs = (scores.counts(texts, references) for texts in (found, whole))
    share = lambda rows: scores.bleu(ours[rows].sum(axis=0)) / scores.bleu(theirs[rows].sum(axis=0))  # noqa: E731
    low, high = np.quantile([share(rows) for rows in bootstrap_rows(len(ours), 0)], [0.025, 0.975])
    return {"value": share(np.arange(len(ours))), "low": float(low), "high": float(high)}


if __name__ == "__main__":
    main(
        __doc__,
        "opus_mt",
        ("direction", "variant"),
        JOBS,
        run,
        weights="folder with the published models",
        rows="how many sentences; all by default",
        engine="native, onnx or torch",
    )
