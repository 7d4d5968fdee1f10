"""Variants of the distillation benchmark: the stages of each student and of its controls."""

from pathlib import Path
from typing import Any

import shipped

from niwaki.core.files import write_text
from niwaki.tasks.rotten_tomatoes import imdb_sentences

Stage = dict[str, Any]

HALF, *LAYERS = shipped.stage("narrow", "layers")["methods"]  # half the layers, a third of the encoder's parameters
FAST = {"use": "student", "layers": 2, "heads": 6, "ffn": 384}
THIN, *RELATIONS_4 = shipped.stage("thin", "layers")["methods"]  # as fast
RELATIONS = [
    {"use": "tinybert", "prediction": 0.0, "attention": 0.0},
    {"use": "attention_relations"},
]  # for different numbers of heads
EPOCHS = {"sst2": 2.0}  # of each phase
AUGMENTATIONS = {"sst2": 0}  # augmentations of every row; elsewhere 1
UNLABELLED = {"rotten_tomatoes": 5_000}
FAST_AUGMENTATIONS = {"cola": 5}  # a small student with few rows needs more texts: augmented sentences,
FAST_PAIRS = {"mrpc": 25_000, "rte": 25_000, "stsb": 25_000}  # and unlabelled pairs of other tasks

MPNET4 = {"use": "student", "layers": 4, "hidden": 312, "heads": 4, "ffn": 1200}  # TinyBERT's, but heads stay 64 wide
WIDER4 = {"use": "student", "layers": 4, "hidden": 384, "heads": 6, "ffn": 1024}  # with a trimmed vocabulary
FULL4 = {"use": "student", "layers": 4, "heads": 6, "ffn": 640}  # the teacher's hidden size, with a narrow embedding
NARROW = {"mpnet4-narrow": 320, "mpnet4-narrower": 256}  # size of that embedding
MPNET_ROWS = {"sst2": {"rows": 20_000}}  # what benchmarks/glue.py trained that teacher on
MPNET_EPOCHS = {"mrpc": 4.0, "sst2": 4.0}  # of each phase
FULL_EPOCHS = {"mrpc": 5.0, "sst2": 3.0}

PAIRS, PAIRED = Path("runs") / "distil-pairs.jsonl", ("mnli", "qqp")
REST, REST_WORDS, REST_ROWS = Path("runs") / "distil-sst2-rest.txt", 10, 15_000  # phrases as long as test sentences
MORE, MORE_SENTENCES = Path("runs") / "distil-sst2-more.txt", 20_000  # these and IMDb sentences

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
SIZE_BATCHES, SIZE_STEPS, SIZE_SCORES = (
    200,
    2_000,
    20,
)  # batches of the rows alone per epoch; the same steps for every size


def two_phases(
    task: str,
    student: Stage,
    layers: list[Stage] | None = None,
    augmentations: int | None = None,
    unlabelled: int | None = None,
    unlabelled_path: str = "",
    epochs: float | None = None,
) -> list[Stage]:
    """TinyBERT's two phases: layers, then logits."""
    epochs = epochs or EPOCHS.get(task, 3.0)
    more = {
        "augmentations": AUGMENTATIONS.get(task, 1) if augmentations is None else augmentations,
        "unlabelled": UNLABELLED.get(task, 0) if unlabelled is None else unlabelled,
        "unlabelled_path": unlabelled_path,
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
    return two_phases(task, FAST, RELATIONS, FAST_AUGMENTATIONS.get(task), **more)


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


def network(kind: str, task: str, distilled: bool) -> list[Stage]:
    """A network over static vectors, with the same shape and epochs with and without a teacher."""
    train, methods = {**NETWORKS[kind], "epochs": NETWORK_EPOCHS[task]}, [{"use": kind}]
    if not distilled:
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
    first, *others = with_vocabulary(two_phases(task, FULL4, RELATIONS, epochs=FULL_EPOCHS[task], **more))
    vocabulary, student, *losses = first["methods"]
    return [{**first, "methods": [vocabulary, student, {"use": "embeddings", "width": columns}, *losses]}, *others]


def with_rest(task: str, answers: Path = REST, texts: int = REST_ROWS) -> list[Stage]:
    """Adds unlabelled texts; the second phase may use others, because logits are cheap."""
    first, second = narrow_table(task, NARROW["mpnet4-narrow"], unlabelled=REST_ROWS, unlabelled_path=str(REST))
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
    "thin": lambda task: two_phases(task, THIN, RELATIONS_4, FAST_AUGMENTATIONS.get(task)),
    "exits": with_exits,
    "half-labels": lambda task: [
        {"name": "student", "methods": [HALF], "train": {"lr": 2e-4, "epochs": 2 * EPOCHS.get(task, 3.0)}}
    ],
    "half-logits": lambda task: one_phase(task, HALF),
    "half-no-embedding": lambda task: two_phases(task, HALF, without("embedding")),
    "half-no-hidden": lambda task: two_phases(task, HALF, without("hidden")),
    "half-no-attention": lambda task: two_phases(task, HALF, without("attention")),
    "half-fresh": lambda task: two_phases(task, {**HALF, "start": "fresh"}),
    "half-no-transfer": lambda task: two_phases(task, HALF, unlabelled=0),
    "half-no-copies": lambda task: two_phases(task, HALF, augmentations=0),
    "half-rows-only": lambda task: two_phases(task, HALF, augmentations=0, unlabelled=0),
    **{kind: lambda task, kind=kind: network(kind, task, distilled=True) for kind in NETWORKS},
    **{f"{kind}-labels": lambda task, kind=kind: network(kind, task, distilled=False) for kind in NETWORKS},
    **{f"{kind}-vectors": lambda task, kind=kind: network(kind, task, distilled=False) for kind in NETWORKS},
    "mpnet4": lambda task: two_phases(task, MPNET4, RELATIONS_4, epochs=MPNET_EPOCHS[task]),
    "mpnet4-vocabulary": lambda task: with_vocabulary(two_phases(task, WIDER4, RELATIONS, epochs=MPNET_EPOCHS[task])),
    **{name: lambda task, columns=columns: narrow_table(task, columns) for name, columns in NARROW.items()},
    "mpnet4-texts": with_rest,
    "mpnet4-more": lambda task: with_rest(task, MORE, REST_ROWS + MORE_SENTENCES),
    **{f"transfer-{texts}": lambda _, texts=texts: of_size(texts) for texts in SIZES},
}
RESTED = ("mpnet4-texts", "mpnet4-more")
PRETRAINED = ("bilstm-labels", "averaging-labels")  # no teacher; `-vectors` uses its vectors, and labels
CONTROLS = {kind: (f"{kind}-labels", f"{kind}-vectors") for kind in NETWORKS}
CONTROLS |= {f"transfer-{texts}": ("transfer-0",) for texts in SIZES if texts}
CONTROLS |= {name: ("half",) for name in VARIANTS if name.startswith("half-")}
