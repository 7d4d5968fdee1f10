"""One process of `distributed.py`. Prints its measurements as one line of JSON."""

import contextlib
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel

from niwaki.data.batching import epoch_batches
from niwaki.methods._method import Context
from niwaki.models.anatomy import anatomy_of
from niwaki.models.forward import Batch, forward
from niwaki.models.model import load_folder
from niwaki.models.skeleton import build
from niwaki.models.sources import locate
from niwaki.objectives.supervised import Supervised
from niwaki.tasks.rotten_tomatoes import RottenTomatoes
from niwaki.train import distributed
from niwaki.train.collator import Collator, encode_rows, encode_split
from niwaki.train.loop import Interrupted, Job, fit
from niwaki.train.optimizer import make_optimizer
from niwaki.train.precision import autocast, resolve_precision
from niwaki.train.settings import TrainSettings

BATCH, SEED, WARM_UP_STEPS, STEPS = 32, 0, 3, 15
CPU = torch.device("cpu")
exchange = {"seconds": 0.0}


def timed(function: Any) -> Any:
    def inside(*arguments: Any) -> Any:
        began = time.process_time()
        found = function(*arguments)
        exchange["seconds"] += time.process_time() - began
        return found

    return inside


def train(micro_shards: int) -> dict[str, float]:
    distributed.all_to_all, distributed.all_gather = timed(distributed.all_to_all), timed(distributed.all_gather)
    task = RottenTomatoes()
    model = load_folder(locate("minilm"), task.head)
    collator = Collator(encode_split(model, task, "train"), model, CPU)
    validation = Collator(encode_rows(model, task, task.splits()["validation"].slice(0, 64)), model, CPU)
    batches = epoch_batches(collator.lengths, BATCH, SEED, 0)
    settings = TrainSettings(epochs=1, lr=1e-4, batch=BATCH, save_seconds=1e6, micro_shards=micro_shards)
    step, begun = 0, 0.0

    def should_stop() -> bool:
        nonlocal step, begun
        step += 1
        if step == WARM_UP_STEPS:
            begun, exchange["seconds"] = time.process_time(), 0.0
        return step == WARM_UP_STEPS + STEPS

    context = Context(SEED, None, None, None, None, task.criterion.soft_loss, None)
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Interrupted):

        def stop() -> bool:
            nonlocal seconds
            if done := should_stop():
                seconds = time.process_time() - begun
            return done

        precision = resolve_precision("auto")
        fit(
            Job(
                "bench",
                model,
                [],
                context,
                Supervised(task),
                collator,
                validation,
                settings,
                precision,
                SEED,
                Path(folder),
                stop,
            )
        )
    tokens = sum(int(collator.lengths[rows].sum()) for rows in batches[WARM_UP_STEPS : WARM_UP_STEPS + STEPS])
    return {
        "tokens": tokens,
        "cpu_seconds": seconds,
        "exchange_cpu_seconds": exchange["seconds"],
        "parameters": model.parameters(),
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def batch_of_reviews() -> tuple[Batch, float]:
    task = RottenTomatoes()
    model = load_folder(locate("minilm"), task.head)
    collator = Collator(encode_split(model, task, "train"), model, CPU)
    rows = sorted(epoch_batches(collator.lengths, BATCH, SEED, 0), key=lambda rows: collator.lengths[rows].mean())
    return collator.batch(rows[len(rows) // 2]), float(collator.lengths.mean())


def network_of(layers: int) -> PreTrainedModel:
    """The shape of BERT-base is the default of a config of this type."""
    torch.manual_seed(SEED)
    values = {"model_type": "bert", "architectures": ["BertForSequenceClassification"], "num_hidden_layers": layers}
    return build(values)


def rate(step: Any, tokens: int, seconds: float = 8.0) -> float:
    step()
    began, count = time.process_time(), 0
    while time.process_time() - began < seconds:
        step()
        count += 1
    return count * tokens / (time.process_time() - began)


def constants() -> dict[str, float]:
    batch, mean_tokens = batch_of_reviews()
    tokens, precision = int(batch.mask.sum()), resolve_precision("auto")
    teacher, student = network_of(12).eval(), network_of(6).train()
    optimizer, anatomy, taught = (
        make_optimizer(student, TrainSettings(lr=1e-5)),
        anatomy_of(student),
        anatomy_of(teacher),
    )

    @torch.no_grad()
    def answer() -> None:
        with autocast(precision, CPU):
            forward(taught, batch)

    def learn() -> None:
        with autocast(precision, CPU):
            loss = forward(anatomy, batch).logits.float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return {
        "tokens_per_sentence": mean_tokens,
        "batch_sentences": BATCH,
        "teacher_tokens_per_second": rate(answer, tokens),
        "student_tokens_per_second": rate(learn, tokens),
        "teacher_parameters": sum(one.numel() for one in teacher.parameters()),
        "student_parameters": sum(one.numel() for one in student.parameters()),
    }


def exchanged(megabytes: int = 64, times: int = 10) -> dict[str, float]:
    """Bytes that a process sends in a second of its processor time, to another on this machine."""
    values = torch.zeros(megabytes << 18)
    half = values.numel() // 2
    distributed.all_to_all(values, [half, half], [half, half])
    distributed.wait_for_all()
    began = time.process_time()
    for _ in range(times):
        distributed.all_to_all(values, [half, half], [half, half])
        distributed.all_gather(values[:half])
    return {"exchange_bytes_per_cpu_second": times * 2 * half * 4 / (time.process_time() - began)}


def main() -> None:
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        distributed.join()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    what, micro_shards = sys.argv[1], int(sys.argv[2])
    found = train(micro_shards) if what == "train" else constants() if what == "constants" else exchanged()
    print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    main()
