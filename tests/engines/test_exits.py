"""Early exits: the logits at an exit are those of the truncated model, and hidden states are reused."""

import json
import shutil

import numpy as np
import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import commit_folder, write_json
from niwaki.engines.cascade import CASCADE, Cascade, engines_of
from niwaki.engines.exits import layer_ranges
from niwaki.engines.native import library as c
from niwaki.engines.native.network import Network
from niwaki.engines.native.program_file import write_program
from niwaki.engines.native.translate import translate
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.ties import unique_tensors
from selection import covering

EXITS = [1, 3]
ENGINES = ("onnx", "native", "torch")
TEXTS = [*(text for text, _ in tiny.sentences(40, seed=4)), " ".join(text for text, _ in tiny.sentences(9, seed=5))]


def with_exits(family: str, whole: bool):
    model = tiny.model(family, layers=4, seed=3)
    if whole:
        model.apply_edit(Int8())
    model.network.config.niwaki_exits = EXITS
    return model


def cut(family: str, whole: bool, keep: int):
    model = tiny.model(family, layers=4, seed=3)
    model.apply_edit(Layers(keep=keep))
    if whole:
        model.apply_edit(Int8())
    return model


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """By family and form: the model with exits, and those that end where it may."""
    created = {}

    def get(family: str, whole: bool):
        if (family, whole) not in created:
            home = tmp_path_factory.mktemp("exits")
            cuts = [tiny.deployed(cut(family, whole, keep), home / f"cut-{keep}") for keep in (*EXITS, 4)]
            created[family, whole] = tiny.deployed(with_exits(family, whole), home / "model"), cuts
        return created[family, whole]

    return get


def never(number, logits):
    return np.zeros(len(logits), dtype=bool)


def at(exit_):
    return lambda number, logits: np.full(len(logits), number == exit_)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("family", "whole"), covering(["bert", "mpnet", "albert"], [False, True]))
def test_exit_gives_the_logits_of_the_truncated_model(folders, engine, family, whole):
    folder, cuts = folders(family, whole)
    model = Predictor(folder, engine, threads=2)
    rows = model.tokenize(TEXTS)
    for number, other in enumerate(cuts):
        found, taken = model.logits_with_exits(rows, at(number) if number < 2 else never)
        wanted = Predictor(other, engine, threads=2)
        assert set(taken) == {number}
        near = {"native": 0.0, "onnx": 0.1 if whole else 1e-5, "torch": 1e-5}[engine]  # ONNX Runtime rounds by batch
        np.testing.assert_allclose(found, wanted.logits(rows), rtol=0, atol=near * np.abs(found).max())


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_leave_at_different_exits(folders, engine):
    folder, cuts = folders("bert", False)
    model = Predictor(folder, engine, threads=2)
    rows = model.tokenize(TEXTS)
    alone = [Predictor(other, engine).logits(rows) for other in cuts]
    gaps = [np.sort(np.abs(one[:, 0] - one[:, 1]))[20:22].mean() for one in alone]  # between two texts, not at one
    found, taken = model.logits_with_exits(
        rows, lambda number, logits: np.abs(logits[:, 0] - logits[:, 1]) > gaps[number]
    )
    first = np.abs(alone[0][:, 0] - alone[0][:, 1]) > gaps[0]
    second = np.abs(alone[1][:, 0] - alone[1][:, 1]) > gaps[1]
    by = np.where(first, 0, np.where(second, 1, 2))
    assert min(np.bincount(by, minlength=3)) >= 5  # all three are taken
    np.testing.assert_array_equal(taken, by)
    np.testing.assert_allclose(found, np.choose(by[:, None], alone), atol=1e-4)


@pytest.mark.parametrize("kernels", c.KERNELS)
@pytest.mark.parametrize("whole", [False, True], ids=["floats", "bytes"])
def test_layer_ranges_give_the_same_bits_as_the_whole(kernels, whole):
    if c.kernels(kernels) is None:
        pytest.skip(f"this processor does not run {kernels}")
    model = with_exits("mpnet", whole)
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    network = Network(translate(model.network, model.anatomy), tensors, "here", kernels)
    network.products = 1 << 40  # so that threads take part though there is little work
    lengths = np.array([30, 1, 17, 33, 5])
    ids = np.random.default_rng(0).integers(5, model.network.config.vocab_size, lengths.sum())
    types = np.zeros_like(ids)
    wanted: list[np.ndarray] = []
    for threads in (1, 2, 3, *[5] * 20):  # threads that do not wait for each other show it now and then
        start, found = ids, []
        for first, last in layer_ranges(EXITS, 4):
            logits, start = network.run_layers(start, types, lengths, first, last, threads)
            found.append(logits)
        wanted = wanted or [*found[:-1], network(ids, types, lengths)]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(start) == 0  # nothing is left behind the last layer


def test_out_of_range_layers_are_rejected():
    model = with_exits("bert", False)
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    network = Network(translate(model.network, model.anatomy), tensors, "here", "plain")
    ids, lengths = np.array([5, 6, 7]), np.array([2, 1])
    for first, last in ((-1, 2), (2, 2), (0, 5), (4, 4), (3, 1)):
        with pytest.raises(InputError, match="4 layers"):
            network.run_layers(ids, np.zeros(3), lengths, first, last)
    with pytest.raises(ValueError, match="rows must be 32 wide"):
        network.run_layers(np.zeros((3, 16)), np.zeros(3), lengths, 1, 2)
    with pytest.raises(ValueError, match="sum to"):
        network.run_layers(np.zeros((4, 32)), np.zeros(4), lengths, 1, 2)


def test_cascade_of_exits_uses_an_engine_with_early_exit(folders, tmp_path):
    folder, _ = folders("bert", False)
    with commit_folder(tmp_path / "made") as created:
        shutil.copytree(folder, created / "model-0")
        steps = [{"folder": "model-0", "layers": layers, "threshold": 0.9 if layers else 0.0} for layers in (*EXITS, 0)]
        write_json(created / CASCADE, {"version": 1, "steps": steps})
    assert Cascade(tmp_path / "made").engine == "onnx" and Cascade(tmp_path / "made", "auto").engine == "native"
    assert engines_of(tmp_path / "made") == ["onnx", "native", "torch"]  # what `niwaki bench` races
    with pytest.raises(InputError, match="'openvino' does not support"):
        Cascade(tmp_path / "made", "openvino")
    wrong = [{**steps[0], "layers": 2}, steps[2]]
    for exits in (wrong, steps[:2], [steps[2], *steps[:2]]):
        (tmp_path / "made" / "MANIFEST").unlink(missing_ok=True)
        write_json(tmp_path / "made" / CASCADE, {"version": 1, "steps": exits})
        with pytest.raises(InputError, match="create the cascade again"):
            Cascade(tmp_path / "made")


def test_no_inputs_give_no_logits(folders):
    model = Predictor(folders("bert", False)[0], "native")
    found, taken = model.logits_with_exits(model.tokenize([]), never)
    assert found.shape == (0, 2) and taken.shape == (0,)


def test_missing_exit_graph_is_named(folders, tmp_path):
    folder = tiny.deployed(with_exits("bert", False), tmp_path / "model")
    (folder / "exit-1.onnx").unlink()
    model = Predictor(folder, "onnx")
    with pytest.raises(InputError, match=r"exit-1\.onnx"):
        model.logits_with_exits(model.tokenize(TEXTS[:2]), never)


@pytest.mark.parametrize("exits", [[3, 1], [0], [1, 1], "2", [1.5], list(range(1, 17))], ids=str)
def test_invalid_exits_are_rejected(tmp_path, exits):
    folder = tiny.deployed(with_exits("bert", False), tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "niwaki_exits": exits}))
    with pytest.raises(InputError, match="niwaki_exits"):
        Predictor(folder)


def test_exits_beyond_the_last_layer_are_rejected(tmp_path):
    model = with_exits("bert", False)
    folder = tiny.deployed(model, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "niwaki_exits": [2, 4]}))
    write_program(model, folder)  # which is tied to the config
    for engine in ("native", "torch"):
        model = Predictor(folder, engine)
        with pytest.raises(InputError, match="4 layers"):
            model.logits_with_exits(model.tokenize(TEXTS[:2]), never)
