"""What is T5's own; what it shares with all that write is in `tests/models/test_stock.py`."""

import json

import pytest
import torch
import transformers

import stock
from niwaki.core.errors import InputError
from niwaki.models.anatomy import anatomy_of
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.model import Model, load_folder
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.position_bias import position_bias
from niwaki.models.skeleton import build


def config(**changes):
    return {**stock.network("t5").config.to_dict(), "architectures": [stock.CLASSES["t5"]], **changes}


@pytest.fixture
def network():
    torch.manual_seed(0)
    return build(config()).eval()


@torch.no_grad()
def test_distances_are_looked_up_as_transformers_does(network):
    """Both sides: of what is read in both directions, of what is written only back."""
    anatomy = anatomy_of(network)
    own = network.encoder.block[0].layer[0].SelfAttention
    assert torch.equal(position_bias(anatomy, torch.zeros(1, 30, 32)), own.compute_bias(30, 30))
    own = network.decoder.block[0].layer[0].SelfAttention
    wanted = own.compute_bias(30, 30)
    for place in (0, 5, 29):
        found = anatomy.decoder.position_bias(torch.tensor([place]), place + 1)
        assert torch.equal(found[0, :, 0], wanted[0, :, place, : place + 1])


def test_the_bias_outlives_the_layer_it_lay_in(network):
    model = Model(network, None)
    table = network.encoder.block[0].layer[0].SelfAttention.relative_attention_bias
    model.apply_edit(Layers(keep=[1]))
    assert network.encoder.block[0].layer[0].SelfAttention.relative_attention_bias is table
    assert not model.blueprint.edits  # a stock T5 of one layer has it there


@pytest.mark.parametrize("stated", [{"tie_word_embeddings": False}, {"scale_decoder_outputs": False}, {}])
def test_an_output_of_its_own_is_found_whatever_the_config_says(stated, tmp_path):
    """transformers 4 states it by `tie_word_embeddings`, 5 by `scale_decoder_outputs`, and transformers reads both as the scale of the logits."""
    folder = stock.folder("flan_t5", tmp_path / "published")
    values = json.loads((folder / "config.json").read_text())
    del values["tie_word_embeddings"]
    (folder / "config.json").write_text(json.dumps({**values, **stated}))
    model = load_folder(folder)
    assert "lm_head.weight" in model.tensors() and model.config()["tie_word_embeddings"] is False
    assert model.config()["scale_decoder_outputs"] == (not stated)
    (saved := tmp_path / "saved").mkdir()
    model.save(saved)
    given = {"input_ids": torch.tensor([[3, 4, 1]]), "decoder_input_ids": torch.tensor([[0, 5]])}
    for other in (transformers.T5ForConditionalGeneration.from_pretrained(saved), load_folder(saved).network):
        torch.testing.assert_close(other.eval()(**given).logits, model.network(**given).logits, atol=1e-6, rtol=0)


def test_an_output_that_is_the_table_stays_one_though_the_config_unties_it(tmp_path):
    """As small models that were trained from scratch are saved."""
    folder = stock.folder("t5", tmp_path)
    values = json.loads((folder / "config.json").read_text())
    del values["scale_decoder_outputs"]
    (folder / "config.json").write_text(json.dumps({**values, "tie_word_embeddings": False}))
    model = load_folder(folder)
    assert "lm_head.weight" not in model.tensors() and not model.anatomy.head.final
    assert model.anatomy.decoder.constants[-1] == 1.0  # its logits are not scaled then


def test_an_output_matrix_is_packed_with_the_table(tmp_path):
    model = load_folder(stock.folder("flan_t5", tmp_path))
    model.apply_edit(Int8())
    assert isinstance(model.network.lm_head, Int8Linear)
    assert model.anatomy.head.final == "lm_head"


def test_bytes_are_read_as_transformers_does(tmp_path):
    """ByT5: a folder without any file of a vocabulary."""
    own = transformers.ByT5Tokenizer()
    folder = stock.folder("flan_t5", tmp_path, vocab_size=384)
    (folder / "tokenizer.json").unlink()
    own.save_pretrained(folder)
    assert not (folder / "tokenizer.json").exists()
    found = load_folder(folder).tokenizer
    for text in ("naïve café", "", "東京 \n\t", "</s> x"):
        assert found(text).input_ids == own(text).input_ids


def test_a_narrower_one_is_not_stock(network):
    """Its scores are multiplied by the root of the width it had, which the config of a stock one does not tell."""
    model = Model(network, None)
    model.apply_edit(HiddenSize(keep=16))
    assert model.blueprint.edits and network.model_dim == 32 and network.config.d_model == 16


@pytest.mark.parametrize(
    "changes, fault",
    [
        ({"feed_forward_proj": "gated"}, "'feed_forward_proj' is 'gated'"),
        ({"feed_forward_proj": "gated-gelu-relu"}, "'feed_forward_proj' is 'gated-gelu-relu'"),
        ({"scale_decoder_outputs": 1}, "'scale_decoder_outputs' is 1"),
        ({"d_kv": 0}, "'d_kv' is 0"),
    ],
)
def test_unsupported_settings_are_rejected_in_one_line(changes, fault):
    with pytest.raises(InputError, match=fault):
        build(config(**changes))
