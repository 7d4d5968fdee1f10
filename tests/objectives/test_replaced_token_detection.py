"""Replaced token detection: losses and gradients as transformers' ELECTRA computes them, samples by their definition, AUC by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import nn

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL, forward
from niwaki.models.model import load_folder
from niwaki.objectives._masking import mask_batch
from niwaki.objectives.replaced_token_detection import area_under_curve, sampled

from .predicting import corrupted, generator, prepared

NAME = "replaced_token_detection"


def reference(model, objective):
    """transformers' discriminator and generator with the same weights, and the same tensors for embeddings."""
    from transformers import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining

    networks = []
    for kind, own in ((ElectraForPreTraining, model.network), (ElectraForMaskedLM, objective.helpers)):
        config = ElectraConfig(**{key: value for key, value in own.config.to_dict().items() if key != "model_type"})
        network = kind(config).eval()
        missing, unexpected = network.load_state_dict(own.state_dict(), strict=False)
        assert {name.rpartition(".")[2] for name in missing} <= {"weight"} and not unexpected
        networks.append(network)
    networks[1].electra.embeddings = networks[0].electra.embeddings
    networks[1].generator_lm_head.weight = networks[0].electra.embeddings.word_embeddings.weight
    return networks


def test_losses_and_gradients_equal_transformers():
    model, objective, before, after = corrupted(NAME, "electra", width=48)
    discriminator, small = reference(model, objective)
    assert small.config.hidden_size == 12 and small.config.embedding_size == model.network.config.embedding_size
    noisy, labels = masked_again(objective, before)
    wanted = small(**{**before.inputs, "input_ids": noisy}, labels=labels).loss
    wanted = wanted + 50 * discriminator(**after.inputs, labels=after.notes["replaced"].long()).loss
    wanted.backward()
    loss = objective.loss(forward(model.anatomy, after), after)
    loss.backward()
    torch.testing.assert_close(loss, wanted, atol=1e-5, rtol=1e-6)
    for own, theirs in ((model.network, discriminator), (objective.helpers, small)):
        gradients = dict(theirs.named_parameters())
        for name, value in own.named_parameters():
            torch.testing.assert_close(value.grad, gradients[name].grad, atol=1e-4, rtol=1e-4, msg=name)


def masked_again(objective, before, seed=3):
    """The generator's inputs and labels, from the same draws as those of `batch`."""
    noisy, chosen = mask_batch(before, objective.vocabulary, objective.chosen, generator(seed))
    return noisy, torch.where(chosen, before.inputs["input_ids"], NO_LABEL)


def test_only_masked_tokens_are_replaced_and_equal_samples_count_as_original():
    _, objective, before, after = corrupted(NAME, "electra")
    noisy, labels = masked_again(objective, before)
    ids, filled = before.inputs["input_ids"], after.inputs["input_ids"]
    chosen = labels != NO_LABEL
    assert (noisy[chosen] == objective.vocabulary.mask_id).all()
    assert torch.equal(filled[~chosen], ids[~chosen])
    assert torch.equal(after.notes["replaced"], filled != ids) and after.notes["replaced"].any()


def test_tokens_are_sampled_from_the_softmax():
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0, -30.0])
    draws = sampled(logits.expand(20_000, 5), generator())
    counts = torch.bincount(draws, minlength=5).numpy()
    assert counts[4] == 0
    assert chisquare(counts[:4], 20_000 * torch.softmax(logits[:4].double(), 0).numpy()).pvalue > 1e-3
    assert torch.equal(
        sampled(torch.full((3, 4), -9.0).index_fill(1, torch.tensor([2]), 90.0), generator()), torch.full((3,), 2)
    )


def test_area_under_the_curve_by_hand():
    values, positive = np.array([0.9, 0.4, 0.4, 0.1, 0.5]), np.array([True, True, False, False, False])
    assert area_under_curve(values, positive) == pytest.approx((3 + 1.5) / 6)  # 0.4 is above 0.1, ties with 0.4
    assert area_under_curve(values, np.zeros(5, dtype=bool)) == 0.5


@torch.no_grad()
def test_the_saved_discriminator_loads_here_and_in_transformers(tmp_path):
    from transformers import AutoModel, ElectraForPreTraining

    model, _, before, _ = corrupted(NAME, "electra")
    model.save(tmp_path)
    real = before.mask.bool()
    wanted = forward(model.anatomy, before).logits[..., 0][real]
    stock, report = ElectraForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    torch.testing.assert_close(stock(**before.inputs).logits[real], wanted, atol=1e-5, rtol=0)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, before).logits[..., 0][real], wanted)
    hidden = AutoModel.from_pretrained(tmp_path)(**before.inputs).last_hidden_state
    torch.testing.assert_close(model.network.electra(**before.inputs).last_hidden_state, hidden, atol=1e-5, rtol=0)


def test_initial_weights_follow_from_the_seed():
    (one, first), (two, second), (_, other) = (prepared_with(seed) for seed in (1, 1, 2))
    for a, b in ((one.network, two.network), (first.helpers, second.helpers)):
        assert all(torch.equal(value, b.state_dict()[name]) for name, value in a.state_dict().items())
    name = "generator_predictions.dense.weight"
    assert not torch.equal(first.helpers.state_dict()[name], other.helpers.state_dict()[name])


def prepared_with(seed):
    _, objective = prepared(NAME, "electra", seed=4)
    fresh = tiny.model("electra", layers=2, head="MaskedLM", labels=[], seed=4)
    objective.prepare(fresh, seed)
    return fresh, objective


def test_padding_that_is_not_a_number_changes_no_loss():
    model, objective, _, after = corrupted(NAME, "electra")
    wanted = objective.loss(forward(model.anatomy, after), after)
    changed = after.inputs["input_ids"].masked_fill(~after.mask.bool(), 7)
    other = {**after.inputs, "input_ids": changed}
    found = objective.loss(forward(model.anatomy, replace(after, inputs=other)), after)
    assert torch.equal(found, wanted)


def test_other_families_are_rejected():
    with pytest.raises(InputError, match="needs a network of family 'electra'"):
        prepared(NAME, "bert")


def test_the_generator_has_its_own_layers_and_the_networks_embeddings():
    model, objective = prepared(NAME, "electra")
    own, small = (dict(one.named_parameters()) for one in (model.network, objective.helpers))
    shared = {name for name in small if any(small[name] is value for value in own.values())}
    assert shared == {name for name in small if name.startswith("electra.embeddings.")}
    assert isinstance(objective.helpers, nn.Module)
