"""Training speed next to transformers' Trainer at its best settings: `python benchmarks/training.py`. Keep the machine quiet.

Fine-tunes the embedded MiniLM on the embedded reviews, embeddings frozen, bf16 where the processor has it, batches of like
length, fused AdamW, the same dropout, batch size and texts. Both take turns in one process; tokens are real ones, without
padding. The share of the processor's limit counts the matrix products of forward and backward pass over a measured
2048³ product. Appends to results/training.jsonl; --laps and --steps set the length.
"""

import argparse
import contextlib
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import transformers
from records import append, circumstances

from niwaki.data.batching import epoch_batches
from niwaki.methods._method import Context
from niwaki.methods.adapt.freeze import Freeze
from niwaki.models.model import Model, load_folder
from niwaki.models.sources import locate
from niwaki.tasks.rotten_tomatoes import RottenTomatoes
from niwaki.train.collator import Collator, encode_split
from niwaki.train.loop import Interrupted, Job, fit
from niwaki.train.precision import resolve
from niwaki.train.settings import TrainSettings

BATCH, WARM_UP_STEPS, SEED = 32, 5, 0
CPU = torch.device("cpu")


def fresh_model(task: RottenTomatoes) -> Model:
    torch.manual_seed(SEED)
    return load_folder(locate("minilm"), task.head)


def niwaki_rate(task: RottenTomatoes, steps: int, precision: str, dropout: float | None) -> float:
    """Real tokens a second of the training loop."""
    model = Freeze().prepare(fresh_model(task), _no_context())
    features = encode_split(model, task, "train")
    train, validation = (Collator(one, model, CPU) for one in (features, encode_split(model, task, "validation")))
    batches = epoch_batches(train.lengths, BATCH, SEED, 0)
    clock = StepClock([int(train.lengths[rows].sum()) for rows in batches], steps)
    settings = TrainSettings(epochs=2, lr=1e-4, batch=BATCH, dropout=dropout, save_seconds=1e6)
    with tempfile.TemporaryDirectory() as folder:
        job = Job(
            "bench",
            model,
            [Freeze()],
            _no_context(),
            task,
            train,
            validation,
            settings,
            precision,
            SEED,
            Path(folder),
            clock,
        )
        with contextlib.suppress(Interrupted):
            fit(job)
    return clock.rate()


def trainer_rate(task: RottenTomatoes, steps: int, precision: str, dropout: float | None) -> float:
    """The same of transformers' Trainer."""
    model = fresh_model(task)
    Freeze().prepare(model, _no_context())
    if dropout is not None:
        for module in model.network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = dropout
    features = encode_split(model, task, "train")
    rows = [
        {"input_ids": ids.tolist(), "labels": int(target), "length": len(ids)}
        for ids, target in zip(features.rows.ids, features.targets, strict=True)
    ]
    tokens: list[int] = []

    def collate(some: list[dict]) -> dict[str, torch.Tensor]:
        tokens.append(sum(one["length"] for one in some))
        padded = model.tokenizer.pad([{"input_ids": one["input_ids"]} for one in some], return_tensors="pt")
        return {**padded, "labels": torch.tensor([one["labels"] for one in some])}

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder,
            max_steps=steps + WARM_UP_STEPS + 1,
            per_device_train_batch_size=BATCH,
            learning_rate=1e-4,
            bf16=precision == "bf16",
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
        clock = StepClock(tokens, steps)
        trainer = transformers.Trainer(
            model.network, arguments, train_dataset=Rows(rows), data_collator=collate, callbacks=[clock.callback()]
        )
        trainer.train()
    return clock.rate()


class Rows(torch.utils.data.Dataset):
    """A list of rows that also answers for its columns, as `group_by_length` asks."""

    def __init__(self, rows: list[dict]) -> None:
        self.rows = rows
        self.column_names = list(rows[0])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> object:
        return [row[key] for row in self.rows] if isinstance(key, str) else self.rows[key]


class StepClock:
    """Called after every step; says when enough were timed. `tokens` has each step's, in order."""

    def __init__(self, tokens: list[int], steps: int) -> None:
        self.tokens, self.steps, self.times = tokens, steps, [float("nan")]

    def __call__(self) -> bool:
        self.times.append(time.perf_counter())
        return len(self.times) > self.steps + WARM_UP_STEPS

    def callback(self) -> transformers.TrainerCallback:
        clock = self

        class Callback(transformers.TrainerCallback):
            def on_step_end(self, *_: object, **__: object) -> None:
                clock()

        return Callback()

    def rate(self) -> float:
        last = WARM_UP_STEPS + self.steps
        seconds = self.times[last] - self.times[WARM_UP_STEPS]
        return sum(self.tokens[WARM_UP_STEPS:last]) / seconds


def _no_context() -> Context:
    return Context(SEED, None, None, None, None, None, None)  # type: ignore[arg-type]


def peak_flops(precision: str) -> float:
    """Of a large product, operations a second."""
    a = torch.randn(2048, 2048).to(torch.bfloat16 if precision == "bf16" else torch.float32)
    times = []
    for _ in range(8):
        start = time.perf_counter()
        a @ a
        times.append(time.perf_counter() - start)
    return 2 * 2048**3 / min(times)


def flops_per_token(model: Model) -> int:
    """Of the layers' matrices, forward and backward, if every row of every layer is computed."""
    layers = model.anatomy.layers
    parts = ("query", "key", "value", "out", "ffn_in", "ffn_out")
    numbers = sum(layers[n].linear(part).weight.numel() for n in model.anatomy.order for part in parts)
    return 6 * numbers


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--laps", type=int, default=3)
    arguments.add_argument("--steps", type=int, default=60)
    arguments.add_argument("--dropout", type=float, default=None, help="default: as the model has it")
    given = arguments.parse_args()
    transformers.logging.set_verbosity_error()
    task, precision = RottenTomatoes(), resolve("auto")
    contenders: dict[str, Callable[..., float]] = {"niwaki": niwaki_rate, "trainer": trainer_rate}
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for lap in range(given.laps):
        for name, run in contenders.items():
            rates[name].append(run(task, given.steps, precision, given.dropout))
            print(f"lap {lap + 1}: {name} {rates[name][-1]:.0f} tokens/s", flush=True)
    ratios = [one / other for one, other in zip(rates["niwaki"], rates["trainer"], strict=True)]
    peak, each = peak_flops(precision), flops_per_token(fresh_model(task))
    record = {
        "rates": rates,
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "precision": precision,
        "dropout": given.dropout,
        "steps": given.steps,
        "peak_gflops": peak / 1e9,
        "share_of_peak": statistics.median(rates["niwaki"]) * each / peak,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    append("training", {**record, **circumstances()})
    print(
        f"ratio {record['ratio']:.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {record['share_of_peak']:.0%} of a {precision} product's {peak / 1e9:.0f} GFLOP/s"
    )


if __name__ == "__main__":
    main()
