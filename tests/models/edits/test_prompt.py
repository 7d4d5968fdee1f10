"""Prompts: vectors in front of the texts, compared with transformers' own pass on the longer sequences."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.prompt import Prompt
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder
from niwaki.models.prompt import with_prompt
from niwaki.models.record import HIDDEN, SCORES
from niwaki.models.skeleton import CONDITIONAL_GENERATION

TAGS = ["O", "B", "I"]


def with_vectors(family="bert", tokens=4, **more):
    model = tiny.model(family, **more)
    width = model.anatomy.tokens.embedding_dim
    vectors = torch.randn(tokens, width, generator=torch.Generator().manual_seed(3)) * 0.3
    model.apply_edit(Prompt(tokens=tokens).with_vectors(vectors))
    return model


@pytest.mark.parametrize("family", tiny.FAMILIES)
@torch.no_grad()
def test_it_equals_transformers_on_sequences_with_these_tokens(family, tmp_path):
    model = with_vectors(family)
    batch = tiny.batch(model)
    found = forward(model.anatomy, batch).logits
    model.network.config.pad_token_id = tiny.model(family).network.config.pad_token_id
    whole = with_prompt(model.anatomy, batch.inputs)
    assert whole["input_ids"].shape[1] == batch.mask.shape[1] + 4
    torch.testing.assert_close(model.network(**whole).logits, found, atol=1e-5, rtol=0)
    torch.testing.assert_close(run_padded(model.anatomy, batch.inputs), found, atol=1e-5, rtol=0)
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert torch.equal(forward(again.anatomy, batch).logits, found)
    assert (
        again.network.config.niwaki_max_tokens == again.anatomy.max_tokens == tiny.model(family).anatomy.max_tokens - 4
    )


@pytest.mark.parametrize("head", ["TokenClassification", "QuestionAnswering"])
@torch.no_grad()
def test_heads_for_tokens_and_recorded_activations_do_not_see_it(head):
    model = with_vectors(head=head, labels=TAGS if head == "TokenClassification" else ["start", "end"])
    batch = tiny.batch(model)
    outputs = forward(model.anatomy, batch, frozenset({HIDDEN, SCORES, "keys"}))
    tokens = batch.mask.shape[1]
    assert outputs.logits.shape[:2] == batch.mask.shape
    assert all(one.shape[:2] == batch.mask.shape for one in (*outputs.hidden, *outputs.keys))
    assert all(one.shape[-2:] == (tokens, tokens) for one in outputs.scores)
    own = model.network(**with_prompt(model.anatomy, batch.inputs))
    logits = own.logits if head == "TokenClassification" else torch.stack([own.start_logits, own.end_logits], dim=-1)
    torch.testing.assert_close(tiny.real(outputs.logits, batch), tiny.real(logits[:, 4:], batch), atol=1e-5, rtol=0)


def test_the_longest_text_still_has_positions():
    model = with_vectors(tokens=7)
    count = model.anatomy.max_tokens
    ids = torch.full((1, count), 9)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    assert run_padded(model.anatomy, inputs).isfinite().all()


def test_tables_can_still_be_cut_and_packed(tmp_path):
    model = with_vectors()
    model.apply_edit(Vocabulary(keep=list(range(60))))
    model.apply_edit(HiddenSize(keep=list(range(2, 30))))
    model.apply_edit(Int8())
    assert model.anatomy.tokens.num_embeddings == 60 and model.anatomy.tokens.delta.vectors.shape == (4, 28)
    model.tokenizer = tiny.tokenizer()
    model.save(tmp_path)
    ids = torch.tensor([[2, 8, 3]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
    again = load_folder(tmp_path)
    assert torch.equal(run_padded(again.anatomy, inputs), run_padded(model.anatomy, inputs))


@pytest.mark.parametrize(
    "model, tokens, message",
    [
        (lambda: tiny.model("bert"), 60, "60 vectors leave 6 of 66 positions"),
        (lambda: with_vectors(), 4, "has a prompt already"),
        (lambda: tiny.model("bert", head=CONDITIONAL_GENERATION), 4, "generates or fills in text"),
        (lambda: tiny.model("bert", head="MaskedLM"), 4, "generates or fills in text"),
        (lambda: tiny.model("averaging"), 4, "no attention layers"),
    ],
)
def test_models_that_do_not_fit_are_rejected(model, tokens, message):
    with pytest.raises(InputError, match=message):
        model().apply_edit(Prompt(tokens=tokens))
