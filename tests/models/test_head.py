"""Heads: labels, their order, new heads on existing encoders, units of numbers."""

import pytest
import torch
from safetensors.torch import load_file, save_file

import tiny
from models.loading import change, rejected
from niwaki.core.files import read_json, write_json
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.forward import forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.skeleton import HEADS


def test_another_head_is_rejected_unless_a_new_one_is_requested(folder):
    change(folder / "config.json", architectures=["BertForNextSentencePrediction"])
    rejected(folder, "fine-tune it first")
    assert load_folder(folder, Head(["a", "b"])).labels == ["a", "b"]


def test_a_missing_head_is_created_only_on_request(folder):
    state = {name: value for name, value in load_file(folder / "model.safetensors").items() if "classifier" not in name}
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    rejected(folder, "classifier", "missing")
    assert load_folder(folder, Head(["a", "b", "c"])).labels == ["a", "b", "c"]


def test_more_than_ten_labels_keep_their_order(tmp_path):
    names = [f"label {number}" for number in range(12)]
    for number, edit in enumerate((None, Heads(keep=[1, 2, 3]))):
        model = tiny.model("bert", labels=names)
        if edit:
            model.apply_edit(edit)
        (tmp_path / str(number)).mkdir()
        model.save(tmp_path / str(number))
        again = load_folder(tmp_path / str(number))
        assert again.labels == names
        assert again.network.config.label2id["label 10"] == 10


@pytest.mark.parametrize("family", [*tiny.FAMILIES, *tiny.READERS])
def test_labels_in_another_order_are_predicted_in_that_order(family, tmp_path):
    """A classifier that was trained elsewhere: the score of a label is not given to another."""
    names = ["bad", "fair", "good"]
    model = tiny.model(family, labels=names)
    model.save(tmp_path)
    batch = tiny.batch(model)
    again = load_folder(tmp_path, Head(["good", "bad", "fair"]))
    assert again.labels == ["good", "bad", "fair"]
    assert torch.equal(tiny.logits(again, batch), tiny.logits(model, batch)[:, [2, 0, 1]])
    others = load_folder(tmp_path, Head(["x", "y", "z"]))
    assert torch.equal(tiny.logits(others, batch), tiny.logits(model, batch))


def test_other_label_order_is_rejected_for_an_edited_model(edited):
    have = load_folder(edited).labels
    rejected(edited, "labels in another order", head=Head(have[::-1]))


def test_edited_model_accepts_new_label_names(edited):
    assert load_folder(edited, Head(["no", "yes"])).labels == ["no", "yes"]


@pytest.fixture(scope="module", params=tiny.FAMILIES)
def bare(request, tmp_path_factory):
    """An encoder as it is published: no head, the names of its tensors without the family's."""
    folder = tmp_path_factory.mktemp("bare")
    model = tiny.model(request.param)
    model.save(folder)
    body = f"{model.anatomy.family.body}."
    state = load_file(folder / "model.safetensors")
    trunk_tensors = {name.removeprefix(body): value for name, value in state.items() if name.startswith(body)}
    save_file(trunk_tensors, folder / "model.safetensors", metadata={"format": "pt"})
    name = type(model.anatomy.trunk).__name__
    write_json(folder / "config.json", {**read_json(folder / "config.json"), "architectures": [name]})
    return folder, model


@pytest.mark.parametrize("architecture", HEADS)
@torch.no_grad()
def test_new_head_on_a_bare_encoder_keeps_every_weight(bare, architecture, tmp_path):
    folder, whole = bare
    names = ["O", "B", "I"] if architecture != "QuestionAnswering" else ["start", "end"]
    torch.manual_seed(0)
    model = load_folder(folder, Head(names, architecture, {"kind": "tags"}, "single_label_classification"))
    assert (model.anatomy.head.architecture, model.labels) == (architecture, names)
    batch = tiny.batch(model, pairs=True)
    logits = forward(model.anatomy, batch).logits
    assert logits.shape == ((6, *batch.mask.shape[1:], len(names)) if model.anatomy.per_token else (6, len(names)))
    arguments = {**batch.inputs, "output_hidden_states": True}
    last, wanted = (of.network(**arguments).hidden_states[-1] for of in (model, whole))
    torch.testing.assert_close(last, wanted, atol=1e-6, rtol=0)
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert torch.equal(forward(again.anatomy, batch).logits, logits)


def test_bare_encoder_has_no_head_unless_one_is_requested(bare):
    folder, whole = bare
    model = load_folder(folder)
    assert (model.labels, model.anatomy.head.label(), model.blueprint.edits) == ([], "none", [])
    assert not {name for name in model.network.state_dict() if not name.startswith(whole.anatomy.family.body)}


@pytest.mark.parametrize("edits", [[], [Heads(keep=[1, 2, 3]), Ffn(keep=[8, 9, 10])]], ids=["stock", "edited"])
@pytest.mark.parametrize("architecture", HEADS)
def test_labels_and_answer_type_survive_saving(bert_folder, tmp_path, architecture, edits):
    names = ["start", "end"] if architecture == "QuestionAnswering" else [f"label {number}" for number in range(11)]
    model = load_folder(bert_folder, Head(names, architecture, {"kind": "number"}, "regression"))
    for edit in edits:
        model.apply_edit(edit)
    answer = {"kind": "number", "mean": -2.5, "scale": 1e-3}  # settled after the edits, as a threshold is
    model.network.config.niwaki_answer = answer
    for name in ("one", "two"):  # saved, loaded, and so once more
        (tmp_path / name).mkdir()
        model.save(tmp_path / name)
        model = load_folder(tmp_path / name)
        assert (model.labels, model.anatomy.head.architecture) == (names, architecture)
        config = read_json(tmp_path / name / "config.json")
        for found in (config["niwaki_answer"], model.network.config.niwaki_answer):
            assert found == answer
        assert config["problem_type"] == model.network.config.problem_type == "regression"


def test_head_of_an_edited_model_stays_for_a_task_that_it_fits(edited):
    taken = load_folder(edited, Head(["no", "yes"], answer={"kind": "label"}, problem="single_label_classification"))
    assert taken.labels == ["no", "yes"] and taken.network.config.niwaki_answer == {"kind": "label"}


def test_head_of_an_unedited_model_can_be_replaced(bert_folder):
    model = load_folder(bert_folder, Head(["O", "B", "I"], "TokenClassification"))
    assert (model.anatomy.head.architecture, model.labels, model.anatomy.per_token) == (
        "TokenClassification",
        ["O", "B", "I"],
        True,
    )


def test_outputs_of_a_foreign_regression_head_are_rescaled(tmp_path):
    """A stock one has no units in its config. A head that has to be made up has no numbers to keep."""
    model = tiny.model(labels=["value"])
    model.save(tmp_path)
    batch, units = tiny.batch(model), {"kind": "number", "mean": 500.0, "scale": 20.0}
    again = load_folder(tmp_path, Head(["value"], answer=units))
    torch.testing.assert_close(500 + 20 * tiny.logits(again, batch), tiny.logits(model, batch), rtol=0, atol=1e-3)
    tiny.model(labels=["a", "b", "c"]).save(tmp_path)
    assert load_folder(tmp_path, Head(["value"], answer=units)).network.classifier.bias.abs().max() < 1


@pytest.mark.parametrize("edited", [False, True])
def test_predicted_numbers_do_not_depend_on_the_units_of_new_rows(tmp_path, edited):
    """A model that was trained on other rows keeps what it has learnt, whatever mean and scale the new rows have."""
    model = tiny.model(
        labels=["value"], niwaki_answer={"kind": "number", "mean": 10.0, "scale": 2.0}, problem_type="regression"
    )
    if edited:
        model.apply_edit(Ffn(keep=[8, 8, 8]))
    model.save(tmp_path)
    same, new = ({"kind": "number", "mean": mean, "scale": scale} for mean, scale in ((10.0, 2.0), (4.0, 5.0)))
    before, unchanged, other = (
        tiny.logits(one, tiny.batch(one))
        for one in (
            model,
            *(load_folder(tmp_path, Head(["value"], answer=answer, problem="regression")) for answer in (same, new)),
        )
    )
    assert torch.equal(before, unchanged)
    torch.testing.assert_close(5.0 * other + 4.0, 2.0 * before + 10.0)
