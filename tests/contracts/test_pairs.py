"""Any order: every family of compression before and after every other is made, saved, loaded by a new process, exported and scored."""

import itertools

import numpy as np
import pytest

import new_process
import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import quality
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from selection import chain, rest_slow, selected

from .test_methods import TRAIN, run

FAMILIES = {
    "distil": [{"use": "student", "layers": 2}, {"use": "logits"}],
    "cut": [{"use": "heads", "keep": 0.5}, {"use": "ffn", "keep": 0.5, "multiple": 8}],
    "sparse": [{"use": "magnitude", "sparsity": 0.7}],
    "int8": [{"use": "int8"}],
    "rtn": [{"use": "rtn", "bits": 4, "group": 16}],
    "share": [{"use": "share"}],
    "factorize": [{"use": "svd", "keep": 0.5}],
}
TRAINED = {"distil"}
LARGER = {("sparse", "factorize")}  # half of all numbers in two full factors are more than three tenths and their bits
# fast: every family once first and once second
PAIRS = rest_slow(itertools.product(FAMILIES, FAMILIES), {*chain(FAMILIES), *LARGER})
TRAINS_WEIGHTS = ("movement", "lottery", "ternary", "binary", "qat")


def stage(name: str, family: str) -> dict:
    trained = {"train": TRAIN, "teacher": "teacher"} if family in TRAINED else {}
    return {"name": name, "methods": FAMILIES[family], **trained}


def plan_of(stages, bert_folder, rows_csv):
    whole = [{"name": "teacher", "train": TRAIN}, *stages]
    recipe = {
        "model": str(bert_folder),
        "task": "classification",
        "data": {"path": str(rows_csv)},
        "quantize": [],
        "stages": whole,
    }
    return make_plan(parse(recipe), "pairs")


@pytest.fixture(scope="module")
def pair_folders(request, tmp_path_factory, bert_folder, rows_csv):
    """Pair → folders of its stages; what pairs share is made once. Those that cannot be are not there."""
    home = tmp_path_factory.mktemp("pairs")
    (home / "stages").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quality, "RESAMPLES", 10)
        patch.setattr("os.fsync", lambda handle: None)
        plans = {pair: [stage("first", pair[0]), stage("second", pair[1])] for pair in selected(request, "pair")}
        return {pair: run(plan_of(stages, bert_folder, rows_csv), home) for pair, stages in plans.items()}


@pytest.mark.parametrize("packing", ["int8", "rtn"])
@pytest.mark.parametrize("name", TRAINS_WEIGHTS)
def test_training_of_packed_weights_is_rejected_before_any_work(packing, name, bert_folder, rows_csv):
    after = {"name": "second", "methods": [{"use": name}], "train": TRAIN}
    with pytest.raises(InputError, match=f"stage 'second': {name}: .*pack") as caught:
        plan_of([stage("first", packing), after], bert_folder, rows_csv)
    assert len(caught.value.faults) == 1


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_the_second_makes_the_first_smaller_and_both_score(pair_folders, pair):
    _, _, second = (read_json(folder / "result.json") for folder in pair_folders[pair])
    assert 0 <= second["score"]["value"] <= 1 and second["engine"] == "onnx"
    assert second["parity"] < 0.5
    weights = [(folder / "model" / "model.safetensors").stat().st_size for folder in pair_folders[pair][1:]]
    assert (weights[1] <= weights[0] * 1.02) == (
        pair not in LARGER
    )  # the same family again may find nothing left to do


LOADER = """
import sys, numpy, torch
from pathlib import Path
from niwaki.engines.native.library import best
from niwaki.engines.predictor import Predictor
from niwaki.models.forward import Batch, forward
from niwaki.models.model import load_folder
texts = Path(sys.argv[1]).read_text().splitlines()
for folder in map(Path, sys.argv[3:]):
    model, predictor = load_folder(folder), Predictor(folder)
    rows = predictor.tokenize(texts)
    ids, mask = rows.ids.padded(numpy.arange(len(texts)), 0)
    inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask.astype(numpy.int64))}
    with torch.no_grad():
        logits = forward(model.anatomy, Batch(inputs, None, None)).logits.numpy()
    native = Predictor(folder, "native").logits(rows) if best() else logits
    numpy.savez(Path(sys.argv[2]) / f"{folder.parent.name}.npz", torch=logits, onnx=predictor.logits(rows), native=native)
"""


@pytest.fixture(scope="module")
def reloaded(pair_folders, tmp_path_factory):
    """What each gives in one new process: by torch, by ONNX Runtime, and by the native engine."""
    folder = tmp_path_factory.mktemp("again")
    texts = folder / "texts.txt"
    texts.write_text("\n".join(text for text, _ in tiny.sentences(8)))
    new_process.run(LOADER, texts, folder, *(folders[-1] / "model" for folders in pair_folders.values()))
    return folder


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_a_new_process_gives_the_same(pair_folders, reloaded, pair):
    folder = pair_folders[pair][-1]
    again = np.load(reloaded / f"{folder.name}.npz")
    model, predictor = load_folder(folder / "model"), Predictor(folder / "model")
    rows = predictor.tokenize((reloaded / "texts.txt").read_text().splitlines())
    assert np.array_equal(again["onnx"], predictor.logits(rows))
    assert np.isfinite(again["torch"]).all()
    assert np.abs(again["native"] - again["torch"]).max() < 0.1 * max(1.0, np.abs(again["torch"]).max())
    assert model.blueprint.edits or "int8" not in pair
