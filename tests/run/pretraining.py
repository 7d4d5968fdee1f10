"""Corpora that a tiny model can learn from, and plans that pretrain on them."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import tiny
from niwaki.core.json_types import Json
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage


def documents(count: int, most: int) -> Iterator[str]:
    """Of up to `most` sentences, in which a word says much of the others."""
    draw = random.Random(0)

    def sentence() -> str:
        words = draw.choice([tiny.GOOD, tiny.BAD])
        return f"the {draw.choice(['film', 'movie'])} was {draw.choice(words)} and it was very {draw.choice(words)} ."

    for _ in range(count):
        yield " ".join(sentence() for _ in range(draw.randint(1, most)))


def plan_of(model: Path, corpus: Path, tokens: Path, task: str, method: Json, train: Json, **more: object) -> Plan:
    """A network made from scratch and pretrained in one stage. `tokens` is the folder that caches tokenized texts."""
    data = {"path": str(corpus), "max_tokens": 24, "validation": 0.1, "test": 0.1, "cache": str(tokens)}
    stage = {"name": "lm", "methods": [{"use": "from_scratch", **method}], "train": train}
    values = {"model": str(model), "task": task, "data": data, "quantize": [], "stages": [stage]}
    return make_plan(parse({**values, "cache": {"stages": False}, **more}), "pretraining")


def run(plan: Plan, folder: Path, should_stop: Callable[[], bool] = lambda: False) -> Path:
    """Makes the first stage and returns its folder."""
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    run_stage(plan, plan.stages[0], folder, Ledger(folder / "ledger.jsonl"), should_stop)
    return folder / plan.stages[0].folder
