"""Networks that predict tokens: logits and losses equal transformers', in both directions, at chosen places alone."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.forward import NO_LABEL, forward, run_padded
from niwaki.models.model import load_folder
from niwaki.models.skeleton import MASKED_LM

CAUSAL = [name for name in tiny.FAMILIES if tiny.ABOUT[name].head.vocabulary.may_be_causal]


def language_model(family, **more):
    return tiny.model(family, head=MASKED_LM, labels=[], **more)


def targets(batch, share=0.3, seed=1):
    """Ids at some of the real places, NO_LABEL elsewhere."""
    chosen = torch.rand(batch.mask.shape, generator=torch.Generator().manual_seed(seed)) < share
    return torch.where(chosen & batch.mask.bool(), batch.inputs["input_ids"], NO_LABEL)


def without_dropout(network):
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return network.train()


@pytest.mark.parametrize("family", tiny.FAMILIES)
@torch.no_grad()
def test_logits_of_every_family_equal_transformers(family):
    model = language_model(family)
    batch = tiny.batch(model, pairs=True)
    wanted = model.network(**batch.inputs).logits
    real = batch.mask.bool()
    assert wanted.shape[-1] == len(model.tokenizer)
    torch.testing.assert_close(forward(model.anatomy, batch).logits[real], wanted[real], atol=1e-5, rtol=0)
    torch.testing.assert_close(run_padded(model.anatomy, batch.inputs)[real], wanted[real], atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_loss_and_gradients_at_chosen_places_equal_transformers(family):
    model = language_model(family)
    without_dropout(model.network)
    batch = tiny.batch(model, pairs=True)
    batch = replace(batch, targets=targets(batch))
    chosen = batch.targets != NO_LABEL
    wanted = functional.cross_entropy(model.network(**batch.inputs).logits[chosen], batch.targets[chosen])
    wanted.backward()
    gradients = {name: value.grad.clone() for name, value in model.network.named_parameters() if value.grad is not None}
    model.network.zero_grad()
    logits = forward(model.anatomy, replace(batch, predicted=chosen)).logits
    assert logits.shape == (int(chosen.sum()), len(model.tokenizer))
    loss = functional.cross_entropy(logits, batch.targets[chosen])
    loss.backward()
    torch.testing.assert_close(loss, wanted, atol=1e-5, rtol=0)
    for name, value in model.network.named_parameters():
        if name in gradients:
            torch.testing.assert_close(value.grad, gradients[name], atol=1e-4, rtol=0, msg=name)


@pytest.mark.parametrize("family", CAUSAL)
@torch.no_grad()
def test_causal_loss_equals_transformers(family):
    """transformers has a class of its own for the direction, with the same tensors, and shifts the labels itself."""
    import transformers

    model = language_model(family, is_decoder=True)
    assert model.anatomy.is_causal
    reference = transformers.AutoModelForCausalLM.from_config(model.network.config, attn_implementation="eager").eval()
    reference.load_state_dict(
        model.network.state_dict(), strict=False
    )  # the table and the bias have further names there
    batch = tiny.batch(model)
    ids, real = batch.inputs["input_ids"], batch.mask.bool()
    wanted = reference(**batch.inputs, labels=torch.where(real, ids, NO_LABEL))
    followed = real.clone()
    followed[:, :-1] &= real[:, 1:]
    followed[:, -1] = False
    logits = forward(model.anatomy, replace(batch, predicted=followed)).logits
    torch.testing.assert_close(logits, wanted.logits[followed], atol=1e-5, rtol=0)
    loss = functional.cross_entropy(logits, ids.roll(-1, 1)[followed])
    torch.testing.assert_close(loss, wanted.loss, atol=1e-5, rtol=0)
    torch.testing.assert_close(run_padded(model.anatomy, batch.inputs)[real], wanted.logits[real], atol=1e-5, rtol=0)


@torch.no_grad()
def test_a_batch_may_state_the_direction_itself():
    model, causal = language_model("bert"), language_model("bert", is_decoder=True)
    batch = tiny.batch(model)
    forwards = forward(model.anatomy, replace(batch, causal=True)).logits
    assert torch.equal(forwards, forward(causal.anatomy, batch).logits)
    assert not torch.allclose(forwards, forward(model.anatomy, batch).logits)


@pytest.mark.parametrize("lengths", [[7, 7, 7], [1, 2, 30, 3, 29, 30, 1], [5, 60, 1, 17, 40]], ids=str)
@torch.no_grad()
def test_later_tokens_change_no_earlier_logits(lengths):
    model = language_model("bert", is_decoder=True)
    longest = max(lengths)
    mask = (torch.arange(longest)[None] < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(5, len(model.tokenizer), mask.shape, generator=torch.Generator().manual_seed(0))
    batch = tiny.batch(model)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    before = forward(model.anatomy, replace(batch, inputs=inputs)).logits
    place = min(lengths) // 2
    changed = ids.clone()
    changed[:, place + 1 :] = 5
    after = forward(model.anatomy, replace(batch, inputs={**inputs, "input_ids": changed})).logits
    torch.testing.assert_close(after[:, : place + 1], before[:, : place + 1], atol=1e-6, rtol=0)


@pytest.mark.parametrize("causal", [False, True])
@torch.no_grad()
def test_padding_that_is_not_a_number_changes_nothing(causal):
    """Of a table whose row for padding is NaN, no number may reach a logit."""
    model = language_model("bert", tie_word_embeddings=False)
    batch = replace(tiny.batch(model), causal=causal)
    real = batch.mask.bool()
    assert not real.all()
    wanted = forward(model.anatomy, replace(batch, predicted=real)).logits
    model.network.bert.embeddings.word_embeddings.weight.data[model.tokenizer.pad_token_id] = float("nan")
    assert torch.equal(forward(model.anatomy, replace(batch, predicted=real)).logits, wanted)


@torch.no_grad()
def test_choosing_padding_is_an_error():
    model = language_model("bert")
    batch = tiny.batch(model)
    with pytest.raises((IndexError, RuntimeError)):
        forward(model.anatomy, replace(batch, predicted=torch.ones_like(batch.mask).bool()))


@pytest.mark.parametrize("family", tiny.FAMILIES)
@torch.no_grad()
def test_saved_model_loads_to_equal_logits_here_and_in_transformers(family, tmp_path):
    import transformers

    model = language_model(family, niwaki_answer={"kind": "likelihood"})
    model.save(tmp_path)
    batch = tiny.batch(model)
    wanted = forward(model.anatomy, batch).logits
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, wanted)
    stock = getattr(transformers, tiny.ABOUT[family].head.vocabulary.auto_class).from_pretrained(tmp_path)
    real = batch.mask.bool()
    torch.testing.assert_close(stock(**batch.inputs).logits[real], wanted[real], atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", tiny.SHARING)
@torch.no_grad()
def test_an_int8_language_model_packs_its_table_once_and_loads_to_equal_logits(family, tmp_path):
    model = language_model(family, niwaki_answer={"kind": "likelihood"})
    batch = tiny.batch(model)
    wanted = forward(model.anatomy, batch).logits
    model.apply_edit(Int8())
    found = forward(model.anatomy, batch).logits
    assert torch.nn.functional.cosine_similarity(found.flatten(), wanted.flatten(), dim=0) > 0.99
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert torch.equal(forward(again.anatomy, batch).logits, found)
    assert again.anatomy.head.final == ""


@pytest.mark.parametrize("family", tiny.SIZED)
@torch.no_grad()
def test_the_head_is_cut_with_the_hidden_states(family, tmp_path):
    """All dimensions in another order leave the logits as they are; with half of them, the model saves and loads."""
    model = language_model(family)
    batch, size = tiny.batch(model), model.anatomy.hidden_size
    wanted = forward(model.anatomy, batch).logits
    model.apply_edit(HiddenSize(keep=[*range(1, size), 0]))
    torch.testing.assert_close(forward(model.anatomy, batch).logits, wanted, atol=1e-5, rtol=0)
    model.apply_edit(HiddenSize(keep=size // 2))
    found = forward(model.anatomy, batch).logits
    assert found.shape == wanted.shape and model.anatomy.hidden_size == size // 2
    model.save(tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, found)


def test_edits_that_would_not_cut_the_head_are_rejected():
    with pytest.raises(InputError, match="cannot cut a language model"):
        language_model("bert").apply_edit(Vocabulary(keep=50))
    with pytest.raises(InputError, match="cannot cut a language model"):
        tiny.model("electra", head="PreTraining", labels=[]).apply_edit(HiddenSize(keep=16))


def test_a_family_without_such_a_head_is_rejected():
    with pytest.raises(InputError, match="family 'cnn' has no head for MaskedLM"):
        tiny.model("cnn", head=MASKED_LM, labels=[])
