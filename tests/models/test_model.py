"""Models from folders that are damaged, hostile or not models: one line that names the thing, the rule and the fix."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import read_json, write_json
from niwaki.models import sources
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.forward import forward, run_padded
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.skeleton import HEADS


@pytest.fixture
def folder(bert_folder, tmp_path):
    """A copy to damage."""
    return shutil.copytree(bert_folder, tmp_path / "model")


@pytest.fixture
def edited(tmp_path):
    """A model with a blueprint, to damage."""
    model = tiny.model("bert")
    model.apply_edit(Heads(keep=[[0, 2], [1], [3]]))
    (tmp_path / "edited").mkdir()
    model.save(tmp_path / "edited")
    return tmp_path / "edited"


def rejected(folder, *words, head=None):
    with pytest.raises(InputError) as caught:
        load_folder(folder, head)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 600
    for word in words:
        assert word in text, text


def change(path, **values):
    write_json(path, {**read_json(path), **values})


def test_a_sound_folder_loads(folder, edited):
    assert load_folder(folder).labels == tiny.LABELS
    assert load_folder(edited).labels == tiny.LABELS


def test_not_a_folder(tmp_path):
    rejected(tmp_path / "nothing", "nothing: is not a folder")
    (tmp_path / "file").write_text("x")
    rejected(tmp_path / "file", "is not a folder")


def test_a_folder_that_is_not_a_model(tmp_path):
    rejected(tmp_path, "is not a model, it has no config.json")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_truncated_weights(folder, edited, share):
    for path in (folder, edited):
        whole = (path / "model.safetensors").read_bytes()
        (path / "model.safetensors").write_bytes(whole[: int(len(whole) * share)])
        rejected(path, "model.safetensors", "damaged")


def test_no_tokenizer(folder):
    (folder / "tokenizer.json").unlink()
    rejected(folder, "has no tokenizer.json")


def test_a_damaged_tokenizer(folder):
    (folder / "tokenizer.json").write_text('{"model": ')
    rejected(folder, "tokenizer.json: cannot be read")


def test_a_pickle_is_rejected_with_the_command_that_converts_it(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    rejected(folder, "pytorch_model.bin", "is a pickle", "convert it once", "niwaki.convert_pickle --i-trust")


def test_a_pickle_next_to_safetensors_is_never_read(folder):
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    load_folder(folder)


def test_no_weights_at_all(folder):
    (folder / "model.safetensors").unlink()
    rejected(folder, "has no model.safetensors")


@pytest.mark.parametrize(
    "values, words",
    [
        ({"auto_map": {"AutoModel": "evil.Model"}}, ["'auto_map' asks for code"]),
        ({"quantization_config": {"quant_method": "gptq"}}, ["'quantization_config'"]),
        ({"model_type": "gpt9"}, ["model_type 'gpt9' is not supported; there is: albert, averaging, bart"]),
        ({"model_type": ["bert"]}, ["is not supported"]),
        ({"model_type": None}, ["is not supported"]),
        ({"hidden_size": 33}, ["config"]),
        ({"hidden_size": 64}, ["of another shape"]),
        ({"hidden_size": "wide"}, ["config"]),
        ({"hidden_size": 10**12}, ["'hidden_size' is 1000000000000, which no model of these families has"]),
        ({"hidden_size": 100_000}, ["more than model.safetensors holds"]),
        ({"num_hidden_layers": 10**9}, ["'num_hidden_layers' is 1000000000, which no model"]),
        ({"num_attention_heads": 0}, ["config"]),
        ({"num_hidden_layers": 5}, ["encoder.layer.3.", "is missing"]),
        ({"vocab_size": 7}, ["of another shape"]),
    ],
)
@pytest.mark.parametrize(
    "head", [None, Head(["a", "b", "c"]), Head(["a"], "TokenClassification")], ids=["own", "new", "tags"]
)
def test_a_config_that_names_code_or_does_not_fit_is_rejected(folder, values, words, head):
    change(folder / "config.json", **values)
    rejected(folder, *words, head=head)


def test_another_head_is_rejected_unless_a_new_one_is_requested(folder):
    change(folder / "config.json", architectures=["BertForNextSentencePrediction"])
    rejected(folder, "fine-tune it first")
    assert load_folder(folder, Head(["a", "b"])).labels == ["a", "b"]


def test_weights_in_several_files_are_rejected_with_the_way_to_join_them(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    (folder / "model.safetensors.index.json").write_text("{}")
    rejected(folder, "save_pretrained")


@pytest.mark.parametrize("text", ["[]", "3", "null", "{", "", '{"model_type": "bert"}', "[" * 50_000])
def test_a_config_that_is_no_config(folder, text):
    (folder / "config.json").write_text(text)
    rejected(folder, "config")


def test_a_hole_in_the_weights_is_never_filled_with_random_numbers(folder, edited):
    for path in (folder, edited):
        state = load_file(path / "model.safetensors")
        state.pop("bert.encoder.layer.1.output.dense.weight")
        save_file(state, path / "model.safetensors", metadata={"format": "pt"})
        rejected(path, "bert.encoder.layer.1.output.dense.weight", "missing", head=Head(tiny.LABELS))


def test_a_missing_head_is_created_only_on_request(folder):
    state = {name: value for name, value in load_file(folder / "model.safetensors").items() if "classifier" not in name}
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    rejected(folder, "classifier", "missing")
    assert load_folder(folder, Head(["a", "b", "c"])).labels == ["a", "b", "c"]


@pytest.mark.parametrize(
    "values, words",
    [
        ({"edits": [{"edit": "melt"}]}, ["blueprint edit 'melt' is not known; there is: blocks, decoder"]),
        ({"edits": [{"edit": "heads", "keep": [1, 1, 9]}]}, ["heads of layer 2", "below 4"]),
        ({"edits": [{"edit": "heads", "keep": [1, 1]}]}, ["2 layers are named and the model has 3"]),
        ({"edits": [{"edit": "heads", "keep": [10**14, 1, 1]}]}, ["heads of layer 0"]),
        ({"edits": [{"edit": "heads", "keep": [10**400, 1, 1]}]}, ["heads of layer 0"]),
        ({"edits": [{"edit": "heads", "kepp": [1]}]}, ["edits.0.kepp: unknown key, did you mean 'keep'?"]),
        ({"edits": [{"edit": "heads", "keep": "all"}]}, ["edits.0.keep"]),
        ({"edits": [{"edit": "../../heads"}]}, ["is not known"]),
        ({"edits": [{"edit": "os"}]}, ["is not known"]),
        ({"edits": ["heads"]}, ["edits.0: must be a table"]),
        ({"edits": {}}, ["must hold"]),
        ({"edits": [{"edit": "int8"}] * 201}, ["more than 200 edits"]),
        ({"edits": [{"edit": "int8"}]}, ["model.safetensors: tensor"]),
        ({"version": 2}, ["version '2' is not known"]),
        ({"base": []}, ["must hold"]),
        ({"base": {}}, ["model_type None"]),
        ({"base": {"model_type": "bert", "auto_map": {"x": "y"}}}, ["auto_map"]),
        (
            {
                "base": {
                    "model_type": "bert",
                    "architectures": ["BertForSequenceClassification"],
                    "hidden_size": 9_000_000,
                    "num_attention_heads": 1,
                }
            },
            [""],
        ),
    ],
)
def test_a_blueprint_that_is_wrong(edited, values, words):
    change(edited / "blueprint.json", **values)
    with pytest.raises(InputError) as caught:
        load_folder(edited)
    for word in words:
        assert word in str(caught.value)
    assert all("\n" not in fault and len(fault) < 300 for fault in caught.value.faults)


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


def test_an_edited_model_with_its_labels_in_another_order_is_rejected(edited):
    have = load_folder(edited).labels
    rejected(edited, "labels in another order", head=Head(have[::-1]))


def test_an_edited_model_takes_new_names_but_not_more_labels(edited):
    assert load_folder(edited, Head(["no", "yes"])).labels == ["no", "yes"]
    rejected(edited, "2 labels", "the task has 3", head=Head(["a", "b", "c"]))


def test_config_keys_other_than_the_shape_survive(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Heads(keep=[1, 2, 3]))
    model.apply_edit(Vocabulary(keep=[5, *range(5), *range(6, 70)]))
    model.network.config.niwaki_max_tokens = 17
    model.save(tmp_path)
    again = load_folder(tmp_path).network.config
    assert (again.pad_token_id, again.niwaki_max_tokens, again.vocab_size) == (1, 17, 70)


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
def test_a_bare_encoder_takes_any_head_and_keeps_every_weight(bare, architecture, tmp_path):
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


def test_a_bare_encoder_has_no_head_unless_one_is_named(bare):
    folder, whole = bare
    model = load_folder(folder)
    assert (model.labels, model.anatomy.head.label(), model.blueprint.edits) == ([], "none", [])
    assert not {name for name in model.network.state_dict() if not name.startswith(whole.anatomy.family.body)}


@pytest.mark.parametrize("edits", [[], [Heads(keep=[1, 2, 3]), Ffn(keep=[8, 9, 10])]], ids=["stock", "edited"])
@pytest.mark.parametrize("architecture", HEADS)
def test_labels_and_how_logits_are_read_survive(bert_folder, tmp_path, architecture, edits):
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


def test_an_edited_model_keeps_the_head_it_has(edited):
    rejected(
        edited,
        "keeps its head",
        "for SequenceClassification, not TokenClassification",
        head=Head(tiny.LABELS, "TokenClassification"),
    )
    rejected(edited, "keeps its head", "not QuestionAnswering", head=Head(["start", "end"], "QuestionAnswering"))
    taken = load_folder(edited, Head(["no", "yes"], answer={"kind": "label"}, problem="single_label_classification"))
    assert taken.labels == ["no", "yes"] and taken.network.config.niwaki_answer == {"kind": "label"}


def test_a_stock_model_changes_its_head_for_one_of_another_kind(bert_folder):
    model = load_folder(bert_folder, Head(["O", "B", "I"], "TokenClassification"))
    assert (model.anatomy.head.architecture, model.labels, model.anatomy.per_token) == (
        "TokenClassification",
        ["O", "B", "I"],
        True,
    )


def test_saving_again_gives_the_same_bytes_and_names_no_folder(folder, edited, tmp_path):
    for number, path in enumerate((folder, edited)):
        (tmp_path / str(number)).mkdir()
        model = load_folder(path)
        if number == 0:
            model.apply_edit(Heads(keep=[1, 1, 1]))
        model.save(tmp_path / str(number))
        for name in [path.name for path in edited.iterdir()]:
            again = (tmp_path / str(number) / name).read_bytes()
            assert str(tmp_path).encode() not in again
            assert number == 0 or name == "tokenizer_config.json" or again == (edited / name).read_bytes(), name


def test_parameters_counts_what_is_stored(folder):
    model = load_folder(folder)
    assert model.parameters() == sum(value.numel() for value in load_file(folder / "model.safetensors").values())


def test_a_clone_is_independent():
    model = tiny.model("bert")
    other = model.clone()
    other.apply_edit(Heads(keep=[1, 1, 1]))
    with torch.no_grad():
        other.network.classifier.bias += 1
    assert model.anatomy.layers[0].heads == 4 and model.blueprint.edits == []
    assert not torch.equal(model.network.classifier.bias, other.network.classifier.bias)


def test_sources(folder, monkeypatch):
    assert sources.locate(str(folder)) == folder
    for name in ("no-such", "./no/such", "/no/such", "a/b/c"):
        with pytest.raises(InputError, match="is neither an embedded model"):
            sources.locate(name)
    with pytest.raises(InputError, match=r"could not be fetched.*give a folder instead"):
        sources.locate("nobody/nothing")


def test_the_embedded_model_is_checked_and_found():
    folder = sources.locate("minilm")
    assert json.loads((folder / "config.json").read_text())["num_hidden_layers"] == 6


@torch.no_grad()
def test_the_embedded_model_loads_with_a_new_head_and_runs_lean():
    torch.manual_seed(0)
    model = sources.load("minilm", Head(["negative", "positive"]))
    assert (model.labels, len(model.anatomy.layers), model.anatomy.hidden_size) == (["negative", "positive"], 6, 384)
    inputs = model.tokenizer(["a film to see twice", "no"], padding=True, return_tensors="pt")
    found = run_padded(model.anatomy, inputs)
    torch.testing.assert_close(found, model.network(**inputs).logits, atol=1e-4, rtol=0)


def test_half_precision_weights_become_float32(folder):
    whole = load_folder(folder)
    state = {name: value.half() for name, value in load_file(folder / "model.safetensors").items()}
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    model = load_folder(folder)
    assert {value.dtype for value in model.network.state_dict().values()} == {torch.float32}
    torch.testing.assert_close(
        tiny.logits(model, tiny.batch(model)), tiny.logits(whole, tiny.batch(whole)), atol=0.02, rtol=0
    )


def test_a_loaded_model_does_not_hang_on_its_file(folder, edited):
    for path in (folder, edited):
        model = load_folder(path)
        before = tiny.logits(model, tiny.batch(model))
        weights = path / "model.safetensors"
        weights.write_bytes(b"\xff" * weights.stat().st_size)  # the same file, overwritten in its place
        assert torch.equal(tiny.logits(model, tiny.batch(model)), before)


def test_a_model_may_be_saved_over_its_own_folder(folder, edited):
    for path in (folder, edited):
        model = load_folder(path)
        before = tiny.logits(model, tiny.batch(model))
        model.save(path)
        assert torch.equal(tiny.logits(load_folder(path), tiny.batch(model)), before)


def test_numbers_of_a_head_that_was_trained_elsewhere_are_what_it_says(tmp_path):
    """A stock one has no units in its config. A head that has to be made up has no numbers to keep."""
    model = tiny.model(labels=["value"])
    model.save(tmp_path)
    batch, decoder_layers = tiny.batch(model), {"kind": "number", "mean": 500.0, "scale": 20.0}
    again = load_folder(tmp_path, Head(["value"], answer=decoder_layers))
    torch.testing.assert_close(500 + 20 * tiny.logits(again, batch), tiny.logits(model, batch), rtol=0, atol=1e-3)
    tiny.model(labels=["a", "b", "c"]).save(tmp_path)
    assert load_folder(tmp_path, Head(["value"], answer=decoder_layers)).network.classifier.bias.abs().max() < 1


@pytest.mark.parametrize("edited", [False, True])
def test_numbers_in_other_units_stay_the_same_numbers(tmp_path, edited):
    """A model that was trained on other rows keeps what it has learnt, whatever mean and scale the new rows have."""
    model = tiny.model(
        labels=["value"], niwaki_answer={"kind": "number", "mean": 10.0, "scale": 2.0}, problem_type="regression"
    )
    if edited:
        model.apply_edit(Ffn(keep=[8, 8, 8]))
    model.save(tmp_path)
    same, new = ({"kind": "number", "mean": mean, "scale": scale} for mean, scale in ((10.0, 2.0), (4.0, 5.0)))
    before, trunk_tensors, other = (
        tiny.logits(one, tiny.batch(one))
        for one in (
            model,
            *(load_folder(tmp_path, Head(["value"], answer=answer, problem="regression")) for answer in (same, new)),
        )
    )
    assert torch.equal(before, trunk_tensors)
    torch.testing.assert_close(5.0 * other + 4.0, 2.0 * before + 10.0)
