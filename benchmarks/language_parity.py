"""Compares token ids with transformers' on texts of many languages: `python benchmarks/language_parity.py DATA FOLDER … [--python PYTHON]`.

DATA is a folder of tasks: FLORES-101 dev (59 languages) and, up to 100,000 texts, the sentences of XNLI (15 languages). A FOLDER has a tokenizer as it is published, and
a config.json. niwaki's ids are those of `plain_tokenizer`, as in a deployment; the reference is AutoTokenizer in the environment of PYTHON, which needs transformers
and, for some classes, sentencepiece. Appends a record per folder to results/language_parity.jsonl.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

COUNT, BATCH, EXAMPLES = 100_000, 1000, 3
CHILD = """
import json, sys
from transformers import AutoTokenizer
folder, texts, out = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder)
tokenizer.model_max_length = int(1e30)
with open(texts, encoding="utf-8") as rows, open(out, "w", encoding="utf-8") as found:
    print(json.dumps(type(tokenizer).__name__), file=found)
    for row in rows:
        print(json.dumps(tokenizer(json.loads(row))["input_ids"]), file=found)
"""


def texts_of(data: Path) -> list[tuple[str, str]]:
    """(language, text), FLORES first, then the languages of XNLI in turns."""
    from niwaki.data.dataset_files import read_table

    flores = read_table(data / "flores" / "dev.parquet")
    found = [(name, text) for name in flores.column_names for text in flores.column(name).to_pylist()]
    for part in ("dev", "test"):
        table = read_table(data / "xnli" / f"{part}.parquet")
        columns = [name for name in table.column_names if name.startswith(("premise_", "hypothesis_"))]
        for row in zip(*(table.column(name).to_pylist() for name in columns), strict=True):
            found += [(name.split("_")[1], text) for name, text in zip(columns, row, strict=True)]
    return found[:COUNT]


def compare(folder: Path, texts: list[tuple[str, str]], python: str) -> dict[str, Any]:
    from niwaki.models.config_rules import read as read_config
    from niwaki.models.tokenizer_loading import plain_tokenizer
    from niwaki.tokenization.tokenizing import encode_batch

    config = read_config(folder)
    tokenizer = plain_tokenizer(folder, config)
    with tempfile.TemporaryDirectory() as home:
        given, out = Path(home) / "texts.jsonl", Path(home) / "ids.jsonl"
        given.write_text("".join(json.dumps(text) + "\n" for _, text in texts), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": "", "HF_HUB_OFFLINE": "1"}
        subprocess.run([python, "-c", CHILD, str(folder), str(given), str(out)], check=True, env=environment)
        kind, *wanted = (json.loads(line) for line in out.read_text(encoding="utf-8").splitlines())
    different, examples = Counter[str](), []
    for start in range(0, len(texts), BATCH):
        chunk = texts[start : start + BATCH]
        encoded = encode_batch(tokenizer, [text for _, text in chunk])
        for (language, text), one, theirs in zip(chunk, encoded, wanted[start : start + BATCH], strict=True):
            if one.ids != theirs:
                different[language] += 1
                examples.append(text[:200])
    files = sorted(
        path.name
        for path in folder.iterdir()
        if path.suffix in (".txt", ".spm", ".model") or path.stem in ("vocab", "tokenizer")
    )
    return {
        "model": folder.name,
        "family": config["model_type"],
        "files": files,
        "tokenizer": kind,
        "texts": len(texts),
        "languages": len({language for language, _ in texts}),
        "different": dict(different.most_common()),
        "examples": examples[:EXAMPLES],
    }


def main() -> None:
    from records import append, circumstances

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--python", default=sys.executable, help="of the environment with the reference")
    arguments = parser.parse_args()
    texts = texts_of(arguments.data.expanduser())
    for folder in arguments.folders:
        record = compare(folder.expanduser(), texts, arguments.python)
        print(record)
        append("language_parity", {**record, **circumstances()})


if __name__ == "__main__":
    main()
