"""Merged folders: numbers of the trunk, heads that stay apart, measured cost, and what cannot be merged."""

import pytest
import torch

import niwaki
import tiny
from engines.kinds import ROWS, model_of, saved
from niwaki.core.errors import InputError, UsageError
from niwaki.core.head_folder import head_names
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.int8 import Int8
from niwaki.models.merging import ties
from niwaki.models.model import load_folder
from niwaki.run.merging import trunk_of


def tuned(kind: str, home, seed: int, **more):
    """A model of a kind whose trunk was moved a little from that of seed 5."""
    model, start = model_of(kind, seed=seed, **more), model_of("label")
    if kind == "label":  # in the order that tasks have
        model.network.config.id2label = dict(enumerate(sorted(model.labels)))
    noise = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        state = model.network.state_dict()
        for name, value in trunk_of(start).items():
            moved = value + 0.05 * torch.randn(value.shape, generator=noise) if value.is_floating_point() else value
            state[name].copy_(moved)
    return saved(model, home)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("merging")
    base = saved(model_of("label"), home / "base")
    return (
        home,
        base,
        tuned("label", home / "one", 6),
        tuned("label", home / "two", 7),
        tuned("labels", home / "topics", 8),
    )


def test_models_with_the_same_labels_become_one(folders, tmp_path):
    _, _, one, two, _ = folders
    niwaki.merge([one, two], tmp_path / "out", weights=[1, 3])
    states = [load_folder(folder).network.state_dict() for folder in (one, two, tmp_path / "out")]
    for name, value in states[2].items():
        if value.is_floating_point():
            torch.testing.assert_close(value, 0.25 * states[0][name] + 0.75 * states[1][name])
    assert head_names(tmp_path / "out") == []
    found = {engine: Predictor(tmp_path / "out", engine).values(ROWS) for engine in ("torch", "onnx", "native")}
    assert found["torch"] == found["onnx"] == found["native"]


def test_heads_for_other_tasks_stay_apart_on_the_merged_trunk(folders, tmp_path):
    _, base, one, _, topics = folders
    result = niwaki.merge([one, topics], tmp_path / "out", how="ties", base=base, density=0.4)
    assert result["models"]["one"]["folder"] == str(tmp_path / "out") and head_names(tmp_path / "out") == ["topics"]
    trunk = trunk_of(load_folder(tmp_path / "out"))
    expected = ties(
        *([trunk_of(load_folder(base))]), [trunk_of(load_folder(home)) for home in (one, topics)], [1.0, 1.0], 0.4
    )
    assert trunk.keys() == expected.keys()
    for name, value in trunk.items():
        torch.testing.assert_close(value, expected[name])
    head = load_folder(tmp_path / "out" / "heads" / "topics").network
    assert torch.equal(head.classifier.weight, load_folder(topics).network.classifier.weight)
    assert niwaki.load_heads(tmp_path / "out").predict(ROWS[:1])[0].heads.keys() == {"main", "topics"}


def test_a_model_merged_with_itself_stays_as_it_is(folders, tmp_path):
    _, base, one, _, _ = folders
    niwaki.merge([one], tmp_path / "out", how="arithmetic", base=base, weights=[1.0])
    for name, value in load_folder(tmp_path / "out").network.state_dict().items():
        torch.testing.assert_close(value, load_folder(one).network.state_dict()[name])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "ties"}, "ties needs the model that all were tuned from"),
        ({"base": "base"}, "average needs no --base"),
        ({"weights": [1.0]}, "1 weights for 2 models"),
        ({"weights": [-1.0, 2.0]}, "0 or more"),
        ({"how": "ties", "base": "base", "density": 0.0}, "density must be above 0"),
        ({"data": ["a", "b", "c"]}, "3 data for 2 models"),
    ],
)
def test_faulty_requests_are_rejected(folders, tmp_path, options, message):
    home, _, one, two, _ = folders
    options = {**options, **({"base": home / "base"} if "base" in options else {})}
    with pytest.raises(UsageError, match=message):
        niwaki.merge([one, two], tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_models_of_other_shapes_and_packed_ones_are_rejected(folders, tmp_path):
    _, _, one, two, _ = folders
    wide = tiny.model("bert", layers=2, ffn=128, labels=["no", "maybe", "yes"])
    with pytest.raises(InputError, match="has another shape than in"):
        niwaki.merge([one, saved(wide, tmp_path / "wide")], tmp_path / "out")
    packed = model_of("label")
    packed.apply_edit(Int8())
    with pytest.raises(InputError, match=r"has another shape|is compressed"):
        niwaki.merge([one, saved(packed, tmp_path / "packed")], tmp_path / "out")
    with pytest.raises(InputError, match="exists already"):
        niwaki.merge([one, two], tmp_path / "wide")
    with pytest.raises(UsageError, match="at least two"):
        niwaki.merge([one], tmp_path / "out")
