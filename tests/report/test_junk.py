"""Whatever the files of a run contain, there is a report or a one-line error, never a traceback."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from niwaki import report
from niwaki.core.errors import InputError
from niwaki.report.card import card
from niwaki.report.markdown import markdown
from niwaki.report.page import page

from .runs import make_full, reseal, write

JUNK: list[Any] = [
    None,
    True,
    "",
    "x",
    "<b>",
    -1,
    0,
    1e-300,
    1e29,
    10**400,
    float("nan"),
    [],
    {},
    [None],
    {"value": []},
]
ROUNDS = 90


def slots(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below a JSON value."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [slot for key in keys for slot in slots(value[key])]


def spoiled(text: str, draw: random.Random) -> str:
    """The file with one to three of its values replaced or taken away."""
    documents = [json.loads(line) for line in text.splitlines()] if "\n{" in text[1:] else [json.loads(text)]
    for _ in range(draw.randint(1, 3)):
        container, key = draw.choice(slots(documents))
        if isinstance(container, dict) and draw.random() < 0.2:
            del container[key]
        else:
            container[key] = copy.deepcopy(draw.choice(JUNK))
    return "\n".join(json.dumps(document) for document in documents)


def sign(path: Path) -> None:
    """Makes the digest or the MANIFEST right again, so that the junk is read and not just noticed."""
    if path.suffix == ".json" and isinstance(value := json.loads(path.read_text()), dict):
        write(path, value) if path.name != "result.json" else reseal(path.parent)


def test_random_junk_never_breaks_the_report(tmp_path: Path) -> None:
    run = make_full(tmp_path / "demo", ["teacher", "int8"])
    names = ["plan.json", "speed.json", "baseline.json", "comparisons.json", "ledger.jsonl"]
    paths = [run / name for name in names] + sorted(run.glob("stages/*/result.json"))
    for seed in range(ROUNDS):
        draw = random.Random(seed)
        path = draw.choice(paths)
        before = path.read_text()
        path.write_text(spoiled(before, draw))
        sign(path)
        try:
            result = report.build(run)
            json.dumps(result, allow_nan=False)
            assert page(result) and markdown(result)
            assert all(card(result, stage, has_label=False) for stage in result["stages"])
        except InputError as refusal:
            assert "\n" not in str(refusal)
        except Exception as error:  # noqa: BLE001 - whatever it is, the seed must be known
            pytest.fail(f"seed {seed}, {path.name}: {error!r}")
        finally:
            path.write_text(before)
            sign(path)
