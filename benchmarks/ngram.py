"""The 5-gram model of a text: training time of one core, memory, size, perplexity and BLiMP.

    python benchmarks/ngram.py TRAIN.parquet VALIDATION.parquet BLIMP

Prints one JSON record. The tokenizer is a BPE of 8,000 tokens, trained on a tenth of the documents.
"""

import json
import resource
import sys
import time

import numpy as np
import pyarrow.parquet as parquet
from tokenizers import Tokenizer

from niwaki.evaluate.baselines.ngram import nbytes, scored, trained
from niwaki.tasks.blimp import Blimp
from niwaki.tasks.language_modeling import words_and_bytes
from niwaki.tokenization.training import make

VOCABULARY, BATCH = 8000, 1000


def main(train: str, validation: str, blimp: str) -> None:
    texts = parquet.read_table(train, columns=["text"]).column("text").to_pylist()
    tokenizer = Tokenizer.from_str(make(texts[::10], "bpe", VOCABULARY))
    began = time.process_time()
    model = trained((texts[at : at + BATCH] for at in range(0, len(texts), BATCH)), tokenizer)
    seconds = time.process_time() - began
    held_out = parquet.read_table(validation, columns=["text"]).column("text").to_pylist()
    values = scored(model, held_out, tokenizer, 1_000_000)
    likelihood, tokens = (sum(value[0][at] for value in values) for at in (0, 1))
    words, size = np.sum([words_and_bytes(text) for text in held_out], axis=0)
    task = Blimp(path=blimp)
    pairs = task.splits()["test"]
    stats = task.scorer.example_stats(scored(model, task.inputs(pairs), tokenizer, 512), pairs)
    record = {
        "words": sum(len(text.split()) for text in texts),
        "cpu_seconds_with_tokenizing": round(seconds, 1),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "ngrams": model.size,
        "model_mb": round(nbytes(model) / 1e6),
        "perplexity": float(np.exp(-likelihood / tokens)),
        "word_perplexity": float(np.exp(-likelihood / words)),
        "bits_per_byte": float(-likelihood / np.log(2) / size),
        "blimp": task.scorer.scores(stats),
    }
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
