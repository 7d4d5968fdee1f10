"""One encoder for all heads: the same bits as each head alone, one encoder call for each text, weights in memory once."""

import numpy as np
import pytest
import torch

from engines.kinds import INPUTS, ROWS, model_of, saved
from engines.trunks import DELTAS, PLAIN, folder_with_heads
from niwaki.core.errors import InputError
from niwaki.engines.encoder_cache import EncoderCache
from niwaki.engines.heads import Heads
from niwaki.engines.predictor import Predictor
from niwaki.run.add_head import add_head
from selection import rest_slow

FAMILIES = ("albert", "deberta_v2", "mpnet", "roberta")
KIND_OF = {name: kind for kind, name in PLAIN.items()} | dict.fromkeys([*DELTAS, "main"], "label")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A trunk with heads of all kinds, and one of each delta."""
    return folder_with_heads(tmp_path_factory.mktemp("heads"), deltas=tuple(DELTAS))


@pytest.fixture(scope="module")
def together(folder) -> Heads:
    """All heads, which compute every text anew."""
    return Heads(folder, ["main", *PLAIN.values(), *DELTAS], cache=EncoderCache(memory_bytes=0))


def alone(folder, name: str, inputs) -> list[np.ndarray]:
    """The logits of each input, computed alone in the torch engine."""
    one = Predictor(folder / "heads" / name if name != "main" else folder, "torch")
    return [one.logits(one.tokenize([given])) for given in inputs]


@pytest.mark.parametrize("name", [*PLAIN.values(), *DELTAS, "main"])
def test_every_head_has_the_bits_that_its_text_has_alone(folder, together, name):
    ours, inputs = together.heads[name], INPUTS[KIND_OF[name]]
    expected = alone(folder, name, inputs)
    assert np.array_equal(ours.logits(ours.tokenize(inputs)), np.concatenate(expected))
    assert len({one.tobytes() for one in expected}) > 3  # the texts differ in their logits


@pytest.mark.parametrize("family", rest_slow(FAMILIES, ["mpnet"]))
def test_other_families_do_too(tmp_path, family):
    folder = folder_with_heads(tmp_path, family, plain={"number": "score", "tags": "ner"})
    heads = Heads(folder)
    for name, one in heads.heads.items():
        inputs = INPUTS[KIND_OF[name]][:8]
        found = one.logits(one.tokenize(inputs))
        assert np.array_equal(found, np.concatenate(alone(folder, name, inputs)))


def test_heads_without_a_delta_share_one_encoder_call(folder):
    heads = Heads(folder, ["main", "topics"])
    heads.predict(ROWS)
    assert heads.trunk.encoder_calls == len(set(ROWS)) == len(ROWS)
    heads.predict(ROWS + ROWS)
    assert heads.trunk.encoder_calls == len(ROWS)


def test_repeated_texts_are_computed_once(folder):
    heads = Heads(folder, ["main", "topics"], threads=4)
    heads.predict([ROWS[0]] * 100)
    assert heads.trunk.encoder_calls == 1


def test_each_delta_encodes_for_itself(folder):
    heads = Heads(folder, ["main", "topics", "lora", "bitfit"])
    heads.predict(ROWS[:5])
    assert heads.trunk.encoder_calls == 3 * 5


def test_without_memory_every_head_encodes(folder):
    heads = Heads(folder, ["main", "topics"], cache=EncoderCache(memory_bytes=0))
    heads.predict(ROWS[:5])
    assert heads.trunk.encoder_calls == 2 * 5


def test_a_folder_of_encoder_outputs_serves_another_process_and_no_other_trunk(folder, tmp_path):
    first = Heads(folder, ["main", "topics"], cache=EncoderCache(folder=tmp_path / "cache"))
    expected = first.predict(ROWS)
    later = Heads(folder, ["main", "topics"], cache=EncoderCache(folder=tmp_path / "cache"))
    assert [one.record() for one in later.predict(ROWS)] == [one.record() for one in expected]
    assert later.trunk.encoder_calls == 0
    other = saved(model_of("label", seed=9), tmp_path / "other")
    stranger = Heads(other, ["main"], cache=EncoderCache(folder=tmp_path / "cache"))
    stranger.predict(ROWS)
    assert stranger.trunk.encoder_calls == len(ROWS)


def test_weights_of_the_trunk_are_in_memory_once(folder):
    heads = Heads(folder, ["main", *PLAIN.values(), *DELTAS])
    places = {}
    for name, (_, anatomy) in heads.trunk.members.items():
        places[name] = {value.data_ptr() for value in anatomy.network.state_dict().values() if value.numel() > 500}
    assert all(places[name] & places["main"] for name in places)
    own = [value for _, anatomy in heads.trunk.members.values() for value in anatomy.network.state_dict().values()]
    together = sum({value.data_ptr(): value.numel() for value in own}.values())
    alone = sum(value.numel() for value in heads.trunk.members["main"][1].network.state_dict().values())
    assert together < 1.5 * alone


def test_heads_that_read_alike_share_a_tokenizer(folder):
    heads = Heads(folder, ["main", "lora", "ner", "topics"]).heads
    assert heads["main"].encoder is heads["lora"].encoder
    assert len({id(one.encoder) for one in heads.values()}) == 3  # a label, labels, tags


def test_a_mixed_batch_has_the_bits_of_each_text_alone(folder):
    names = [*DELTAS, "main", "topics"] * 3
    texts = (ROWS * 2)[: len(names)]
    heads = Heads(folder, ["main", *PLAIN.values(), *DELTAS], threads=4)
    found = heads.predict_mixed(texts, names)
    for text, name, answer in zip(texts, names, found, strict=True):
        one = Predictor(folder / "heads" / name if name != "main" else folder, "torch")
        assert answer.record() == one.predict([text])[0].record()
    again = heads.predict_mixed(texts[::-1], names[::-1])
    assert [one.record() for one in again] == [one.record() for one in found[::-1]]


def test_pooling_heads_and_pair_heads_share_the_weights(tmp_path):
    from calibrated import CONTEXT
    from niwaki.methods.adapt.freeze import Freeze
    from niwaki.methods.adapt.pooled_head import PooledHead
    from niwaki.methods.adapt.weighted_layers import WeightedLayers
    from niwaki.models.model import load_folder

    folder = saved(model_of("label"), tmp_path / "trunk")
    for name, method in {"pooled": PooledHead(), "weighted": WeightedLayers()}.items():
        model = method.prepare(Freeze(layers=2).prepare(load_folder(folder), CONTEXT), CONTEXT)
        torch.manual_seed(1)
        for path in ("head.linear",):
            model.network.get_submodule(path).weight.data.normal_()
        add_head(folder, saved(method.finish(model) if hasattr(method, "finish") else model, tmp_path / name), name)
    heads = Heads(folder, ["main", "pooled", "weighted"])
    for name in ("pooled", "weighted"):
        one = heads.heads[name]
        assert np.array_equal(one.logits(one.tokenize(ROWS)), np.concatenate(alone(folder, name, ROWS)))
    assert heads.trunk.encoder_calls == len(ROWS)


def test_networks_without_layers_answer_too(tmp_path):
    folder = saved(model_of("label", "averaging"), tmp_path / "trunk")
    one = Heads(folder, ["main"]).heads["main"]
    assert np.array_equal(one.logits(one.tokenize(ROWS)), np.concatenate(alone(folder, "main", ROWS)))


def test_models_that_generate_text_are_rejected(tmp_path):
    folder = saved(model_of("text"), tmp_path / "text")
    with pytest.raises(InputError, match="generates text"):
        Heads(folder, ["main"])
