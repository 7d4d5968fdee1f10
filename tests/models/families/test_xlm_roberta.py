"""XLM-RoBERTa: RoBERTa's network under names of its own, with every head, from transformers and back."""

import pytest
import torch
import transformers

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.skeleton import MASKED_LM

AUTO = {
    "SequenceClassification": ("AutoModelForSequenceClassification", tiny.LABELS),
    "TokenClassification": ("AutoModelForTokenClassification", tiny.LABELS),
    "QuestionAnswering": ("AutoModelForQuestionAnswering", tiny.LABELS),
    MASKED_LM: ("AutoModelForMaskedLM", []),
}


@pytest.mark.parametrize("family", tiny.ALIKE)
@pytest.mark.parametrize("head", AUTO)
@torch.no_grad()
def test_logits_equal_transformers_after_saving(family, head, tmp_path):
    auto, labels = AUTO[head]
    more = {"niwaki_answer": {"kind": "likelihood"}} if head == MASKED_LM else {}
    model = tiny.model(family, head=head, labels=labels, **more)
    batch = tiny.batch(model, pairs=head == "SequenceClassification")
    model.save(tmp_path)
    stock = getattr(transformers, auto).from_pretrained(tmp_path).eval()
    assert stock.config.model_type.replace("-", "_") == family
    found, wanted = forward(load_folder(tmp_path).anatomy, batch).logits, stock(**batch.inputs)
    wanted = wanted.logits if "logits" in wanted else torch.stack([wanted.start_logits, wanted.end_logits], dim=-1)
    torch.testing.assert_close(tiny.real(found, batch), tiny.real(wanted, batch), atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", tiny.ALIKE)
def test_a_bare_encoder_as_published_gets_a_head(family, tmp_path):
    """The folder names the family with a hyphen, as transformers does."""
    network = tiny.model(family).network
    encoder = network.get_submodule("roberta")
    encoder.save_pretrained(tmp_path)
    tiny.tokenizer(pad_is_one=True).save_pretrained(tmp_path)
    model = load_folder(tmp_path, Head(["a", "b", "c"]))
    assert model.network.config.num_labels == 3
    assert torch.equal(model.anatomy.tokens.weight, encoder.embeddings.word_embeddings.weight)


@pytest.mark.parametrize("family", tiny.ALIKE)
@torch.no_grad()
def test_cut_and_packed_models_load_to_equal_logits(family, tmp_path):
    model = tiny.model(family)
    model.apply_edit(Heads(keep=[[0, 3], [1], [2]]))
    model.apply_edit(Int8())
    batch = tiny.batch(model)
    wanted = forward(model.anatomy, batch).logits
    model.save(tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, wanted)


def test_an_unknown_family_is_rejected_with_the_known_ones(tmp_path):
    tiny.model("xlm_roberta").save(tmp_path)
    config = (tmp_path / "config.json").read_text()
    assert '"xlm-roberta"' in config
    (tmp_path / "config.json").write_text(config.replace('"xlm-roberta"', '"xlm-robertal"'))
    with pytest.raises(InputError, match=r"'xlm-robertal' is not supported.*xlm_roberta"):
        load_folder(tmp_path)
