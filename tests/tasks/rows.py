"""Small files of rows for tasks, and batches without a network."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from pyarrow import parquet

import tiny
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL, Batch

TOKENIZER = tiny.tokenizer().backend_tokenizer
PREPROCESSOR = tiny.model("vit", layers=1).tokenizer
TEXTS = [text for text, _ in tiny.sentences(80)]


def jsonl(path: Path, rows: list[dict]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def csv(path: Path, header: str, rows: list[str]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


def folder(path: Path, **parts: list[dict]) -> str:
    """A folder of parquet files, as the sets of GLUE lie."""
    path.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        parquet.write_table(pa.Table.from_pylist(rows), path / f"{name}.parquet", compression="zstd")
    return str(path)


def counts(task) -> dict[str, int]:
    return {name: table.num_rows for name, table in task.splits().items()}


def batch(features: Features, rows: list[int] | None = None) -> Batch:
    """What a network would be given, but for the tokens."""
    chosen = list(range(len(features))) if rows is None else rows
    mask = features.rows.padded(features.rows.sequences(chosen), 0)["attention_mask"]
    targets = features.targets
    target = targets[np.array(chosen)] if isinstance(targets, np.ndarray) else targets.padded(chosen, NO_LABEL)[0]
    inputs = {"attention_mask": torch.from_numpy(mask.astype(np.int64))}
    return Batch(inputs, torch.from_numpy(target), torch.tensor(chosen))


def only(targets: torch.Tensor, mask: torch.Tensor | None = None) -> Batch:
    """A batch of which a loss sees no more than the targets, and the mask where it reads tokens."""
    return Batch({} if mask is None else {"attention_mask": mask}, targets, torch.arange(len(targets)))
