"""Trains and distils semantic role labelling on PropBank's English Web Treebank: `python benchmarks/roles.py DATA [names …]`.

DATA is a folder of tasks (docs/tasks.md) with propbank_ewt and, to score head words, universal_propositions. Fine-tunes MiniLM,
quantizes it to 8 bits, and trains a 4-bit student of four layers with and without distillation. Appends a record per model to
results/roles.jsonl. Stages are stored in runs/roles and reused.
"""

import time
from pathlib import Path
from typing import Any

import jobs
from jobs import both, stages_of, student_of

from niwaki.answers.roles import labelled_spans
from niwaki.core.files import read_json
from niwaki.data.dataset_files import read_table
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.quality import quality
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.tasks._entity_scores import f1_of, precision_of, recall_of
from niwaki.tasks._srl_scores import arguments
from niwaki.tasks._srl_sentences import NONE
from niwaki.tasks.roles import Roles

FOLDER = Path("runs") / "roles"
TRAIN = {"batch": 32, "dropout": 0.0}
TEACHER = [
    {"name": "teacher", "methods": [{"use": "freeze"}], "train": {**TRAIN, "epochs": 3, "lr": 5e-4, "validations": 2}},
    {"name": "longer", "methods": [{"use": "freeze"}], "train": {**TRAIN, "epochs": 2, "lr": 3e-4, "validations": 2}},
]
CUT = [{"use": "vocabulary"}, {"use": "student", "layers": 4}]
SHORT = {**TRAIN, "epochs": 1, "lr": 5e-4}
BITS4 = {"name": "bits4", "methods": [{"use": "gptq", "bits": 4}]}
JOBS: dict[str, list[dict[str, Any]]] = {
    "minilm": TEACHER[:1],
    "minilm-longer": TEACHER,
    "quarter": [*TEACHER, {"name": "quarter", "methods": [{"use": "vocabulary"}, {"use": "int8"}]}],
    "tenth": [
        *TEACHER,
        {"name": "tenth", "teacher": "longer", "methods": [*CUT, {"use": "logits"}], "train": SHORT},
        BITS4,
    ],
    "tenth-alone": [{"name": "alone", "methods": CUT, "train": SHORT}, BITS4],
}


def run(name: str, data: str) -> dict[str, Any]:
    recipe = {"model": "minilm", "task": "propbank_ewt", "data": {"path": data}, "quantize": [], "stages": JOBS[name]}
    plan = make_plan(parse(recipe), name)
    jobs.make(plan, FOLDER)
    stage_folder = both(plan, FOLDER)[1]
    predictor = Predictor(stage_folder / "model")
    comparison = {"student": student_of(plan, FOLDER, "longer")} if name in ("quarter", "tenth") else {}
    return {
        "name": name,
        **summary(plan, stage_folder),
        "sentences": whole(plan, predictor),
        "heads": by_heads(Path(data), predictor) if name.startswith("minilm") else {},
        "parts": parts(plan, predictor),
        **comparison,
    }


def summary(plan: Plan, stage_folder: Path) -> dict[str, Any]:
    result = read_json(stage_folder / "result.json")
    rows = {part: table.num_rows for part, table in plan.task.splits().items()}
    spent = jobs.spent_on(plan.stages[0], FOLDER)
    return {
        "rows": rows,
        "bytes": result["bytes"],
        "score": result["score"],
        "parity": result["parity"],
        "first_spent": spent,
        "train": TEACHER[0]["train"],
        **stages_of(plan, FOLDER),
    }


def whole(plan: Plan, predictor: Predictor) -> dict[str, float]:
    """F1 on plain sentences: an argument is correct only if its predicate is found too."""
    rows = plan.task.splits()["test"]
    predicates, hits, predicted, gold = rows.column("predicate").to_pylist(), 0, 0, 0
    golds = list(zip(rows.column("tokens").to_pylist(), predicates, plan.task.gold(rows), strict=True))
    answers = iter(predictor.predict([words for words, predicate, _ in golds if predicate == NONE]))
    found: dict[int, Any] = {}
    for _, predicate, tags in golds:
        if predicate == NONE:
            found = {frame["predicate"]: frame["arguments"] for frame in next(answers).frames}
            predicted += sum(len(arguments(stretches_in(some))) for some in found.values())
        else:
            true = arguments(labelled_spans(tags))
            hits += len(true & arguments(stretches_in(found.get(predicate, ()))))
            gold += len(true)
    return {
        "f1": f1_of(hits, predicted, gold),
        "precision": precision_of(hits, predicted, gold),
        "recall": recall_of(hits, predicted, gold),
    }


def stretches_in(some: Any) -> list[tuple[str, int, int]]:
    return [(one["label"], one["start"], one["end"]) for one in some]


def by_heads(data: Path, predictor: Predictor) -> dict[str, Any]:
    """Scores on head-word data: the head of a predicted span must be the annotated one."""
    found = {}
    for path in sorted((data / "universal_propositions").glob("*-test.parquet")):
        task = Roles(path=str(path))
        rows = task.normalized("test", read_table(path))
        found[path.stem.removesuffix("-test")] = quality(
            task, task.scorer.example_stats(predictor.values(task.inputs(rows)), rows)
        )
    return {
        name: {"rows": score["rows"], **{key: one["value"] for key, one in score["all"].items()}}
        for name, score in found.items()
    }


def parts(plan: Plan, predictor: Predictor) -> dict[str, float]:
    """CPU seconds for the test rows: tokenization, network, decoding of tags."""
    rows = plan.task.splits()["test"]
    inputs, clock = plan.task.inputs(rows), [time.process_time()]
    encoded = predictor.tokenize(inputs)
    clock.append(time.process_time())
    logits = predictor.logits(encoded)
    clock.append(time.process_time())
    predictor.answer_type.values(logits, encoded, inputs, predictor.labels)
    clock.append(time.process_time())
    names = ("tokens", "network", "tags")
    return {"rows": len(inputs), **{name: clock[place + 1] - clock[place] for place, name in enumerate(names)}}


if __name__ == "__main__":
    jobs.main(__doc__, "roles", ("name",), [(name,) for name in JOBS], run)
