"""A task of every answer type whose rows are decided by words, and helpers that fit and score a baseline."""

import random
from pathlib import Path

import tiny
from niwaki.evaluate.baseline import BASELINES, Baseline
from niwaki.tasks.choice import Choice
from niwaki.tasks.classification import Classification
from niwaki.tasks.multilabel import Multilabel
from niwaki.tasks.question_answering import QuestionAnswering
from niwaki.tasks.regression import Regression
from niwaki.tasks.roles import Roles
from niwaki.tasks.tagging import Tagging
from niwaki.tasks.translation import Translation

TASKS = {
    "label": Classification,
    "pair": Classification,
    "labels": Multilabel,
    "number": Regression,
    "tags": Tagging,
    "span": QuestionAnswering,
    "span or none": QuestionAnswering,
    "choice": Choice,
    "roles": Roles,
    "text": Translation,
}


def row(kind: str, draw: random.Random) -> dict:
    """A row that words decide."""
    good = draw.random() < 0.6
    tone, other = (tiny.GOOD, tiny.BAD) if good else (tiny.BAD, tiny.GOOD)
    words = [draw.choice(tone), *draw.choices(tiny.PLAIN, k=5)]
    draw.shuffle(words)
    text = " ".join(words)
    if kind == "label":
        return {"text": text, "label": "good" if good else "bad"}
    if kind == "pair":  # whether both texts have the same words: neither text alone says it
        first, other = (draw.choices(tiny.GOOD + tiny.BAD + tiny.PLAIN, k=6) for _ in range(2))
        second = draw.sample(first if good else other, 6)
        return {"text": " ".join(first), "second": " ".join(second), "label": "same" if good else "other"}
    if kind == "labels":
        return {"text": text, "label": ["good"] * good + ["film"] * ("film" in words) + ["bad"] * (not good)}
    if kind == "number":
        second = words[: draw.randint(1, 6)] + draw.choices(tiny.LETTERS, k=3)
        return {"text": text, "second": " ".join(second), "label": len(set(words) & set(second)) / 2 + 0.25}
    if kind == "tags":
        return {"tokens": words, "tags": ["B-tone" if word in tone else "O" for word in words]}
    if kind == "roles":
        at = next(place for place, word in enumerate(words) if word in tone)
        label, start = ("ARG0", at - 1) if at else ("ARG1", at + 1)
        found = {"predicate": 0, "start": start, "end": start + 1, "label": label}
        return {"tokens": words, "predicates": [at], "rolesets": [f"{words[at]}.01"], "args": [found]}
    if kind == "text":
        return {"source": text, "target": " ".join(word.upper() for word in reversed(words))}
    if kind == "choice":
        endings = [draw.choice(tone), draw.choice(other)]  # one good, one bad; the good one is right
        return {"text": text, "endings": [f"it was {ending}" for ending in endings], "label": 0 if good else 1}
    things = draw.sample(["film", "plot", "actor", "scene", "story"], 3)
    values = [draw.choice(tiny.GOOD + tiny.BAD) for _ in things]
    context = " ".join(f"the {thing} was {how} ." for thing, how in zip(things, values, strict=True))
    chosen = draw.randrange(3)
    if kind == "span or none" and good:
        return {"question": "how was the sound ?", "context": context, "answers": {"text": [], "answer_start": []}}
    answers = {
        "text": [values[chosen]],
        "answer_start": [context.index(f"{things[chosen]} was") + len(things[chosen]) + 5],
    }
    return {"question": f"how was the {things[chosen]} ?", "context": context, "answers": answers}


def fitted(candidate: str, task, model: Path, vectors: str = ""):
    return BASELINES.load(candidate, Baseline)(task, model, vectors).fit_if_supported()


def scored(task, answer, part: str = "test") -> float:
    table = task.splits()[part]
    return task.scorer.scores(task.scorer.example_stats(answer(task.inputs(table)), table))[task.metric]


def write_vectors(folder: Path, text: str) -> Path:
    path = folder / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    return path
