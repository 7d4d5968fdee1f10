"""One contender of `training.py`: trains, and waits for a request after every lap.

Reads a number of steps from standard input, trains that many, and prints their tokens, seconds (with one thread, of the processor)
and the process's memory as one line of JSON. Ends at the end of the input.
"""

import contextlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
import transformers

from niwaki.data.batching import epoch_batches
from niwaki.engines.activation_runner import ActivationRunner
from niwaki.methods._method import Context, Method, Reshapes, methods_with
from niwaki.methods.adapt.freeze import Freeze
from niwaki.methods.distill.logits import Logits
from niwaki.methods.distill.student import Student
from niwaki.methods.distill.tinybert import TinyBert
from niwaki.models.activations import LOGITS, numbers
from niwaki.models.model import Model, load_folder
from niwaki.models.sources import locate
from niwaki.objectives.supervised import Supervised
from niwaki.tasks.rotten_tomatoes import RottenTomatoes
from niwaki.train.collator import Collator, encode_rows, encode_split
from niwaki.train.loop import Interrupted, Job, fit
from niwaki.train.precision import resolve_precision
from niwaki.train.settings import TrainSettings
from niwaki.train.teacher import CachedTeacherFunction, CacheLayout, Teacher, batched_teacher_function
from niwaki.train.teacher_cache import TeacherCache

BATCH, SEED, EPOCHS, TAUGHT_ROWS = 32, 0, 20, 2560
CPU = torch.device("cpu")
clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter  # `--one-thread` of training.py


class Laps:
    """Called after every step; reports and waits at the end of a lap. `tokens` contains the tokens of each step."""

    def __init__(self, tokens: list[int]) -> None:
        self.tokens, self.step, self.last, self.out = tokens, 0, 0, os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # standard output carries only reports
        self.start, self.begun = 0, 0.0

    def wait(self) -> bool:
        """Whether this was the last lap."""
        line = sys.stdin.readline()
        if line.strip():
            self.start, self.last, self.begun = self.step, self.step + int(line), clock()
        return not line.strip()

    def __call__(self) -> bool:
        self.step += 1
        if self.step < self.last:
            return False
        seconds = clock() - self.begun
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report = {"tokens": sum(self.tokens[self.start : self.step]), "seconds": seconds, "memory_mb": memory}
        print(json.dumps(report), file=self.out, flush=True)
        return self.wait()


def fresh_model(task: RottenTomatoes) -> Model:
    torch.manual_seed(SEED)
    return load_folder(locate("minilm"), task.head)


def train(
    task: RottenTomatoes,
    model: Model,
    collator: Collator,
    methods: Sequence[Method],
    context: Context,
    dropout: float | None,
) -> None:
    """niwaki's training loop."""
    validation = Collator(encode_rows(model, task, task.splits()["validation"].slice(0, 64)), model, CPU)
    epochs = (epoch_batches(collator.lengths, BATCH, SEED, epoch) for epoch in range(EPOCHS))
    laps = Laps([int(collator.lengths[rows].sum()) for batches in epochs for rows in batches])
    settings = TrainSettings(epochs=EPOCHS, lr=1e-4, batch=BATCH, dropout=dropout, save_seconds=1e6)
    if laps.wait():
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Interrupted):
        fit(
            Job(
                "bench",
                model,
                methods,
                context,
                Supervised(task),
                collator,
                validation,
                settings,
                resolve_precision("auto"),
                SEED,
                Path(folder),
                laps,
            )
        )


def fine_tune(task: RottenTomatoes, dropout: float | None) -> None:
    model = Freeze().prepare(fresh_model(task), _context(task))
    train(task, model, Collator(encode_split(model, task, "train"), model, CPU), [Freeze()], _context(task), dropout)


def distil(method: Logits | TinyBert, task: RottenTomatoes, dropout: float | None) -> None:
    """Distils a student of three layers from a cached teacher, as in the recipe rotten_tomatoes."""
    teacher = fresh_model(task)
    teacher.network.requires_grad_(False)
    context = _context(task, teacher_model=teacher)
    model, methods = fresh_model(task), [Student(layers=3), method]
    for reshaping in methods_with(methods, Reshapes):
        model = reshaping.prepare(model, context)
    collator = Collator(encode_rows(model, task, task.splits()["train"].slice(0, TAUGHT_ROWS)), model, CPU)
    with tempfile.TemporaryDirectory() as folder:
        answers = answering(teacher, collator, method.teacher_activations(model, teacher), Path(folder))
        train(task, model, collator, methods, _context(task, answers, teacher), dropout)


def answering(model: Model, collator: Collator, activations: frozenset[str], folder: Path) -> Teacher:
    names, rows = (LOGITS, *sorted(activations)), collator.features.rows
    ask = batched_teacher_function(model, collator, resolve_precision("auto"))
    if activations:
        runner = ActivationRunner(model, activations, torch.get_num_threads())
        ask = partial(runner, rows)
    layout = CacheLayout(("bench",), rows, names, partial(numbers, model.anatomy), model.anatomy.per_token)
    cache = TeacherCache(folder, sum(layout.bytes.values()))
    return Teacher(
        collator, names, model.anatomy.per_token, CachedTeacherFunction(cache, layout, ask, "teacher", lambda: None)
    )


def trainer(task: RottenTomatoes, dropout: float | None) -> None:
    """transformers' Trainer at its best settings."""
    model = Freeze().prepare(fresh_model(task), _context(task))
    if dropout is not None:
        for module in model.network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = dropout
    features = encode_split(model, task, "train")
    rows = [
        {"input_ids": ids.tolist(), "labels": int(target), "length": len(ids)}
        for ids, target in zip(features.rows.ids, features.targets, strict=True)
    ]
    laps = Laps([])

    def collate(some: list[dict]) -> dict[str, torch.Tensor]:
        laps.tokens.append(sum(one["length"] for one in some))
        padded = model.tokenizer.pad([{"input_ids": one["input_ids"]} for one in some], return_tensors="pt")
        return {**padded, "labels": torch.tensor([one["labels"] for one in some])}

    run_trainer(model.network, rows, collate, laps, lr=1e-4)


def run_trainer(
    network: torch.nn.Module, rows: list[dict], collate: Callable[[list[dict]], dict], laps: "Laps", lr: float
) -> None:
    """transformers' Trainer at its best settings. Rows have a column `length`."""

    class Callback(transformers.TrainerCallback):
        def on_step_end(
            self, arguments: object, state: object, control: transformers.TrainerControl, **_: object
        ) -> None:
            control.should_training_stop = laps()

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder,
            num_train_epochs=EPOCHS,
            per_device_train_batch_size=BATCH,
            learning_rate=lr,
            bf16=resolve_precision("auto") == "bf16",
            use_cpu=True,
            optim="adamw_torch_fused",
            train_sampling_strategy="group_by_length",
            length_column_name="length",
            save_strategy="no",
            report_to=[],
            logging_strategy="no",
            disable_tqdm=True,
            remove_unused_columns=False,
            seed=SEED,
            dataloader_num_workers=0,
        )
        one = transformers.Trainer(
            network, arguments, train_dataset=Rows(rows), data_collator=collate, callbacks=[Callback()]
        )
        if not laps.wait():
            one.train()


class Rows(torch.utils.data.Dataset):
    """A list of rows that also returns columns, for `group_by_length`."""

    def __init__(self, rows: list[dict]) -> None:
        self.rows = rows
        self.column_names = list(rows[0])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> object:
        return [row[key] for row in self.rows] if isinstance(key, str) else self.rows[key]


def _context(task: RottenTomatoes, teacher: Teacher | None = None, teacher_model: Model | None = None) -> Context:
    def nothing(*_: object) -> Iterator:
        return iter(())

    return Context(SEED, teacher, teacher_model, nothing, nothing, task.criterion.soft_loss, nothing)  # type: ignore[arg-type]


CONTENDERS: dict[str, Callable[[RottenTomatoes, float | None], None]] = {
    "fine-tuning": fine_tune,
    "trainer": trainer,
    "logits": partial(distil, Logits()),
    "tinybert": partial(distil, TinyBert()),
}

if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    name, dropout = sys.argv[1], sys.argv[2]
    CONTENDERS[name](RottenTomatoes(), None if dropout == "none" else float(dropout))
