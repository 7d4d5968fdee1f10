"""Mutations of fuzz.py: JSON trees with changed values, other inputs as bytes."""

import json
import random
from typing import Any

VALUES = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    3,
    31,
    0.5,
    1e308,
    -1e-308,
    2**31,
    2**63,
    10**40,
    float("nan"),
    float("inf"),
    "",
    "x",
    "x" * 3000,
    "../../x",
    "a\0b",
    "é\ud800",
    "stages",
    "logits",
    "int8",
    "heads",
    "BertForSequenceClassification",
    "roberta",
    [],
    {},
    [[]],
    {"use": "int8"},
    [0, 0],
    {"0": "a"},
)

KEYS = (  # known to one of the readers
    "auto_map",
    "trust_remote_code",
    "attn_implementation",
    "_attn_implementation",
    "quantization_config",
    "torch_dtype",
    "dtype",
    "text_config",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "niwaki_answer",
    "niwaki_max_tokens",
    "architectures",
    "model_type",
    "tie_word_embeddings",
    "edit",
    "keep",
    "edits",
    "base",
    "version",
    "teacher",
    "start",
    "train",
    "methods",
    "use",
    "epochs",
    "seeds",
    "meter",
    "data",
    "path",
    "name",
)


def mutated(data: bytes, max_bytes: int, seed: int) -> bytes:
    """Changes a few values of a JSON tree; mutates bytes if it is none, and sometimes otherwise."""
    import atheris

    draw = random.Random(seed)
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return atheris.Mutate(data, max_bytes)
    if draw.random() < 0.2:
        return atheris.Mutate(data, max_bytes)
    for _ in range(draw.randint(1, 3)):
        tree = changed(tree, draw)
    return json.dumps(tree, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")[:max_bytes]


def changed(tree: Any, draw: random.Random) -> Any:
    if isinstance(tree, dict) and tree and draw.random() < 0.9:
        key = draw.choice(list(tree))
        kind = draw.random()
        if kind < 0.1:
            return {other: value for other, value in tree.items() if other != key}
        if kind < 0.2:
            return {**tree, str(draw.choice((*KEYS, *VALUES))): draw.choice((*VALUES, *tree.values()))}
        return {**tree, key: changed(tree[key], draw)}
    if isinstance(tree, list) and tree and draw.random() < 0.9:
        place = draw.randrange(len(tree))
        kind = draw.random()
        if kind < 0.15:
            return tree[:place] + tree[place + 1 :]
        if kind < 0.3:
            return [*tree, draw.choice(tree)]
        return [*tree[:place], changed(tree[place], draw), *tree[place + 1 :]]
    if isinstance(tree, int | float) and not isinstance(tree, bool) and draw.random() < 0.5:
        return draw.choice([tree + 1, tree - 1, -tree, tree * 2, tree * 1000])
    return draw.choice(VALUES)
