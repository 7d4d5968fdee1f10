"""A tiny model for each answer type, and example inputs."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import tiny
from niwaki.answers._sense_inventory import SenseInventory, Vectors
from niwaki.answers._sense_inventory import labels as sense_labels
from niwaki.answers.image_caption import ImageCaption
from niwaki.answers.senses import Sentence, Target
from niwaki.answers.text import TARGET, Text
from niwaki.answers.verified import Verified
from niwaki.data.wordnet import SENSES as SCHEMA
from niwaki.models.model import Model
from niwaki.models.skeleton import CONDITIONAL_GENERATION
from niwaki.tokenization.training import make

ROWS = [text for text, _ in tiny.sentences(24, seed=3)]
SENSES = {"film": 2, "story": 3, "end": 1}
DRAW = np.random.default_rng(3)
COLOURS = DRAW.uniform(0, 1, (24, 1, 1, 3))
IMAGES = [*(DRAW.integers(0, 256, (24, 9, 13, 3)) * COLOURS).astype(np.uint8)]  # as large as tiny ViTs read them
LONG = " ".join(ROWS[:18])  # does not fit into a window


def sentence_of(words: list[str]) -> Sentence:
    """All of its words that the inventory has."""
    return Sentence(words, [Target(place, word, "noun") for place, word in enumerate(words) if word in SENSES])


KINDS: dict[str, tuple[dict[str, Any], list[str], str]] = {  # settings, labels, head
    "label": ({}, ["no", "maybe", "yes"], "SequenceClassification"),
    "labels": ({"threshold": 0.4}, ["a", "b", "c", "d"], "SequenceClassification"),
    "number": ({"mean": 30.0, "scale": 12.5}, ["value"], "SequenceClassification"),
    "choice": ({}, ["score"], "SequenceClassification"),
    "tags": ({}, ["O", "B-PER", "I-PER"], "TokenClassification"),
    "roles": (
        {"rolesets": "good good.02 good.01\nfilm film.01"},
        ["O", "P", "B-A0", "I-A0", "S-01", "S-02"],
        "TokenClassification",
    ),
    "span": ({"stride": 8, "max_answer_tokens": 6}, ["start", "end"], "QuestionAnswering"),
    "senses": ({}, sense_labels(6), "TokenClassification"),
    "embedding": ({}, [], "FeatureExtraction"),
    "likelihood": ({"mask_token_id": tiny.tokenizer().mask_token_id}, [], "MaskedLM"),
    "image_label": ({}, ["no", "maybe", "yes"], "ImageClassification"),
    "image_embedding": ({}, [], "FeatureExtraction"),
}
IMAGE_FAMILIES = {"bert": "vit", "roberta": "deit"}
INPUTS: dict[str, list[Any]] = {
    "label": [*ROWS, *zip(ROWS[:6], ROWS[6:], strict=False)],
    "labels": ROWS,
    "number": list(zip(ROWS[:12], ROWS[12:], strict=True)),
    "choice": [(ROWS[number], ROWS[number + 1 : number + 3 + number % 3]) for number in range(18)],
    "tags": [text.rstrip(".").split() for text in ROWS] + [["film"], LONG.split()],
    "roles": [text.rstrip(".").split() for text in ROWS]
    + [(text.rstrip(".").split(), 2) for text in ROWS]
    + [LONG.split(), ["film"]],
    "span": [("was it good", ROWS[number]) for number in range(12)] + [("the end", LONG), ("a plot and a scene", LONG)],
    "senses": [sentence_of(text.rstrip(".").split()) for text in ROWS]
    + [sentence_of(["film"]), sentence_of(LONG.split())],
    "embedding": ROWS,
    "likelihood": [*ROWS[:4], (ROWS[4], ROWS[5])],
    "image_label": IMAGES,
    "image_embedding": IMAGES,
}


GENERATED = {"text": Text, "verified": Verified, "image_caption": ImageCaption}


def sense_inventory() -> SenseInventory:
    """Three lemmas of two or three senses, whose glosses have random vectors."""
    senses = [(lemma, n) for lemma, count in SENSES.items() for n in range(1, count + 1)]
    rows = [
        {
            "sense_key": f"{lemma}%1:0{n}:00::",
            "lemma": lemma,
            "pos": "noun",
            "synset": f"{lemma}{n}-n",
            "sense_number": n,
            "tag_count": n,
        }
        for lemma, n in senses
    ]
    synsets = [
        {"synset": row["synset"], "lexfile": number, "gloss": f"a {row['lemma']}"} for number, row in enumerate(rows)
    ]
    vectors = np.random.default_rng(0).normal(size=(len(rows), 6)).astype(np.float32)
    packed = Vectors.packed(vectors, np.arange(len(rows)), len(rows))
    return SenseInventory(
        pa.Table.from_pylist(rows, SCHEMA), pa.Table.from_pylist(synsets), {("ends", "noun"): "end"}, packed
    )


def model_of(kind: str, family: str = "bert", seed: int = 5, **more: Any) -> Model:
    if kind in GENERATED:
        return writing(kind, IMAGE_FAMILIES[family] if kind.startswith("image_") else family, seed)
    settings, labels, head = KINDS[kind]
    family = IMAGE_FAMILIES[family] if kind.startswith("image_") else family
    model = tiny.model(family, layers=2, labels=labels, head=head, seed=seed)
    model.network.config.niwaki_answer = {"kind": kind, **settings, **more}
    model.sibling_files = sense_inventory().to_files() if kind == "senses" else {}
    return model


def writing(kind: str, family: str, seed: int) -> Model:
    """A model that generates text with its own tokenizer."""
    words = " ".join(f"{family[0]}{number}" for number in range(tiny.TARGET_TOKENS))
    answer_type = GENERATED[kind](beam=2, max_new_tokens=6).to_json()
    model = tiny.model(
        family, layers=1, head=CONDITIONAL_GENERATION, labels=["text"], seed=seed, niwaki_answer=answer_type
    )
    model.sibling_files = {TARGET: make([words], "words", tiny.TARGET_TOKENS).encode()}
    return model


def saved(model: Model, folder: Path) -> Path:
    return tiny.with_graphs(model, folder)
