"""One contender of `pretraining_speed.py`: trains, and waits for a request after every lap (see training_child.py)."""

import contextlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import torch
import transformers
from training_child import BATCH, CPU, EPOCHS, SEED, Laps, run_trainer

from niwaki.data.batching import epoch_batches
from niwaki.methods._method import Context
from niwaki.methods.adapt.from_scratch import FromScratch
from niwaki.models.model import Model, load_folder
from niwaki.models.sources import locate
from niwaki.objectives._factory import make_objective
from niwaki.tasks.language_modeling import LanguageModeling
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.loop import Interrupted, Job, fit
from niwaki.train.precision import resolve_precision
from niwaki.train.settings import TrainSettings

LAYERS, HIDDEN, FFN, HEADS, VOCABULARY, LENGTH, RATE = 6, 256, 1024, 4, 8000, 64, 0.15
DOCUMENTS, TAUGHT, LR = 1000, 1000, 1e-3


def prepared(text: Path, cache: str) -> tuple[Model, Collator, LanguageModeling, Context]:
    """A new network, and the sequences of the first documents, the same for all contenders."""
    documents = pq.read_table(text / "train.parquet", columns=["text"]).slice(0, DOCUMENTS)
    texts = documents.column("text").to_pylist()
    task = LanguageModeling(max_tokens=LENGTH, cache=cache)
    context = Context(SEED, None, None, _nothing, _nothing, _nothing, lambda: texts[:TAUGHT])  # type: ignore[arg-type]
    shape = {"layers": LAYERS, "hidden_size": HIDDEN, "ffn_size": FFN, "heads": HEADS, "positions": LENGTH}
    start = load_folder(Path(locate("minilm")), task.head)
    model = FromScratch(vocab_size=VOCABULARY, **shape).prepare(start, context)
    return model, Collator(encode_rows(model, task, pa.table({"text": texts})), model, CPU), task, context


def niwaki(text: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(Interrupted):
        model, collator, task, context = prepared(text, folder)
        objective = make_objective({"use": "masked_lm", "rate": RATE}, task)
        objective.prepare(model)
        epochs = (epoch_batches(collator.lengths, BATCH, SEED, epoch) for epoch in range(EPOCHS))
        laps = Laps([int(collator.lengths[rows].sum()) for batches in epochs for rows in batches])
        settings = TrainSettings(epochs=EPOCHS, lr=LR, batch=BATCH, dropout=0.0, validations=0, save_seconds=1e6)
        if not laps.wait():
            precision = resolve_precision("auto")
            parts = model, [], context, objective, collator, collator, settings, precision, SEED, Path(folder), laps
            fit(Job("bench", *parts))


def trainer(text: Path) -> None:
    """transformers' Trainer at its best settings."""
    with tempfile.TemporaryDirectory() as folder:
        model, collator, _, _ = prepared(text, folder)
        for module in model.network.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        rows = [{"input_ids": ids.tolist(), "length": len(ids)} for ids in collator.features.rows.ids]
        network = transformers.BertForMaskedLM(model.network.config)
        laps = Laps([])
        masking = transformers.DataCollatorForLanguageModeling(model.tokenizer, mlm_probability=RATE)

        def collate(some: list[dict]) -> dict[str, torch.Tensor]:
            laps.tokens.append(sum(one["length"] for one in some))
            return dict(masking([{"input_ids": one["input_ids"]} for one in some]))

        run_trainer(network, rows, collate, laps, LR)


def _nothing(*_: object) -> None:
    """For what no objective asks of the context."""


CONTENDERS: dict[str, Callable[[Path], None]] = {"niwaki": niwaki, "trainer": trainer}

if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    CONTENDERS[sys.argv[1]](Path(sys.argv[2]))
