"""Processor time of noise and of a training step: `python benchmarks/denoising_cost.py [steps]` (5).

64 sequences of 128 tokens, an encoder-decoder of 6 + 6 layers with a hidden size of 256 and 8,000 tokens, one thread, fp32. Random ordinary
tokens, of which one in 20 ends a sentence. Prints a line for each noise: milliseconds of noise, of forward and backward pass, their ratio,
and the share of padding among the decoder's tokens.
"""

import os
import sys
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import torch

import tiny
from niwaki.data.ragged import Ragged
from niwaki.methods._method import Context
from niwaki.methods.adapt.from_scratch import FromScratch
from niwaki.models.forward import Batch, forward
from niwaki.objectives._factory import make_objective
from niwaki.tasks.denoising import Denoising
from niwaki.tokenization.span_noise import SPAN_NOISES
from niwaki.tokenization.text_noise import TEXT_NOISES

ROWS, TOKENS = 64, 128
WORDS = [f"word{number}" for number in range(7000)]


def network():
    texts = [" ".join(WORDS[start : start + 100]) + " ." for start in range(0, len(WORDS), 100)]
    context = Context(0, None, None, lambda *_: [], lambda *_: None, lambda *_: None, lambda: texts)
    shape = FromScratch(family="t5", layers=6, hidden_size=256, heads=4, ffn_size=1024, vocab_size=8000, split="words")
    return shape.prepare(tiny.model("bert", layers=1), context)


def batch_of(model, known) -> Batch:
    draw = np.random.default_rng(0)
    room = TOKENS - len(known.before) - len(known.after)
    ids = draw.choice(known.ordinary, (ROWS, room))
    ids[draw.random(ids.shape) < 0.05] = np.flatnonzero(known.ends_sentence)[0]
    rows = Ragged.of([known.whole(row).tolist() for row in ids])
    values, mask = rows.padded(np.arange(ROWS))
    inputs = {"input_ids": torch.from_numpy(values), "attention_mask": torch.from_numpy(mask).long()}
    return Batch(inputs, torch.from_numpy(values), torch.arange(ROWS))


def main(steps: int) -> None:
    torch.set_num_threads(1)
    model = network()
    model.network.train()
    for noise in (*SPAN_NOISES, *TEXT_NOISES):
        name = "span_corruption" if noise in SPAN_NOISES else "text_denoising"
        objective = make_objective({"use": name, "noise": noise}, Denoising())
        objective.prepare(model)
        before, seconds = batch_of(model, objective.known), {"noise": 0.0, "step": 0.0}
        for step in range(steps + 1):  # the first one warms up
            generator = torch.Generator().manual_seed(step)
            began = time.thread_time()
            batch = objective.batch(before, generator)
            drawn = time.thread_time()
            model.network.zero_grad()
            objective.loss(forward(model.anatomy, batch), batch).backward()
            done = time.thread_time()
            if step:
                seconds["noise"] += (drawn - began) / steps
                seconds["step"] += (done - drawn) / steps
        share = seconds["noise"] / seconds["step"]
        padding = 1 - float(batch.predicted.float().mean())
        print(
            f"{noise:10s} noise {1000 * seconds['noise']:6.1f} ms, step {1000 * seconds['step']:7.0f} ms, "
            f"share {share:.2%}, padding of the decoder {padding:.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
