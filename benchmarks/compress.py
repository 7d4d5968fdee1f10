"""Times `niwaki compress` on a fine-tuned model as transformers saves it: `python benchmarks/compress.py MODEL ROWS [NAME]`.

MODEL is a folder that `save_pretrained` wrote, ROWS its labelled rows. The command runs in a process of its own, as a user would start
it. The saved model is then loaded again and scored on the test rows. Appends a record to results/compress.jsonl.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from records import append, circumstances

import niwaki
from niwaki import api

TARGET_SECONDS = 60


def main(model: str, rows: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        record = measure(model, rows, Path(place) / "small")
    append("compress", {"name": name, **record, **circumstances()})
    print(json.dumps(record, indent=2))


def measure(model: str, rows: str, out: Path) -> dict[str, Any]:
    began = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "niwaki",
        "compress",
        model,
        "--data",
        rows,
        "--out",
        str(out),
        "--json",
        "--quiet",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.monotonic() - began
    result = json.loads(done.stdout)
    reloaded = api.evaluate(out, data=rows)
    return {
        "seconds": seconds,
        "target_seconds": TARGET_SECONDS,
        "files": sorted(path.name for path in Path(model).iterdir()),
        "result": {key: value for key, value in result.items() if key not in ("folder", "run")},
        "reloaded": {key: reloaded[key] for key in ("metric", "value", "low", "high", "rows")},
        "engine": niwaki.load(out).engine,
    }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else Path(sys.argv[1]).name)
