"""Runs CTranslate2 in its own environment for translation_speed.py: reads requests and writes answers as JSON lines."""

import json
import os
import sys
import time
from typing import Any

import ctranslate2

THREADS = len(os.sched_getaffinity(0))
BATCH = 64


def main() -> None:
    folder = sys.argv[1]
    # several texts: a worker for each core; a single one: all cores for it
    many = ctranslate2.Translator(folder, compute_type="int8", inter_threads=THREADS, intra_threads=1)
    single = ctranslate2.Translator(folder, compute_type="int8", inter_threads=1, intra_threads=THREADS)
    answer({"ready": ctranslate2.__version__})
    for line in sys.stdin:
        request = json.loads(line)
        how = {"beam_size": request["beam"], "max_decoding_length": request["longest"], "max_input_length": 0}
        texts, found, seconds = request["texts"], [], []
        if request["single"]:
            for text in texts:
                start = time.perf_counter()
                found += single.translate_batch([text], **how)
                seconds.append(time.perf_counter() - start)
        else:
            start = time.perf_counter()
            found = many.translate_batch(texts, max_batch_size=request.get("batch", BATCH), **how)
            seconds.append(time.perf_counter() - start)
        answer({"seconds": seconds, "tokens": [one.hypotheses[0] for one in found]})


def answer(values: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
