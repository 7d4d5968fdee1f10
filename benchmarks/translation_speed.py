"""Compares the speed of opus-mt in niwaki's engines and CTranslate2: `python benchmarks/translation_speed.py DATA --model FOLDER --peer PYTHON CT2`.

DATA is a folder of tasks with `flores/dev.parquet`; FOLDER is what `niwaki export opus-mt-en-fr --to native` wrote; PYTHON is the interpreter of an
environment with ctranslate2, and CT2 what `ct2-transformers-converter --quantization int8` wrote there. Token ids go in and come out, so
tokenization is not timed. Contenders take turns lap by lap. `--quality` translates all rows once instead and records BLEU. Appends a record
to results/translation_speed.jsonl.
"""

import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
from records import append, circumstances

from niwaki.data.dataset_files import read_table
from niwaki.engines.predictor import Predictor
from niwaki.meter.compare import round_order

CHILD = Path(__file__).parent / "translation_speed_child.py"
CTRANSLATE2 = "CTranslate2 int8"
ENGINES = {"niwaki native int8": "native", "niwaki onnx int8": "onnx"}
BEAMS, ROWS, SINGLES, LAPS, LONGEST = (1, 4), 64, 12, 3, 256
PAUSE = 0.2  # seconds before a lap, because threads of the previous contender may keep spinning for a while


class Ours:
    def __init__(self, folder: Path, engine: str) -> None:
        self.folder, self.engine, self.opened = folder, engine, {}  # type: ignore[var-annotated]

    def predictor(self, beam: int) -> Predictor:
        """One for each beam: its search settings are those of the model's config."""
        if beam not in self.opened:
            found = self.opened[beam] = Predictor(self.folder, self.engine)
            search = found.answer_type.model_copy(update={"beam": beam, "max_new_tokens": LONGEST})
            search._loaded = found.answer_type._loaded  # type: ignore[attr-defined]
            found.answer_type = search
            found.runtime.search = search.search  # type: ignore[attr-defined]
        return self.opened[beam]

    def run(self, texts: list[str], beam: int, single: bool) -> tuple[list[float], list[list[int]]]:
        predictor, seconds, found = self.predictor(beam), [], []
        for group in [[text] for text in texts] if single else [texts]:
            encoded = predictor.tokenize(group)
            start = time.perf_counter()
            rows = predictor.logits(encoded)
            seconds.append(time.perf_counter() - start)
            found += [[int(one) for one in row[1:] if one >= 0] for row in rows]
        return seconds, found


class Peer:
    def __init__(self, python: str, folder: str, ours: Ours) -> None:
        self.process = subprocess.Popen(
            [python, str(CHILD), folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.version = self.read()["ready"]
        self.encoder = ours.predictor(1).encoder.tokenizer
        vocabulary = json.loads((Path(folder) / "shared_vocabulary.json").read_text())
        self.ids = {token: number for number, token in enumerate(vocabulary)}
        self.vocabulary = vocabulary

    def read(self) -> dict[str, Any]:
        return dict(json.loads(self.process.stdout.readline()))  # type: ignore[union-attr]

    def run(self, texts: list[str], beam: int, single: bool) -> tuple[list[float], list[list[int]]]:
        tokens = [[self.vocabulary[one] for one in self.encoder.encode(text).ids] for text in texts]
        request = {"texts": tokens, "beam": beam, "single": single, "longest": LONGEST}
        self.process.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        found = self.read()
        return found["seconds"], [[self.ids[token] for token in row] for row in found["tokens"]]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--peer", nargs=2, required=True, metavar=("PYTHON", "CT2"))
    parser.add_argument("--direction", default="en-fr")
    parser.add_argument("--rows", type=int, default=0, help=f"sentences; {ROWS} by default, and all for quality")
    parser.add_argument("--beams", type=int, nargs="*", default=BEAMS)
    parser.add_argument("--laps", type=int, default=LAPS)
    parser.add_argument("--only", nargs="*", default=[], help="names of contenders")
    parser.add_argument("--quality", action="store_true")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    source, target = given.direction.split("-")
    table = read_table(given.data / "flores" / "dev.parquet")
    rows = given.rows or (table.num_rows if given.quality else ROWS)
    spread = slice(None, None, max(1, table.num_rows // rows))  # all lengths are there
    texts, references = (table.column(language).to_pylist()[spread][:rows] for language in (source, target))
    ours = {name: Ours(given.model, engine) for name, engine in ENGINES.items()}
    running: dict[str, Any] = {**ours, CTRANSLATE2: Peer(*given.peer, ours=next(iter(ours.values())))}
    running = {name: one for name, one in running.items() if not given.only or name in given.only}
    decode = ours["niwaki native int8"].predictor(1).answer_type.target.decode_batch  # type: ignore[attr-defined]
    kind = "quality" if given.quality else "speed"
    found = quality(running, texts, references, decode, given) if given.quality else speed(running, texts, given)
    append(
        "translation_speed",
        {
            "kind": kind,
            "direction": given.direction,
            "rows": len(texts),
            "ctranslate2": running[CTRANSLATE2].version if CTRANSLATE2 in running else None,
            "contenders": found,
            **circumstances(),
        },
    )


def quality(
    running: dict[str, Any], texts: list[str], references: list[str], decode: Any, given: argparse.Namespace
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, one in running.items():
        for beam in given.beams:
            rows = one.run(texts, beam, False)[1]
            bleu = sacrebleu.corpus_bleu(decode(rows), [references]).score
            found.setdefault(name, {})[f"beam {beam}"] = {"bleu": bleu, "tokens": sum(map(len, rows))}
            print(name, "beam", beam, f"BLEU {bleu:.2f}", flush=True)
    return found


def speed(running: dict[str, Any], texts: list[str], given: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {name: {} for name in running}
    for beam in given.beams:
        for single in (False, True):
            which = texts[:SINGLES] if single else texts
            laps: dict[str, list[float]] = {name: [] for name in running}
            for one in running.values():
                one.run(which[:4], beam, single)
            for number in range(given.laps):
                for place in round_order(number, given.laps, len(running)):
                    name, one = list(running.items())[place]
                    time.sleep(PAUSE)
                    laps[name].append(float(np.sum(one.run(which, beam, single)[0])))
            key = f"beam {beam}, {'single' if single else 'batched'}"
            for name, seconds in laps.items():
                found[name][key] = {"per_second": [len(which) / one for one in seconds]}
                if CTRANSLATE2 in laps:
                    ratio = statistics.median(a / b for a, b in zip(laps[CTRANSLATE2], seconds, strict=True))
                    found[name][key]["ratio"] = ratio
                print(key, name, {k: np.round(v, 2).tolist() for k, v in found[name][key].items()}, flush=True)
    return found


if __name__ == "__main__":
    main()
