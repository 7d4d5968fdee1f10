"""Word and sentence vectors from plain text on STS-B: `python benchmarks/sentence_vectors.py DATA --text TEXT [--minutes 10] [names …]`.

TEXT is made by pretraining_text.py; DATA holds `stsb`. Each model of `TABLE` is trained for so many minutes; `random` is the encoder of
`quick_thought` without training. Then the cosines of the embeddings of both sentences are compared with the judgements of the
development rows; nothing is fitted. Appends to results/sentence_vectors.jsonl; recorded jobs are not repeated. Runs are stored in
runs/vectors-….
"""

from pathlib import Path
from typing import Any

import numpy as np
from jobs import main, make, spent_on
from pretraining import NOTHING, epochs_filling, seconds_of
from scipy.stats import pearsonr, spearmanr

import niwaki
from niwaki.core.files import read_json
from niwaki.core.json_types import Json
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.tasks.glue.stsb import StsB

TABLE_OF_WORDS: Json = {
    "use": "from_scratch",
    "family": "averaging",
    "layers": 1,
    "hidden_size": 256,
    "ffn_size": 128,
    "split": "wordpiece",
    "vocab_size": 20_000,
}
ENCODER: Json = {
    "use": "from_scratch",
    "layers": 3,
    "hidden_size": 256,
    "heads": 4,
    "ffn_size": 1024,
    "vocab_size": 8000,
    "positions": 64,
}
WORDS: Json = {"batch": 512, "lr": 1e-2, "dropout": 0.0, "weight_decay": 0.0}
SENTENCES: Json = {"batch": 256, "lr": 1e-3, "dropout": 0.1}
# name: objective, network, train block
TABLE: dict[str, tuple[str | Json, Json, Json]] = {
    "random": ("quick_thought", ENCODER, SENTENCES),
    "skip_gram": ("skip_gram", TABLE_OF_WORDS, WORDS),
    "skip_gram, plain mean": ({"use": "skip_gram", "weights": False}, TABLE_OF_WORDS, WORDS),
    "cbow": ("cbow", TABLE_OF_WORDS, WORDS),
    "glove": ("glove", TABLE_OF_WORDS, {**WORDS, "batch": 32_768, "lr": 2e-2}),
    "quick_thought": ("quick_thought", ENCODER, SENTENCES),
    "quick_thought, two encoders": ({"use": "quick_thought", "encoders": "two"}, ENCODER, SENTENCES),
    "skip_thought": ("skip_thought", ENCODER, SENTENCES),
}


def recipe(name: str, seed: int, text: str, epochs: float) -> Json:
    objective, method, train = TABLE[name]
    train = {**train, "objective": objective, "epochs": epochs, "keep": "last", "validations": 0}
    return {
        "model": "minilm",
        "task": "sentence_embedding",
        "data": {"path": text, "max_tokens": 64},
        "seed": seed,
        "quantize": [],
        "baselines": False,
        "stages": [{"name": "vectors", "methods": [method], "train": train}],
    }


def trained(name: str, seed: int, text: str, epochs: float) -> tuple[Plan, Path]:
    plan = make_plan(parse(recipe(name, seed, text, epochs)), name)
    folder = Path("runs") / f"vectors-{name.replace(', ', '-').replace(' ', '-')}-{seed}"
    make(plan, folder)
    return plan, folder


def sts(model: Path, data: str) -> dict[str, float]:
    """Correlations of cosines with judgements, in %."""
    rows = StsB(path=data).splits()["test"]
    predictor = niwaki.load(model)
    one, other = (predictor.encode(rows.column(name).to_pylist()) for name in ("text", "second"))
    cosines, judged = np.sum(one * other, axis=1), rows.column("label").to_numpy()
    return {
        "spearman": 100 * float(spearmanr(cosines, judged).statistic),
        "pearson": 100 * float(pearsonr(cosines, judged).statistic),
    }


def run(name: str, seed: int, data: str, text: str = "", minutes: str = "") -> dict[str, Any]:
    length = float(minutes or 10)
    text = str(Path(text or Path(data) / "pretraining").resolve())
    epochs = NOTHING
    if name != "random":
        epochs = epochs_filling(length, lambda epochs: seconds_of(*trained(name, seed, text, epochs)))
    plan, folder = trained(name, seed, text, epochs)
    home = folder / plan.stages[0].folder
    return {
        "vectors": name,
        "seed": seed,
        "minutes": length,
        "epochs": epochs,
        "text": Path(text).name,
        "next_sentence": read_json(home / "result.json")["score"],
        "stsb": sts(home / "model", data),
        "spent": spent_on(plan.stages[0], folder),
    }


if __name__ == "__main__":
    main(
        __doc__,
        "sentence_vectors",
        ("vectors", "seed"),
        [(name, 0) for name in TABLE],
        run,
        text="folder of texts, made by pretraining_text.py; default: the folder `pretraining` in DATA",
        minutes="minutes of training for each model; default: 10",
    )
