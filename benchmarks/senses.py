"""Word senses: published systems, baselines, a teacher and its students: `python benchmarks/senses.py DATA [name[/seed] …]`.

DATA is a folder of tasks (docs/word_senses.md) with `wsd_raganato`, `semcor` and `wordnet30`. Appends a record per job to
results/senses.jsonl. Stages are stored in runs/senses-SEED and runs/senses-mpnet-SEED and reused. `--list` shows the jobs. Jobs with
mpnet need its folder: `--mpnet FOLDER`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jobs import both, main, make, spent_on, student_of

from niwaki.answers.senses import Sentence, Target
from niwaki.core.files import folder_bytes, read_json
from niwaki.data.dataset_files import read_table
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.quality import difference
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.tasks._sense_baselines import counted, first_sense, most_frequent
from niwaki.tasks.wsd import ALL, SETS, Wsd

SYSTEMS = {
    "esc": "ESCHER",
    "bem": "BEM",
    "ewiser": "EWISER",
    "ares": "ARES",
    "glossbert": "GlossBERT",
    "generationary": "Generationary",
    "lmms": "LMMS",
    "syntagrank": "SyntagRank",
}
Stage = dict[str, Any]
Answers = list[list[str | None]]

TRAIN = {"batch": 16, "validations": 2, "warmup": 0.06}
FIRST: Stage = {"name": "first", "methods": [{"use": "freeze"}], "train": {**TRAIN, "epochs": 1.0, "lr": 2e-4}}
SECOND: Stage = {"name": "second", "methods": [{"use": "freeze"}], "train": {**TRAIN, "epochs": 1.0, "lr": 1e-4}}
# SE07 has 455 words, too few to choose between weights of a long training: the last are kept
MPNET: Stage = {
    "name": "mpnet",
    "methods": [{"use": "freeze", "layers": 6}],
    "train": {**TRAIN, "batch": 32, "epochs": 2.0, "lr": 1e-4, "validations": 1, "keep": "last"},
}
BITS4: Stage = {"name": "bits4", "methods": [{"use": "vocabulary"}, {"use": "gptq", "bits": 4}]}
# MiniLM in 4 bits: from its own teacher, distilled from mpnet, and the same without distillation
TAUGHT: Stage = {
    **FIRST,
    "name": "tenth",
    "model": "minilm",
    "teacher": "mpnet",
    "methods": [{"use": "freeze"}, {"use": "logits", "temperature": 1.0, "weight": 0.7}],
}
JOBS: dict[str, list[Stage]] = {
    "teacher": [FIRST],
    "longer": [FIRST, SECOND],
    "semcor": [FIRST, SECOND],
    "mpnet": [MPNET],
    "quarter": [FIRST, {**BITS4, "name": "quarter"}],
    "mpnet-quarter": [MPNET, {**BITS4, "name": "quarter"}],
    "tenth": [MPNET, TAUGHT, BITS4],
    "tenth-alone": [FIRST, BITS4],
}
WITHOUT_EXAMPLES = ("semcor",)  # jobs trained on SemCor only
SETTINGS = ("rows", "examples", "definitions", "hypernyms", "without_prior", "balance")  # of the task, in records
TEACHES = {"quarter": "first", "mpnet-quarter": "mpnet", "tenth": "mpnet"}
NAMES = ("published", "plain", *JOBS)


def run(name: str, seed: int, data: str, mpnet: str) -> dict[str, Any]:
    found = (
        published(data)
        if name == "published"
        else plain(seed, data)
        if name == "plain"
        else train(name, seed, data, mpnet)
    )
    return {"name": name, "seed": seed, **found}


def published(data: str) -> dict[str, Any]:
    """Scores published answers and two baselines on ALL, each test set and each part of speech."""
    task = Wsd(path=data)
    predictions = read_table(Path(task.data.source) / "system_predictions_ALL.parquet").to_pylist()
    inventory, train = task.inventories.without_vectors, task.splits()["train"]
    common = counted(task.inputs(train), task.gold(train))
    tellers: dict[str, Callable[[str], Answers]] = {}
    for column, title in SYSTEMS.items():
        answers = {row["instance_id"]: row[column] for row in predictions}
        tellers[title] = lambda part, answers=answers: [
            [answers.get(one) for one in ids] for ids in task.splits()[part].column("ids").to_pylist()
        ]
    tellers["first sense of WordNet"] = lambda part: [
        [first_sense(inventory, one) for one in row.targets] for row in task.inputs(task.splits()[part])
    ]
    tellers["most frequent in SemCor"] = lambda part: [
        [most_frequent(inventory, common, one) for one in row.targets] for row in task.inputs(task.splits()[part])
    ]
    return {"systems": {title: each(task, tell) for title, tell in tellers.items()}, "words": words(task)}


def words(task: Wsd) -> dict[str, tuple[int, int]]:
    """Of each test set, how many words have their first sense, and how many another."""
    return {part: task.scorer.count_words(part) for part in (ALL, *SETS)}


def each(task: Wsd, tell: Callable[[str], Answers]) -> dict[str, Any]:
    """F1 of each test set, and of ALL by part of speech."""
    tables = task.splits()
    found = {part: task.scorer.scores(task.scorer.example_stats(tell(part), tables[part])) for part in (ALL, *SETS)}
    return {part: scores if part == ALL else scores["f1"] for part, scores in found.items()}


def train(name: str, seed: int, data: str, mpnet: str) -> dict[str, Any]:
    folder = home(name, seed)
    plan = make_plan(parse(recipe(name, seed, data, mpnet)), f"senses-{name}")
    make(plan, folder)
    return {
        "stages": [stage_record(plan, folder, stage.spec.name) for stage in plan.stages],
        "train_rows": plan.task.splits()["train"].num_rows,
        "settings": {key: getattr(plan.task, key) for key in SETTINGS},
        **comparison(plan, folder, name),
    }


def home(name: str, seed: int) -> Path:
    """mpnet has its own folder, so that both can run at the same time."""
    return Path("runs") / f"senses-{'mpnet-' if MPNET in JOBS[name] else ''}{seed}"


def recipe(name: str, seed: int, data: str, mpnet: str = "") -> dict[str, Any]:
    model = mpnet if MPNET in JOBS[name] else "minilm"
    rows = {"path": data, "examples": name not in WITHOUT_EXAMPLES}
    return {"model": model, "task": "wsd", "data": rows, "seed": seed, "quantize": [], "stages": JOBS[name]}


def plain(seed: int, data: str) -> dict[str, Any]:
    """The teacher on ALL with given lemmas; without parts of speech; and on plain sentences as in `predict`."""
    folder = home("teacher", seed)
    plan = make_plan(parse(recipe("teacher", seed, data)), "senses-teacher")
    predictor, task = Predictor(folder / plan.stages[-1].folder / "model"), plan.task
    rows = task.splits()[ALL]
    inputs, golds = task.inputs(rows), task.gold(rows)
    bare = [Sentence(one.words, [Target(target.word, target.lemma) for target in one.targets]) for one in inputs]
    sentences = [predictor.answer_type.check(" ".join(one.words)) for one in inputs]
    places = [aligned(one, other) for one, other in zip(inputs, sentences, strict=True)]
    values = predictor.values(sentences)
    answers = [
        [None if place is None else row[place] for place in found] for row, found in zip(values, places, strict=True)
    ]
    keys = predictor.answer_type.sense_inventory.keys
    known = [
        {keys[number] for stretch in other.targets[place].sense_ranges for number in range(*stretch)} & set(gold)
        for other, found, row in zip(sentences, places, golds, strict=True)
        for place, gold in zip(found, row, strict=True)
        if place is not None
    ]
    f1 = {
        name: task.scorer.scores(task.scorer.example_stats(values, rows))["f1"]
        for name, values in (
            ("with_pos", predictor.values(inputs)),
            ("without_pos", predictor.values(bare)),
            ("plain", answers),
        )
    }
    return {**f1, "asked": sum(len(one.targets) for one in inputs), "found": sum(map(bool, known))}


def aligned(gold: Sentence, cut: Sentence) -> list[int | None]:
    """For each target word, the index of the target at the same offset in the automatically split sentence."""
    starts = np.cumsum([0, *(len(word) + 1 for word in gold.words)])
    text, at, begins = " ".join(gold.words), 0, []
    for word in cut.words:
        begins.append(at := text.find(word.split(" ")[0], at))
        at += len(word)
    targets = {begins[target.word]: number for number, target in enumerate(cut.targets)}
    return [targets.get(int(starts[target.word])) for target in gold.targets]


def stage_record(plan: Plan, folder: Path, stage: str) -> dict[str, Any]:
    """Scores of one stage on all test sets, sizes and energy."""
    home = folder / plan.stage(stage).folder
    result = read_json(home / "result.json")
    parts = {"test": result["score"], **result["parts"]}
    weights = (home / "model" / "model.safetensors").stat().st_size
    inventory = sum((home / "model" / name).stat().st_size for name in plan.task.answer_type.required_files({}))
    return {
        "stage": stage,
        "scores": {part: {name: one["value"] for name, one in score["all"].items()} for part, score in parts.items()},
        "interval": [parts[ALL]["low"], parts[ALL]["high"]],
        "bytes": folder_bytes(home / "model"),
        "weights": weights,
        "knowledge": inventory,
        "parameters": result["parameters"],
        "flops": result["flops"],
        "engine": result["engine"],
        "parity": result["parity"],
        "spent": spent_on(plan.stage(stage), folder),
    }


def comparison(plan: Plan, folder: Path, name: str) -> dict[str, Any]:
    """Paired difference of the last stage to the teacher on the test rows."""
    if name not in TEACHES:
        return {}
    example_stats = [
        np.load(one / "example_stats.npy", allow_pickle=False) for one in both(plan, folder, TEACHES[name])
    ]
    return {
        "paired": difference(plan.task, [example_stats[1]], [example_stats[0]]),
        "student": student_of(plan, folder, TEACHES[name], ALL),
    }


if __name__ == "__main__":
    main(__doc__, "senses", ("name", "seed"), [(name, 0) for name in NAMES], run, mpnet="folder of mpnet-base")
