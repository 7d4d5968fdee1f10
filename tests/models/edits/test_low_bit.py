"""Whole models as digits: saved, loaded and exported they are the same, and take the bits that they claim."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.export import write_graph
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.edits.sparse import Sparse
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.embedding_tables import all_tables
from niwaki.models.forward import run_padded
from niwaki.models.model import Model, load_folder, skeleton_of
from niwaki.models.module_paths import to_dense
from niwaki.models.networks.lstm import Int8Lstm
from niwaki.models.packed.low_bit import LowBit as Store
from niwaki.models.packed.store import StoredLinear, StoredTable

CASES = [
    (family, base) for family in ("bert", "albert", "electra", "averaging", "bilstm", "cnn") for base in (2, 7, 16)
]


def packed(whole: Model, base: int, group: int = 24) -> Model:
    model = whole.clone()
    model.apply_edit(LowBit(base=base, group=group))
    return model


def arguments(model: Model):
    batch = tiny.batch(model, pairs=True)
    return batch.inputs["input_ids"], batch.mask, batch.inputs.get("token_type_ids", torch.zeros_like(batch.mask))


@pytest.mark.parametrize("family, base", CASES)
@torch.no_grad()
def test_a_model_multiplies_by_its_nearest_levels_and_is_loaded_again(family, base, tmp_path):
    whole = tiny.model(family, width=36)
    model = packed(whole, base)
    paths = [*model.anatomy.matrices(), all_tables(model.anatomy)[0]]
    for path in paths:
        module = whole.network.get_submodule(path)
        if hasattr(module, "packed"):
            whole.network.set_submodule(path, module.packed())
        else:
            module.weight.copy_(Store.of(module.weight, base, 24)())
    batch = tiny.batch(model, pairs=True)
    torch.testing.assert_close(tiny.logits(model, batch), tiny.logits(whole, batch))
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert torch.equal(tiny.logits(again, batch), tiny.logits(model, batch))
    assert again.blueprint.edits == model.blueprint.edits == [LowBit(base=base, group=24)]
    shape = skeleton_of(tmp_path)
    for path in paths:
        form = shape.network.get_submodule(path)
        assert isinstance(form, StoredLinear | StoredTable | Int8Lstm)
        assert {name: value.shape for name, value in form.state_dict().items()} == {
            name: value.shape for name, value in model.network.get_submodule(path).state_dict().items()
        }


@pytest.mark.parametrize(
    "family, base",
    [pytest.param(*case, marks=[] if case[1] == 7 or case[0] == "bert" else pytest.mark.slow) for case in CASES],
)
@torch.no_grad()
def test_the_engine_gives_nearly_the_same(family, base, tmp_path):
    model = packed(tiny.model(family, width=36), base)
    model.save(tmp_path)
    write_graph(model, tmp_path)
    ids, mask, types = arguments(model)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    wanted = run_padded(model.anatomy, inputs).numpy()
    found = Onnx(tmp_path, 1).logits({name: tensor.numpy() for name, tensor in inputs.items()})
    assert np.abs(found - wanted).max() < 0.1 * np.abs(wanted).max()


@pytest.mark.parametrize("base, bits", [(2, 1), (3, 1.6), (4, 2), (7, 32 / 11), (16, 4)])
def test_the_file_takes_the_bits_that_are_claimed(base, bits, tmp_path):
    model = tiny.model("bert", width=1100, layers=1, heads=4, ffn=1100)  # rows of whole words
    numbers = sum(
        model.network.get_submodule(path).weight.numel()
        for path in [*model.anatomy.matrices(), all_tables(model.anatomy)[0]]
    )
    small = sum(value.numel() for value in model.network.state_dict().values()) - numbers
    model.apply_edit(LowBit(base=base, group=110))
    model.save(tmp_path)
    size = (tmp_path / "model.safetensors").stat().st_size
    assert size == pytest.approx(numbers * (bits + 16 / 110) / 8 + 4 * small, rel=0.005)


def test_shared_modules_stay_shared():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    model.apply_edit(LowBit(base=4))
    one, other, third = model.anatomy.layers
    assert one.part("ffn_in") is other.part("ffn_in") is not third.part("ffn_in")


def test_the_table_or_the_matrices_may_stay_and_scales_may_be_given():
    model = tiny.model("bert")
    model.apply_edit(LowBit(base=4, table=False))
    assert isinstance(model.anatomy.tokens, torch.nn.Embedding)
    model.apply_edit(LowBit(base=4, matrices=False))
    assert isinstance(model.anatomy.tokens, StoredTable)
    model = tiny.model("bert")
    path = next(model.anatomy.matrices())
    model.apply_edit(LowBit(base=3).with_scales({path: torch.full((32, 1), 0.25)}))
    assert set(model.network.get_submodule(path).store().unique().tolist()) == {-0.25, 0.0, 0.25}
    assert model.blueprint.edits[0]._scales == {}


@pytest.mark.parametrize("before", [Int8(), Sparse(), LowBit(base=16, group=8), LowBit(base=255)])
def test_what_is_packed_already_gets_fewer_levels_and_never_more(before, tmp_path):
    model = tiny.model("bert")
    model.apply_edit(before)
    floats = [to_dense(model.network.get_submodule(path)).weight for path in model.anatomy.matrices()]
    model.apply_edit(LowBit(base=7, group=8))
    stores = [model.network.get_submodule(path).store for path in model.anatomy.matrices()]
    assert all(store.base == 7 for store in stores)
    for store, old in zip(stores, floats, strict=True):
        assert 0 < (store() - old).abs().max() < 0.35
    model.apply_edit(LowBit(base=16))
    assert [model.network.get_submodule(path).store.base for path in model.anatomy.matrices()] == [7] * 18
    model.save(tmp_path)
    batch = tiny.batch(model)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))


def test_a_cut_table_stays_packed_and_an_unknown_base_is_rejected():
    model = packed(tiny.model("bert"), 4)
    model.apply_edit(Vocabulary(keep=40))
    assert isinstance(model.anatomy.tokens, StoredTable) and model.anatomy.tokens.num_embeddings == 40
    with pytest.raises(InputError, match="low_bit: base 6 is not one of"):
        tiny.model("bert").apply_edit(LowBit(base=6))
