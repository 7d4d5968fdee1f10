"""Scores published WMT22 translations with niwaki: `python benchmarks/wmt22.py DATA [pair[/reference] …]`.

DATA is a folder of tasks with `wmt22`: one parquet file per pair, with `ref_A` … and `hyp_Online-B`, the outputs of one system of the
General Machine Translation Task (Kocmi et al. 2022). Each pair is scored by the task `translation` and by sacreBLEU, and compared with
the official scores (github.com/wmt-conference/wmt22-news-systems, scores/automatic-scores.tsv). Appends a record per job to
results/wmt22.jsonl.
"""

import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import sacrebleu
from jobs import main

from niwaki.core.errors import InputError
from niwaki.data.dataset_files import read_table
from niwaki.evaluate.quality import quality
from niwaki.tasks._translation_scores import signature
from niwaki.tasks.translation import Translation

SYSTEM = "Online-B"
OFFICIAL: dict[tuple[str, str], tuple[float, float]] = {  # (pair, reference) → BLEU, chrF
    ("en-de", "A"): (38.36852355513645, 64.64010318069295),
    ("en-de", "B"): (38.29985899796457, 64.1350187667009),
    ("de-en", "A"): (33.25109007892432, 58.283238322892736),
    ("de-en", "B"): (36.63816820590153, 61.89915857436793),
    ("en-ru", "A"): (34.928073744556734, 59.72133672978631),
    ("ru-en", "A"): (45.02874571226092, 68.28870180079053),
    ("de-fr", "A"): (58.37783086666244, 74.62336556669948),
    ("fr-de", "A"): (46.64673771298601, 68.68888381116811),
    ("en-cs", "B"): (48.184630367007905, 68.975407433104),
    ("en-cs", "C"): (26.994782335997286, 52.66262309428015),
    ("cs-en", "B"): (54.301452764360675, 73.84301252717856),
    ("cs-en", "C"): (25.491161682120783, 53.98073216894126),
    ("en-uk", "A"): (32.536065416347896, 59.27009221575913),
    ("zh-en", "A"): (28.751150758655445, 58.22722799987478),
    ("zh-en", "B"): (21.124339674380828, 52.8584214386222),
}


def run(pair: str, reference: str, data: str) -> dict[str, Any]:
    table = read_table(Path(data).expanduser() / "wmt22" / f"{pair}.parquet")
    for column in ("source", f"ref_{reference}", f"hyp_{SYSTEM}"):
        if column not in table.column_names:
            raise InputError(
                f"wmt22/{pair}.parquet: has no column '{column}' (there is: {', '.join(table.column_names)})"
            )
    source, gold, outputs = (table.column(name) for name in ("source", f"ref_{reference}", f"hyp_{SYSTEM}"))
    rows, texts, references = pa.table({"text": source, "target": gold}), outputs.to_pylist(), gold.to_pylist()
    task, began = Translation(path=data), time.process_time()
    example_stats = task.scorer.example_stats(texts, rows)
    counted = time.process_time()
    found = quality(task, example_stats)["all"]
    return {
        "pair": pair,
        "reference": reference,
        "system": SYSTEM,
        "rows": rows.num_rows,
        "signature": signature(),
        "ours": {name: {key: 100 * one[key] for key in ("value", "low", "high")} for name, one in found.items()},
        "sacrebleu": {
            "bleu": sacrebleu.corpus_bleu(texts, [references]).score,
            "chrf": sacrebleu.corpus_chrf(texts, [references]).score,
        },
        "official": dict(zip(("bleu", "chrf"), OFFICIAL[pair, reference], strict=True)),
        "seconds": {"counting": counted - began, "resampling": time.process_time() - counted},
    }


if __name__ == "__main__":
    main(__doc__, "wmt22", ("pair", "reference"), OFFICIAL, run)
