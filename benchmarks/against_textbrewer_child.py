"""Distils with TextBrewer's GeneralDistiller, as its README shows; runs in its environment for against_textbrewer.py."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from textbrewer import DistillationConfig, GeneralDistiller, TrainingConfig
from torch.utils.data import DataLoader


def main(request: dict) -> None:
    torch.manual_seed(request["seed"])
    rows = np.load(request["rows"], allow_pickle=False)
    teacher, student = (
        transformers.AutoModelForSequenceClassification.from_pretrained(
            request[name], output_hidden_states=True, output_attentions=True, attn_implementation="eager"
        )
        for name in ("teacher", "student")
    )
    for module in student.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    loader = DataLoader(Rows(rows), batch_size=request["batch"], shuffle=True, collate_fn=padded)
    steps = round(request["epochs"] * len(loader))
    optimizer = torch.optim.AdamW(student.parameters(), lr=request["lr"], weight_decay=0.01)
    deep, shallow = teacher.config.num_hidden_layers, student.config.num_hidden_layers
    matches = []
    for layer in range(shallow):
        source = (layer + 1) * deep // shallow
        matches.append(
            {"layer_T": source, "layer_S": layer + 1, "feature": "hidden", "loss": "hidden_mse", "weight": 1}
        )
        matches.append(
            {"layer_T": source - 1, "layer_S": layer, "feature": "attention", "loss": "attention_mse", "weight": 1}
        )
    distiller = GeneralDistiller(
        TrainingConfig(device="cpu", output_dir=request["made"] + "-log", log_dir=None, ckpt_frequency=1),
        DistillationConfig(temperature=1, kd_loss_weight=1, hard_label_weight=0, intermediate_matches=matches),
        teacher,
        student,
        shown,
        shown,
    )
    start = time.monotonic()
    with distiller:
        distiller.train(
            optimizer,
            loader,
            num_epochs=round(request["epochs"]),
            max_grad_norm=1.0,
            scheduler_class=transformers.get_linear_schedule_with_warmup,
            scheduler_args={"num_warmup_steps": steps // 10, "num_training_steps": steps},
            callback=None,
        )
    seconds = time.monotonic() - start
    student.save_pretrained(Path(request["made"]))
    sys.stdout.write("\n" + json.dumps({"seconds": seconds}) + "\n")


class Rows(torch.utils.data.Dataset):
    def __init__(self, rows: dict) -> None:
        self.ids, self.starts, self.labels = rows["ids"], rows["starts"], rows["labels"]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: int) -> tuple:
        return self.ids[self.starts[row] : self.starts[row + 1]], self.labels[row]


def padded(rows: list) -> dict:
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for place, (row, _) in enumerate(rows):
        ids[place, : len(row)] = torch.from_numpy(row.astype(np.int64))
        mask[place, : len(row)] = 1
    labels = torch.tensor([int(label) for _, label in rows])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def shown(batch: dict, outputs: object) -> dict:
    return {
        "logits": outputs.logits,
        "hidden": outputs.hidden_states,
        "attention": outputs.attentions,
        "losses": outputs.loss,
    }  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
