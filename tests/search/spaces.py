"""A recipe with two stages that can be made in any order, and its space."""

import json

import tiny
from niwaki.run.recipe import parse
from niwaki.run.recipe_settings import Recipe
from niwaki.search.space import Space, make_space

STAGES = [
    {"name": "teacher", "train": {"epochs": 1, "lr": 2e-3}},
    {
        "name": "student",
        "teacher": "teacher",
        "methods": [{"use": "vocabulary"}, {"use": "student", "layers": 2}, {"use": "logits"}],
        "train": {"epochs": 2, "lr": 2e-3},
    },
    {
        "name": "pruned",
        "teacher": "teacher",
        "methods": [{"use": "heads"}, {"use": "ffn", "multiple": 8}, {"use": "logits"}],
        "train": {"epochs": 1, "lr": 1e-3},
    },
    {"name": "int8", "methods": [{"use": "int8"}]},
]


def recipe(**search: object) -> Recipe:
    stages = json.loads(json.dumps(STAGES))
    return parse({"model": "minilm", "task": "rotten_tomatoes", "search": search, "stages": stages})


def space(**search: object) -> Space:
    return make_space(recipe(**search), tiny.model("bert", layers=6, width=48, heads=6, ffn=256))
