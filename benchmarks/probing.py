"""Probes of a teacher and its compressed copies: `python benchmarks/probing.py DATA [seed …]`.

The models of probing_models.py are made first (minutes of training, in runs/probing-SEED). DATA holds `propbank_ewt` (sentences with parts of
speech and dependency trees), `semcor` (senses) and `wnut17` (names). Appends a record per seed to results/probing.jsonl; recorded ones are
not repeated. The seed also draws sentences and control labels.
"""

from pathlib import Path

import probing_models
from jobs import main

from niwaki.core.files import folder_bytes, read_json
from niwaki.core.json_types import Json
from niwaki.evaluate.probing.probe import probe
from niwaki.evaluate.probing.rows import read_sentences
from niwaki.models.model import load_folder
from niwaki.models.sources import locate

FILES = ("propbank_ewt/test.parquet", "semcor/semcor.parquet", "wnut17/test.parquet")
SENTENCES, EXAMPLES = 1000, 1500
PRETRAINED = "MiniLM"


def run(seed: int, data: str) -> Json:
    made = probing_models.models(seed)
    folders = {"teacher": made["teacher"], PRETRAINED: locate("minilm"), **made}
    sentences = read_sentences([Path(data) / name for name in FILES], SENTENCES, seed)
    models = {name: (lambda folder=folder: load_folder(folder)) for name, folder in folders.items()}
    found = probe(models, sentences, [], EXAMPLES, seed)
    return {
        "seed": seed,
        "recipe": probing_models.recipe(seed)["stages"],
        "files": FILES,
        "models": {name: about(folder) for name, folder in folders.items()},
        **found,
    }


def about(folder: Path) -> Json:
    """Bytes, and the accuracy on the task where the model was trained on it."""
    result = folder.parent / "result.json"
    score = read_json(result)["score"] if result.is_file() else None
    return {"bytes": folder_bytes(folder), "score": score}


if __name__ == "__main__":
    main(__doc__, "probing", ("seed",), [(seed,) for seed in range(3)], run)
