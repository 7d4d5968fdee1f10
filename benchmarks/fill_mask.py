"""Compares fill-mask of niwaki and transformers on published weights with a masked-LM head.

    python benchmarks/fill_mask.py FOLDER TEXTS      a checkpoint; a file with one text a line, with [MASK]

Prints the largest difference of two probabilities, and fails if a candidate differs or it is above 1e-5.
"""

import sys
import tempfile
from pathlib import Path

import niwaki

TOP, TOLERANCE = 5, 1e-5


def main(source: str, texts: str) -> None:
    import transformers

    model = transformers.AutoModelForMaskedLM.from_pretrained(source)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    reference = transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer, top_k=TOP)
    lines = [line for line in Path(texts).read_text(encoding="utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder:  # with a tokenizer.json, which old checkpoints lack
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        found = niwaki.load(folder, head="language_model").fill(lines, top=TOP)
    worst = 0.0
    for text, filled in zip(lines, found, strict=True):
        wanted = reference(text.replace("[MASK]", tokenizer.mask_token))
        for ours, theirs in zip(filled.masks, wanted if isinstance(wanted[0], list) else [wanted], strict=True):
            if [one.id for one in ours] != [one["token"] for one in theirs]:
                sys.exit(f"{text}: other candidates")
            worst = max(worst, *(abs(a.probability - b["score"]) for a, b in zip(ours, theirs, strict=True)))
    print(f"{len(lines)} texts, largest difference {worst:.1e}")
    sys.exit(worst > TOLERANCE)


if __name__ == "__main__":
    main(*sys.argv[1:])
