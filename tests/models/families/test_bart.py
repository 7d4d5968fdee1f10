"""What is BART's own; what it shares with all that write is in `tests/models/test_stock.py`."""

import pytest
import torch

import stock
from niwaki.core.errors import InputError
from niwaki.models.anatomy import anatomy_of
from niwaki.models.skeleton import build


def config(**changes):
    return {**stock.network("bart").config.to_dict(), "architectures": [stock.CLASSES["bart"]], **changes}


def test_positions_begin_behind_two_rows_that_are_none():
    network = build(config())
    table = network.model.encoder.embed_positions
    assert table.num_embeddings == 40 + 2 and anatomy_of(network).max_tokens == 40
    assert torch.equal(table.at(torch.tensor([0, 3])), table.weight[[2, 5]])


def test_one_table_serves_all():
    """A change of it is seen where texts are read, written and scored."""
    network = build(config(scale_embedding=True)).eval()
    anatomy, ids = anatomy_of(network), torch.tensor([[4]])
    with torch.no_grad():
        network.model.shared.weight[4] = 7.0
    assert torch.equal(network.model.encoder.embed_tokens(ids), torch.full((1, 1, 32), 7.0 * 32**0.5))
    assert torch.equal(network.model.decoder.embed_tokens(ids), network.model.encoder.embed_tokens(ids))
    assert anatomy.decoder.logits(torch.ones(1, 32))[0, 4].item() == pytest.approx(7 * 32)


@pytest.mark.parametrize(
    "changes, fault",
    [
        ({"tie_word_embeddings": False}, "whose output has numbers of its own is not supported"),
        ({"normalize_before": True}, "'normalize_before' is True, which no model of these families has"),
        ({"d_model": 30}, "describes no network that can be made"),
        ({"encoder_layers": 10**6}, "'encoder_layers' is 1000000, which no model of these families has"),
        ({"architectures": ["BartForSequenceClassification"]}, "has no head for SequenceClassification"),
    ],
)
def test_unsupported_settings_are_rejected_in_one_line(changes, fault):
    with pytest.raises(InputError, match=fault):
        build(config(**changes))


def test_different_embedding_tables_are_rejected(tmp_path):
    """transformers would load them apart, whatever the config says."""
    from safetensors.torch import load_file, save_file

    from niwaki.models.model import load_folder

    folder = stock.folder("bart", tmp_path)
    state = load_file(folder / "model.safetensors")
    other = torch.randn_like(state["model.shared.weight"])
    save_file(
        {**state, "model.encoder.embed_tokens.weight": other, "lm_head.weight": other.clone()},
        folder / "model.safetensors",
        {"format": "pt"},
    )
    with pytest.raises(InputError, match="tables of their own"):
        load_folder(folder)
