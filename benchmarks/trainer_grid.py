"""transformers' Trainer with the usual grid, next to our settings: `python benchmarks/trainer_grid.py DATA [task/seed/epochs/lr …]`.

DATA is a folder of tasks (docs/tasks.md). One job fine-tunes MiniLM with one setting on the same train rows as `glue.py`, and scores the validation and test
rows. Set OMP_NUM_THREADS=1: processor seconds are compared. Appends to results/trainer_grid.jsonl; recorded jobs are skipped. The page takes
the setting with the best validation score and the time of the whole grid.
"""

import itertools
import tempfile
import time
from typing import Any

import jobs
import pyarrow as pa

from niwaki.run.recipe_settings import Recipe
from niwaki.tasks._task import Task

TASKS, SEEDS = ("sst2-1000", "rte", "mrpc", "stsb", "cola"), (0, 1, 2)  # a number: so many train rows
EPOCHS, RATES = (3, 5, 10), (1e-5, 2e-5, 3e-5, 5e-5)
MAX_TOKENS, BATCH, TEST_BATCH = 128, 32, 128


def run(name: str, seed: int, epochs: int, lr: float, data: str) -> dict[str, Any]:
    """All of it counts as training time, but for the score on the test rows, which no one needs to choose a setting."""
    published, _, rows = name.partition("-")
    limit = {"rows": int(rows)} if rows else {}
    task = Recipe(task=published, data={"path": data, **limit}, stages=[{"name": "unused"}]).make_task()
    start = time.process_time()
    trainer, tokenizer = trained(task, seed, epochs, lr)
    validation = score(trainer, tokenizer, task, "validation")
    seconds = time.process_time() - start
    return {
        "task": name,
        "seed": seed,
        "epochs": epochs,
        "lr": lr,
        "metric": task.metric,
        "validation": validation,
        "test": score(trainer, tokenizer, task, "test"),
        "cpu_seconds": seconds,
    }


def trained(task: Task, seed: int, epochs: int, lr: float) -> tuple[Any, Any]:
    """As in the library's example for GLUE: padded batches of similar length, bf16 where the processor has it."""
    import transformers

    from niwaki.models.sources import locate
    from niwaki.train.precision import resolve_precision

    transformers.set_seed(seed)
    source = locate("minilm")
    labels = max(1, len(task.labels or []))
    problem = "regression" if task.answer == "number" else "single_label_classification"
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        source, num_labels=labels, problem_type=problem
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder,
            num_train_epochs=epochs,
            learning_rate=lr,
            warmup_steps=0.1,  # below 1, a share of all steps
            weight_decay=0.01,
            per_device_train_batch_size=BATCH,
            per_device_eval_batch_size=TEST_BATCH,
            bf16=resolve_precision("auto") == "bf16",
            use_cpu=True,
            optim="adamw_torch_fused",
            train_sampling_strategy="group_by_length",
            length_column_name="length",
            remove_unused_columns=False,
            save_strategy="no",
            report_to=[],
            logging_strategy="no",
            disable_tqdm=True,
            seed=seed,
        )
        rows = features(task, tokenizer, task.splits()["train"])
        trainer = transformers.Trainer(
            model, arguments, train_dataset=Rows(rows), data_collator=lambda some: collate(tokenizer, some)
        )
        trainer.train()
    return trainer, tokenizer


class Rows:
    """A list of rows that also returns columns, for `group_by_length`."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows, self.column_names = rows, list(rows[0])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Any:
        return [row[key] for row in self.rows] if isinstance(key, str) else self.rows[key]


def features(task: Task, tokenizer: Any, table: pa.Table) -> list[dict[str, Any]]:
    columns = [table.column(name).to_pylist() for name in ("text", "second") if name in table.column_names]
    encoded = tokenizer(*columns, truncation=True, max_length=MAX_TOKENS, padding=False)
    golds = [
        float(gold) if task.answer == "number" else (task.labels or []).index(gold)
        for gold in table.column("label").to_pylist()
    ]
    return [
        {"input_ids": ids, "token_type_ids": types, "labels": gold, "length": len(ids)}
        for ids, types, gold in zip(encoded["input_ids"], encoded["token_type_ids"], golds, strict=True)
    ]


def collate(tokenizer: Any, some: list[dict[str, Any]]) -> dict[str, Any]:
    import torch

    texts = [{name: one[name] for name in ("input_ids", "token_type_ids")} for one in some]
    return {**tokenizer.pad(texts, return_tensors="pt"), "labels": torch.tensor([one["labels"] for one in some])}


def score(trainer: Any, tokenizer: Any, task: Task, part: str) -> float:
    table = task.splits()[part]
    logits = trainer.predict(Rows(features(task, tokenizer, table))).predictions
    values = logits[:, 0].tolist() if task.answer == "number" else [task.labels[n] for n in logits.argmax(axis=1)]
    return task.scorer.scores(task.scorer.example_stats(values, table))[task.metric]


if __name__ == "__main__":
    grid = list(itertools.product(TASKS, SEEDS, EPOCHS, RATES))
    jobs.main(__doc__, "trainer_grid", ("task", "seed", "epochs", "lr"), grid, run)
