"""Saved folders in plain transformers: it loads a network without edits, and rejects an edited one with a hint."""

import json

import pytest
import torch
import transformers
from safetensors import safe_open

import tiny
from niwaki.models.config_rules import HINT
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.model import load_folder

EDITS = {
    "heads": lambda anatomy: Heads(keep=[[0, 2]] * len(anatomy.layers)),
    "ffn": lambda anatomy: Ffn(keep=[[0, 5, 9]] + [block.ffn_size for block in anatomy.blocks[1:]]),
    "int8": lambda anatomy: Int8(),
    "4 bits": lambda anatomy: LowBit(base=16, group=16),
    "shared": lambda anatomy: Share(of=[0] * len(anatomy.layers)),
}
CLASSES = {
    "SequenceClassification": transformers.AutoModelForSequenceClassification,
    "TokenClassification": transformers.AutoModelForTokenClassification,
    "QuestionAnswering": transformers.AutoModelForQuestionAnswering,
}


def edited(family: str, edit: str):
    model = tiny.model(family)
    if edit in ("ffn", "shared") and len(model.anatomy.layers) == 1:
        pytest.skip("the config of a family with one shared layer can describe the result")
    model.apply_edit(EDITS[edit](model.anatomy))
    return model


@pytest.mark.parametrize("head", CLASSES)
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_transformers_loads_a_network_without_edits(family, head, tmp_path):
    model = tiny.model(family, head=head)
    model.save(tmp_path)
    network, found = CLASSES[head].from_pretrained(tmp_path, output_loading_info=True)
    assert not found["missing_keys"] and not found["unexpected_keys"] and not found["mismatched_keys"]
    batch = tiny.batch(model)
    alone = {name: value[:1, : int(batch.mask[0].sum())] for name, value in batch.inputs.items()}
    with torch.no_grad():
        outputs, expected = network.eval()(**alone), model.network(**alone)
    for key in expected:
        torch.testing.assert_close(outputs[key], expected[key], rtol=1e-5, atol=1e-5)


def test_transformers_loads_a_student_with_fewer_layers(tmp_path):
    model = tiny.model()
    model.apply_edit(Layers(keep=[0, 2]))
    model.save(tmp_path)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path)
    assert network.config.architectures == ["BertForSequenceClassification"]
    batch = tiny.batch(model)
    torch.testing.assert_close(network.eval()(**batch.inputs).logits, tiny.logits(model, batch), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_transformers_rejects_an_edited_network_with_a_hint(family, edit, tmp_path):
    model = edited(family, edit)
    model.save(tmp_path)
    for kind in (transformers.AutoModelForSequenceClassification, transformers.AutoModel):
        with pytest.raises(ValueError, match=r"compressed by niwaki; load it with niwaki.load\(folder\)"):
            kind.from_pretrained(tmp_path)
    with safe_open(tmp_path / "model.safetensors", "pt") as weights:
        assert weights.metadata() == {"format": "niwaki"}  # transformers 4 rejects it


def test_an_edited_folder_keeps_config_and_tokenizer_readable(tmp_path):
    model = edited("bert", "int8")
    model.save(tmp_path)
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    assert config.architectures == ["NiwakiForSequenceClassification"] and config.model_type == "bert"
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer("good film")["input_ids"] == model.tokenizer("good film")["input_ids"]


def test_niwaki_loads_an_edited_folder_and_saves_the_same_files_again(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    model = edited("bert", "int8")
    model.save(first)
    again = load_folder(first)
    assert again.network.config.architectures == ["BertForSequenceClassification"]
    assert not hasattr(again.network.config, "transformers_weights")
    again.save(second)
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {
        path.name: path.read_bytes() for path in second.iterdir()
    }
    assert json.loads((second / "config.json").read_text())["transformers_weights"] == HINT


def test_tokenizer_settings_name_a_known_class_and_the_length_of_the_model(tmp_path):
    model = tiny.model(niwaki_max_tokens=20)
    model.save(tmp_path)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert settings["tokenizer_class"] == "PreTrainedTokenizerFast" and settings["model_max_length"] == 20
