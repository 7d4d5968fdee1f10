"""Distils students of several shapes and compares them with their teachers: `python benchmarks/distil.py DATA [variant[/task[/seed]] …]`.

DATA is a folder of tasks (docs/tasks.md). Teachers come from benchmarks/glue.py (for `mpnet4` with `--mpnet`) and benchmarks/demo.py;
run these first. Appends a record per variant, task and seed to results/distil.jsonl. Stages are stored in runs/distil-… and reused.
`--list` shows the jobs.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from jobs import both, home, main, make, raced, stages_of

from niwaki.core.files import read_json, write_text
from niwaki.data import unlabelled
from niwaki.evaluate.glue import task_score
from niwaki.evaluate.quality import difference
from niwaki.models.model import load_folder
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.tasks.rotten_tomatoes import imdb_sentences

TASKS = ("rotten_tomatoes", "mrpc", "cola", "rte", "stsb", "sst2")
SEEDS = {"rotten_tomatoes": (0, 1, 2), "mrpc": (0, 1, 2)}  # elsewhere one seed
ABLATED = ("rotten_tomatoes", "mrpc")
Stage = dict[str, Any]

HALF = {"use": "student", "layers": 3, "ffn": 752}  # half the layers, just under a third of the encoder's parameters
FAST = {"use": "student", "layers": 2, "heads": 6, "ffn": 384}
THIN = {"use": "student", "layers": 3, "heads": 4, "ffn": 192}  # as fast
LAYERS = [{"use": "tinybert", "prediction": 0.0}]
RELATED = [
    {"use": "tinybert", "prediction": 0.0, "attention": 0.0},
    {"use": "attention_relations"},
]  # for different numbers of heads
RELATED4 = [RELATED[0], {"use": "attention_relations", "heads": 4}]
EPOCHS = {"sst2": 2.0}  # of each phase
COPIES = {"sst2": 0}  # augmentations of every row; elsewhere 1
TRANSFER = {"rotten_tomatoes": 5_000}
FAST_COPIES = {"cola": 5}  # a small student of few rows needs more texts: copies of sentences,
FAST_PAIRS = {"mrpc": 25_000, "rte": 25_000, "stsb": 25_000}  # and for pairs, pairs of other tasks without their labels

MPNET4 = {"use": "student", "layers": 4, "hidden": 312, "heads": 4, "ffn": 1200}  # TinyBERT's, but heads stay 64 wide
WIDER4 = {"use": "student", "layers": 4, "hidden": 384, "heads": 6, "ffn": 1024}  # with a trimmed vocabulary
FULL4 = {"use": "student", "layers": 4, "heads": 6, "ffn": 640}  # as wide as the teacher, with a narrow table
NARROW = {"mpnet4-narrow": 320, "mpnet4-narrower": 256}  # columns of that
MPNET_ROWS = {"sst2": {"rows": 20_000}}  # what benchmarks/glue.py trained that teacher on
MPNET_EPOCHS = {"mrpc": 4.0, "sst2": 4.0}  # of each phase
FULL_EPOCHS = {"mrpc": 5.0, "sst2": 3.0}

PAIRS, PAIRED = Path("runs") / "distil-pairs.jsonl", ("mnli", "qqp")
REST, REST_WORDS, REST_ROWS = Path("runs") / "distil-sst2-rest.txt", 10, 15_000  # phrases as long as test sentences
MORE, MORE_SENTENCES = Path("runs") / "distil-sst2-more.txt", 20_000  # these, and sentences of IMDb

NETWORKS = {
    "bilstm": {"lr": 5e-3, "batch": 64, "dropout": 0.2},
    "averaging": {"lr": 1e-2, "batch": 128, "dropout": 0.1},
}  # as the recipes of these names
NETWORK_EPOCHS = {"rotten_tomatoes": 4.0, "sst2": 3.0}
NETWORK_TEXTS = {
    "rotten_tomatoes": 30_000,
    "sst2": 120_000,
}  # unlabelled texts for distillation

SIZES = (0, 1_250, 5_000, 10_000, 20_000)  # numbers of unlabelled texts
SIZE_BATCHES, SIZE_STEPS, SIZE_SCORES = 200, 2_000, 20  # in an epoch of the rows alone; the same for every size


def two_phases(
    task: str,
    student: Stage,
    layers: list[Stage] | None = None,
    copies: int | None = None,
    transfer: int | None = None,
    texts: str = "",
    epochs: float | None = None,
) -> list[Stage]:
    """TinyBERT's two phases: layers, then logits."""
    epochs = epochs or EPOCHS.get(task, 3.0)
    more = {
        "augmentations": COPIES.get(task, 1) if copies is None else copies,
        "unlabelled": TRANSFER.get(task, 0) if transfer is None else transfer,
        "unlabelled_path": texts,
    }
    train = {"lr": 2e-4, "dropout": 0.0, **more}
    first = {
        "name": "layers",
        "teacher": "teacher",
        "methods": [student, *(layers or LAYERS)],
        "train": {**train, "epochs": epochs},
    }
    logits = {"use": "logits", "temperature": 1.0, "weight": 1.0}
    second = {
        "name": "student",
        "teacher": "teacher",
        "methods": [logits],
        "train": {**train, "epochs": epochs, "lr": 1e-4},
    }
    return [first, second]


def fast(task: str) -> list[Stage]:
    more = {"unlabelled": FAST_PAIRS[task], "unlabelled_path": str(PAIRS)} if task in FAST_PAIRS else {}
    return two_phases(task, FAST, RELATED, FAST_COPIES.get(task), **more)


def one_phase(task: str, student: Stage, **more: Any) -> list[Stage]:
    """Without the phase of layer losses; the same total number of epochs."""
    _, last = two_phases(task, student, **more)
    return [
        {
            **last,
            "methods": [student, *last["methods"]],
            "train": {**last["train"], "epochs": 2 * last["train"]["epochs"], "lr": 2e-4},
        }
    ]


def network(kind: str, task: str, taught: bool) -> list[Stage]:
    """A network over static vectors, with the same shape and epochs with and without a teacher."""
    train, methods = {**NETWORKS[kind], "epochs": NETWORK_EPOCHS[task]}, [{"use": kind}]
    if not taught:
        return [{"name": "student", "methods": methods, "train": train}]
    texts = {
        "unlabelled": NETWORK_TEXTS[task],
        "unlabelled_path": "" if task == "rotten_tomatoes" else str(sentences()),
    }
    return [
        {"name": "student", "teacher": "teacher", "methods": [*methods, {"use": "logits"}], "train": {**train, **texts}}
    ]


def sentences() -> Path:
    """Sentences of the bundled reviews as a file, for tasks without unlabelled texts."""
    path = Path("runs") / "distil-sentences.txt"
    if not path.exists():
        write_text(path, "\n".join(" ".join(one.split()) for one in imdb_sentences(NETWORK_TEXTS["sst2"], 0)))
    return path


def write_pairs(data: str) -> None:
    """Writes the texts of two large pair tasks, without labels, to a file."""
    if not PAIRS.exists():
        found = [tuple(row) for task in PAIRED for row in unlabelled.texts(Path(data) / task / "train.parquet")]
        write_text(
            PAIRS, "\n".join(json.dumps(dict(zip(("sentence1", "sentence2"), row, strict=True))) for row in found)
        )


def write_rest(data: str) -> None:
    """Writes the longer SST-2 training rows that the teacher did not see, without labels, to a file."""
    if not REST.exists():
        given = planned("mpnet4-narrow", "sst2", 0, data).task
        known = {text.strip() for part in given.splits().values() for text in given.inputs(part)}
        every = (
            text for text in unlabelled.texts(Path(data) / "sst2" / "train.parquet") if len(text.split()) >= REST_WORDS
        )
        write_text(REST, "\n".join(text for text in every if text not in known))
    if not MORE.exists():
        films = sentences().read_text(encoding="utf-8").splitlines()[:MORE_SENTENCES]
        write_text(MORE, "\n".join([REST.read_text(encoding="utf-8"), *films]))


def of_size(texts: int) -> list[Stage]:
    """Logits only, with the same number of steps and about as many validations for every number of texts."""
    epochs = SIZE_STEPS / (SIZE_BATCHES + texts / 32)
    train = {
        "lr": 2e-4,
        "dropout": 0.0,
        "epochs": epochs,
        "validations": max(1, round(SIZE_SCORES / epochs)),
        "unlabelled": texts,
    }
    logits = {"use": "logits", "temperature": 1.0, "weight": 1.0}
    return [{"name": "student", "teacher": "teacher", "methods": [HALF, logits], "train": train}]


def with_vocabulary(stages: list[Stage]) -> list[Stage]:
    """Keeps only tokens of the stage's texts; student and teacher then read the same tokens."""
    first, *others = stages
    return [{**first, "methods": [{"use": "vocabulary"}, *first["methods"]]}, *others]


def narrow_table(task: str, columns: int, **more: Any) -> list[Stage]:
    """Keeps the teacher's hidden size for the layer losses; cuts inside the layers and narrows the embedding."""
    first, *others = with_vocabulary(two_phases(task, FULL4, RELATED, epochs=FULL_EPOCHS[task], **more))
    vocabulary, student, *losses = first["methods"]
    return [{**first, "methods": [vocabulary, student, {"use": "embeddings", "width": columns}, *losses]}, *others]


def with_rest(task: str, answers: Path = REST, texts: int = REST_ROWS) -> list[Stage]:
    """Adds unlabelled texts; the second phase may use others, because logits are cheap."""
    first, second = narrow_table(task, NARROW["mpnet4-narrow"], transfer=REST_ROWS, texts=str(REST))
    return [first, {**second, "train": {**second["train"], "unlabelled": texts, "unlabelled_path": str(answers)}}]


def with_exits(task: str) -> list[Stage]:
    """The student `half`, then trained with early exits."""
    methods = [{"use": "logits", "temperature": 1.0, "weight": 1.0}, {"use": "exits", "after": [1, 2]}]
    train = {"lr": 1e-4, "dropout": 0.0, "epochs": 1.0}
    return [*two_phases(task, HALF), {"name": "left", "teacher": "teacher", "methods": methods, "train": train}]


def without(*losses: str) -> list[Stage]:
    return [{**LAYERS[0], **dict.fromkeys(losses, 0.0)}]


VARIANTS = {
    "half": lambda task: two_phases(task, HALF),
    "fast": fast,
    "thin": lambda task: two_phases(task, THIN, RELATED4, FAST_COPIES.get(task)),
    "exits": with_exits,
    "half-labels": lambda task: [
        {"name": "student", "methods": [HALF], "train": {"lr": 2e-4, "epochs": 2 * EPOCHS.get(task, 3.0)}}
    ],
    "half-logits": lambda task: one_phase(task, HALF),
    "half-no-embedding": lambda task: two_phases(task, HALF, without("embedding")),
    "half-no-hidden": lambda task: two_phases(task, HALF, without("hidden")),
    "half-no-attention": lambda task: two_phases(task, HALF, without("attention")),
    "half-fresh": lambda task: two_phases(task, {**HALF, "start": "fresh"}),
    "half-no-transfer": lambda task: two_phases(task, HALF, transfer=0),
    "half-no-copies": lambda task: two_phases(task, HALF, copies=0),
    "half-rows-only": lambda task: two_phases(task, HALF, copies=0, transfer=0),
    **{kind: lambda task, kind=kind: network(kind, task, taught=True) for kind in NETWORKS},
    **{f"{kind}-labels": lambda task, kind=kind: network(kind, task, taught=False) for kind in NETWORKS},
    **{f"{kind}-vectors": lambda task, kind=kind: network(kind, task, taught=False) for kind in NETWORKS},
    "mpnet4": lambda task: two_phases(task, MPNET4, RELATED4, epochs=MPNET_EPOCHS[task]),
    "mpnet4-vocabulary": lambda task: with_vocabulary(two_phases(task, WIDER4, RELATED, epochs=MPNET_EPOCHS[task])),
    **{name: lambda task, columns=columns: narrow_table(task, columns) for name, columns in NARROW.items()},
    "mpnet4-texts": with_rest,
    "mpnet4-more": lambda task: with_rest(task, MORE, REST_ROWS + MORE_SENTENCES),
    **{f"transfer-{texts}": lambda _, texts=texts: of_size(texts) for texts in SIZES},
}
RESTED = ("mpnet4-texts", "mpnet4-more")
PRETRAINED = ("bilstm-labels", "averaging-labels")  # no teacher at all; `-vectors` has its vectors, and labels
CONTROLS = {kind: (f"{kind}-labels", f"{kind}-vectors") for kind in NETWORKS}
CONTROLS |= {f"transfer-{texts}": ("transfer-0",) for texts in SIZES if texts}
CONTROLS |= {name: ("half",) for name in VARIANTS if name.startswith("half-")}


def teacher_of(variant: str, task: str, seed: int) -> Path:
    """The fine-tuned model of an earlier benchmark; SST-2 has one for all seeds."""
    name = (
        f"demo-seed-{seed}"
        if task == "rotten_tomatoes"
        else f"glue-{'mpnet' if 'mpnet' in variant else 'minilm'}-{task}"
    )
    plan = read_json(Path("runs") / name / "plan.json")
    stages = next((one["stages"] for one in plan.get("repeats", ()) if one["seed"] == seed), plan["stages"])
    return Path("runs") / name / next(stage["folder"] for stage in stages if stage["name"] == "teacher") / "model"


def planned(variant: str, task: str, seed: int, data: str) -> Plan:
    """The unchanged teacher, then the stages of the variant."""
    rows = (
        {} if task == "rotten_tomatoes" else {"path": data, **(MPNET_ROWS.get(task, {}) if "mpnet" in variant else {})}
    )
    stages = VARIANTS[variant](task)
    model, first = (
        (teacher_of(variant, task, seed), [{"name": "teacher"}]) if variant not in PRETRAINED else ("minilm", [])
    )
    return make_plan(
        parse(
            {"model": str(model), "task": task, "data": rows, "seed": seed, "quantize": [], "stages": [*first, *stages]}
        ),
        variant,
    )


def run(variant: str, task: str, seed: int, data: str) -> dict[str, Any]:
    """The controls, then the student."""
    write_pairs(data)
    if variant in RESTED:
        write_rest(data)
    for one in (*CONTROLS.get(variant, ()), variant):
        plan = planned(one, task, seed, data)
        make(plan, home(task, seed))
    pairs = {name: against(variant, name, task, seed, data) for name in CONTROLS.get(variant, ())}
    return {"variant": variant, "task": task, "seed": seed, **summary(plan, home(task, seed)), "pairs": pairs}


def against(variant: str, control: str, task: str, seed: int, data: str) -> dict[str, Any]:
    """The control's score, and the paired difference on the same test rows over this seed and those before it that are there."""
    both = [[last_folder(who, task, one, data) for who in (variant, control)] for one in range(seed + 1)]
    both = [pair for pair in both if all((folder / "example_stats.npy").exists() for folder in pair)]
    own, theirs = ([np.load(pair[place] / "example_stats.npy") for pair in both] for place in (0, 1))
    score = read_json(both[-1][1] / "result.json")["score"]
    result = difference(planned(control, task, seed, data).task, own, theirs)
    return {"score": {key: score[key] for key in ("value", "low", "high")}, "seeds": len(both), **result}


def last_folder(variant: str, task: str, seed: int, data: str) -> Path:
    """The folder of the last stage, finished or not."""
    return home(task, seed) / planned(variant, task, seed, data).stages[-1].folder


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    names, folders = ("teacher", "student"), both(plan, folder)
    results = [read_json(one / "result.json") for one in folders]
    return {
        "metric": plan.task.metric,
        "scores": {name: task_score(result) for name, result in zip(names, results, strict=True)},
        "intervals": {
            name: [result["score"]["low"], result["score"]["high"]] for name, result in zip(names, results, strict=True)
        },
        "steps": [read_json(folder / stage.folder / "result.json")["training"]["steps"] for stage in plan.stages[1:]],
        "encoder": [encoder_parameters(one / "model") for one in folders],
        **{key: [result[key] for result in results] for key in ("parameters", "bytes", "flops")},
        "faster": raced(plan, folder)["made"]["ratio"],
        **stages_of(plan, folder),
    }


def encoder_parameters(folder: Path) -> int:
    """Parameters of the layers, without embeddings and head."""
    anatomy = load_folder(folder).anatomy
    return sum(parameter.numel() for layer in anatomy.layers for parameter in layer.module.parameters())


def everything() -> list[tuple[str, str, int]]:
    first = [
        (variant, task, seed)
        for seed in (0, 1, 2)
        for variant in ("half", "fast", "thin")
        for task in TASKS
        if seed in SEEDS.get(task, (0,))
    ]
    rest = [name for name in VARIANTS if name.startswith("half-")]
    return [
        *first,
        *((variant, task, seed) for seed in (0, 1, 2) for task in ABLATED for variant in rest),
        *((kind, task, seed) for seed in (0, 1, 2) for kind in NETWORKS for task in NETWORK_EPOCHS),
        ("exits", "sst2", 0),
        *((variant, task, 0) for variant in ("mpnet4", "mpnet4-vocabulary", *NARROW) for task in MPNET_EPOCHS),
        *((variant, "sst2", 0) for variant in RESTED),  # whose rows are phrases, and whose test rows are sentences
        *((f"transfer-{texts}", "rotten_tomatoes", 0) for texts in SIZES),
    ]


if __name__ == "__main__":
    main(__doc__, "distil", ("variant", "task", "seed"), everything(), run)
