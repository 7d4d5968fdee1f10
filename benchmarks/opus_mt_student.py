"""Distils opus-mt into a smaller student: `python benchmarks/opus_mt_student.py DATA --weights FOLDER [sentences/layers …]`.

The teacher is opus-mt en-fr with a trimmed vocabulary (`opus_mt.usual_texts`), the student has some of its decoder layers. It is trained on what the teacher generates for
English sentences of Wikipedia (sequence-level distillation, Kim and Rush 2016), then packed in 8 bits. Validation rows are pairs of XNLI, the test is FLORES-101 dev. The
teacher's texts and finished stages are kept in runs/opus-student-SENTENCES-LAYERS, so a run can be stopped and resumed. Appends a record per job to results/opus_mt_student.jsonl.
"""

import json
import random
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from jobs import main, make, spent_on
from opus_mt import sentences, usual_texts

from niwaki.core.files import read_json
from niwaki.data.dataset_files import read_table
from niwaki.models.model import load_folder
from niwaki.models.trimming import trim_vocabulary
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse

DIRECTION = "en-fr"
JOBS = [(2_000, 3), (200_000, 3), (200_000, 2)]  # the first is a pilot
WORDS = range(5, 60)  # of a sentence
TRAIN = {"batch": 32, "lr": 2e-4, "dropout": 0.1}


def recipe(trimmed: Path, data: Path, layers: int, epochs: float) -> dict[str, Any]:
    """docs/encoder_decoder_models.md has it as a file."""
    student = [{"use": "decoder", "count": layers, "choose": "spread"}, {"use": "sequence_kd"}]
    return {
        "model": str(trimmed),
        "task": "translation",
        "data": {"path": str(data)},
        "quantize": [],
        "stages": [
            {"name": "teacher", "methods": []},
            {
                "name": "student",
                "teacher": "teacher",
                "methods": student,
                "train": {**TRAIN, "epochs": epochs},
            },
            {"name": "int8", "methods": [{"use": "int8"}]},
        ],
    }


def run(count: int, layers: int, data: str, weights: str, epochs: str) -> dict[str, Any]:
    home, model = Path("runs") / f"opus-student-{count}-{layers}", Path(weights).expanduser() / f"opus-mt-{DIRECTION}"
    rows, trimmed = home / "data", home / "trimmed"
    write_rows(rows, data, count)
    if not (trimmed / "config.json").exists():
        texts, targets = (usual_texts(data, language) for language in DIRECTION.split("-"))
        smaller = trim_vocabulary(load_folder(model), texts, targets, all_characters=False)
        trimmed.mkdir(parents=True, exist_ok=True)
        smaller.save(trimmed)
    plan = make_plan(parse(recipe(trimmed, rows, layers, float(epochs or 3))), home.name)
    make(plan, home)
    teacher, student, packed = (read_json(home / stage.folder / "result.json") for stage in plan.stages)
    found = {name: one["score"] for name, one in (("teacher", teacher), ("student", student), ("int8", packed))}
    return {
        "sentences": count,
        "decoder_layers": layers,
        "epochs": float(epochs or 3),
        "scores": found,
        "bytes": {"teacher": teacher["bytes"], "int8": packed["bytes"]},
        "published_bytes": (model / "model.safetensors").stat().st_size,
        "kept": found["int8"]["value"] / found["teacher"]["value"],
        "spent": [spent_on(stage, home) for stage in plan.stages],
    }


def write_rows(folder: Path, data: str, count: int) -> None:
    """`train`, `validation` and `test` files of pairs. The targets of training rows are the teacher's, so they are the sources here."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = read_table(Path(data).expanduser() / "xnli" / "dev.parquet").slice(0, 500)
    sides = (pairs.column(f"premise_{language}").to_pylist() for language in DIRECTION.split("-"))
    write(folder / "train.jsonl", ((text, text) for text in islice(wikipedia(data), count)))
    write(folder / "validation.jsonl", zip(*sides, strict=True))
    write(folder / "test.jsonl", zip(*sentences(data, DIRECTION, 0), strict=True))


def write(path: Path, pairs: Iterable[tuple[str, str]]) -> None:
    rows = dict(pairs)  # no source twice
    lines = (json.dumps({"source": source, "target": target}, ensure_ascii=False) for source, target in rows.items())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def wikipedia(data: str) -> Iterator[str]:
    """Sentences in random order."""
    articles = read_table(Path(data).expanduser() / "wiki_en" / "train.parquet").column("text").to_pylist()
    found = [
        sentence.strip() + "."
        for text in articles
        for line in text.split("\n")
        for sentence in line.rstrip(". ").split(". ")
        if len(sentence.split()) in WORDS
    ]
    random.Random(0).shuffle(found)
    yield from found


if __name__ == "__main__":
    main(
        __doc__,
        "opus_mt_student",
        ("sentences", "decoder_layers"),
        JOBS,
        run,
        weights="folder with the published models",
        epochs="passes over the sentences; 3 by default",
    )
