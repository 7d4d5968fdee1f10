"""One few-shot training with SetFit, as its README shows; runs in SetFit's environment for few_shot.py."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from datasets import Dataset
from setfit import SetFitModel, Trainer, TrainingArguments


def main(request: dict) -> None:
    torch.set_num_threads(request["threads"])
    texts, labels = zip(*request["train"], strict=True)
    start, cpu = time.monotonic(), time.process_time()
    model = SetFitModel.from_pretrained(request["model"])
    settings = TrainingArguments(
        seed=request["seed"],
        output_dir=request["out"],
        report_to="none",
        save_strategy="no",
        logging_strategy="no",
        show_progress_bar=False,
    )
    trainer = Trainer(model, settings, train_dataset=Dataset.from_dict({"text": texts, "label": labels}))
    trainer.train()
    model.save_pretrained(request["out"])
    seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu
    found = np.asarray(model.predict([text for text, _ in request["test"]], show_progress_bar=False))
    score = float((found == np.array([label for _, label in request["test"]])).mean())
    print(json.dumps({"score": score, "seconds": seconds, "cpu_seconds": cpu_seconds}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
