"""The race at the end of a run: all stages and the reference on the same texts, in turns."""

from pathlib import Path

from niwaki.core.json_types import Json
from niwaki.core.model_integrity import MODEL
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import speed
from niwaki.evaluate.reference import BATCH, Reference
from niwaki.evaluate.resident import resident_bytes
from niwaki.run.plan import Plan
from niwaki.tasks._task import Task

TEXTS = 192  # enough for a lap of 50 ms with the fastest model
SHORT_TEXTS, SHORT_SINGLES = 48, 6
REFERENCE = "reference"


def run_race(plan: Plan, folder: Path) -> Json:
    """The content of speed.json. Each stage runs in the portable engine that scored it. If `niwaki.load` picks another engine on
    this machine, the stage also runs in that one, and its figures are under `loaded`. A short race leaves the portable engine out
    in this case, and uses fewer texts."""
    models = {stage.spec.name: folder / stage.folder / MODEL for stage in plan.stages}
    short = plan.recipe.race == "short"
    portable = {name: Predictor(model) for name, model in models.items()}
    picked = {name: Predictor(model, "auto") for name, model in models.items()}
    loaded = {name: predictor for name, predictor in picked.items() if predictor.engine != portable[name].engine}
    reference = Reference(models[plan.stages[0].spec.name], plan.task.max_tokens)
    contenders: dict[str, speed.Runner] = {REFERENCE: reference.values}
    for name, predictor in portable.items():
        if not (short and name in loaded):
            contenders[name] = predictor.values
        if name in loaded:
            contenders[f"{name} loaded"] = loaded[name].values  # a stage's name has no spaces
    texts = plan.task.inputs(plan.task.splits()["test"].slice(0, SHORT_TEXTS if short else TEXTS))
    length = {"singles": SHORT_SINGLES} if short else {}
    result = speed.race(contenders, texts, reference=REFERENCE, window=plan.recipe.meter.window, **length)
    figures = result["contenders"]
    for name, model in models.items():
        memory = None if short else resident_bytes(model)
        figures[name] = {**figures.get(name, {}), "engine": portable[name].engine, "memory": memory}
    for name, predictor in loaded.items():
        about = {"engine": predictor.engine, "score": score_of(plan.task, predictor)}
        figures[name]["loaded"] = {**figures.pop(f"{name} loaded"), **about}
    return result | {"batch": BATCH, "description": reference.description}


def score_of(task: Task, predictor: Predictor) -> float:
    """The primary metric on the test rows, in the predictor's engine."""
    table = task.splits()["test"]
    return task.scorer.scores(task.scorer.example_stats(predictor.values(task.inputs(table)), table))[task.metric]
