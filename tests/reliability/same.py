"""Whether two run folders hold the same: weights, histories, results and outcomes to the bit, but for times and energy."""

import json
from pathlib import Path
from typing import Any

from niwaki.core.files import fault_in_folder, read_json, read_lines, sha256
from niwaki.meter.ledger import Ledger
from niwaki.report.card import CARD, LABEL

OF_THE_MOMENT = {"spent", "seconds", "joules", "energy", "digest", "files", "created", "time", "hardware"}
TIME_DEPENDENT = (CARD, LABEL, "MANIFEST", "result.json")


def differences(run: Path, undisturbed: Path) -> list[str]:
    """What is not the same, by name; nothing is left half-written and every stage is sound."""
    found = [path.name for path in run.rglob(".*") if path.name != ".lock"]
    found += [fault for folder in run.glob("stages/*") if (fault := fault_in_folder(folder))]
    names = [_files(folder) for folder in (run, undisturbed)]
    found += sorted(names[0] ^ names[1])
    found += [name for name in sorted(names[0] & names[1]) if sha256(run / name) != sha256(undisturbed / name)]
    for name in (*_present(run, undisturbed), *_results(undisturbed)):
        if timeless(read_json(run / name)) != timeless(read_json(undisturbed / name)):
            found.append(name)
    return found


def _present(*runs: Path) -> list[str]:
    """Those that some of the runs have: a run without baselines has none of them."""
    return [name for name in ("baseline.json", "comparisons.json") if any((run / name).is_file() for run in runs)]


def _files(run: Path) -> set[str]:
    paths = [*run.glob("stages/[!.]*/**/*"), *run.glob("cache/*/[!.]*/*.safetensors"), run / "baseline.npy"]
    return {str(path.relative_to(run)) for path in paths if path.is_file() and path.name not in TIME_DEPENDENT}


def _results(run: Path) -> list[str]:
    return sorted(str(path.relative_to(run)) for path in run.glob("stages/*/result.json"))


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in OF_THE_MOMENT}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def ledger_faults(run: Path, killed_while_open: set[str]) -> list[str]:
    """Every attempt charged once, as killed those that were open when a kill came; each stage made once."""
    lines = read_lines(run / "ledger.jsonl")
    begun = [line["id"] for line in lines if line["event"] == "begin"]
    charged = [line["id"] for line in lines if line["event"] == "charge"]
    total = Ledger(run / "ledger.jsonl").total()["all"]
    found = []
    if sorted(begun) != sorted(charged) or len(set(begun)) != len(begun):
        found.append(f"{len(begun)} attempts, {len(charged)} charges")
    killed = {line["id"] for line in lines if line.get("status") == "killed"}
    if total.charges != len(begun) or killed != killed_while_open:
        found.append(f"{len(killed_while_open)} killed, charged {json.dumps(total.statuses)} of {total.charges}")
    done = [line["stage"] for line in lines if line["event"] == "charge" and line["status"] == "done"]
    stages = [name for name in done if name not in ("baseline", "race")]
    if len(set(stages)) != len(stages):
        found.append(f"made twice: {stages}")
    return found
