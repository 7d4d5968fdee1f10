"""GPT-2 as published: equal to transformers at every length, its tokenizer files, what it cannot do."""

import json
from dataclasses import replace

import pytest
import torch
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import forward
from niwaki.models.joined_matrices import join_matrices
from niwaki.models.model import load_folder
from niwaki.models.skeleton import MASKED_LM, build
from niwaki.objectives._factory import make_objective
from niwaki.tasks._language_model_task import likelihood_of
from niwaki.tasks.language_modeling import LanguageModeling


def published(folder, **more):
    """A checkpoint as transformers saves it, with byte-level BPE in vocab.json and merges.txt."""
    torch.manual_seed(3)
    shape = {"vocab_size": 40, "n_positions": 17, "n_embd": 24, "n_layer": 2, "n_head": 3}
    network = GPT2LMHeadModel(GPT2Config(**shape, bos_token_id=0, eos_token_id=0, **more)).eval()
    network.save_pretrained(folder)
    letters = [*"abcdefghijklmnopqrstuvwxyz", "Ġ", ".", ","]
    tokens = ["<|endoftext|>", *letters, "th", "the", "Ġthe"]
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\nt h\nth e\nĠ the\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer"}))
    return network


def padded(lengths):
    mask = (torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(1, 40, mask.shape, generator=torch.Generator().manual_seed(1))
    return {"input_ids": ids * mask, "attention_mask": mask}


@pytest.mark.parametrize("lengths", [range(1, 18), [1], [17, 17], [5, 1, 16]], ids=str)
def test_logits_and_gradients_equal_transformers_at_every_length(lengths, tmp_path):
    reference, model = published(tmp_path), load_folder(tmp_path, LanguageModeling().head)
    inputs = padded(list(lengths))
    real = inputs["attention_mask"].bool()
    batch = replace(tiny.batch(tiny.model("bert", layers=1)), inputs=inputs, predicted=real)
    found, wanted = forward(model.anatomy, batch).logits, reference(**inputs).logits[real]
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    targets = torch.arange(len(found)) % 40
    for logits in (found, wanted):
        functional.cross_entropy(logits, targets).backward()
    gradients = {name: value.grad for name, value in model.network.named_parameters()}
    for name, value in join_matrices(gradients, model.anatomy.family.layer).items():
        torch.testing.assert_close(value, reference.get_parameter(name).grad, atol=1e-4, rtol=0, msg=name)


def test_published_tokenizer_files_and_scoring_are_read(tmp_path):
    published(tmp_path)
    model = load_folder(tmp_path)
    assert model.tokenizer.tokenize("the the a") == ["the", "Ġthe", "Ġ", "a"]
    assert likelihood_of(tmp_path).scoring == "causal"


def test_a_damaged_vocabulary_is_rejected(tmp_path):
    published(tmp_path)
    (tmp_path / "vocab.json").write_text('{"a": "not a number"}')
    with pytest.raises(InputError, match=r"vocab\.json: must be a table from tokens to their ids"):
        load_folder(tmp_path)
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(InputError, match=r"has no tokenizer\.json"):
        load_folder(tmp_path)


def test_the_classifier_reads_the_last_token():
    model = tiny.model("gpt2")
    batch = tiny.batch(model)
    assert model.anatomy.head.pooling == "last"
    changed = batch.inputs["input_ids"].clone()
    changed[batch.mask == 0] = 7  # behind the texts
    with torch.no_grad():
        before = forward(model.anatomy, batch).logits
        after = forward(model.anatomy, replace(batch, inputs={**batch.inputs, "input_ids": changed})).logits
    assert torch.equal(before, after)


def language_model():
    return tiny.model("gpt2", head=MASKED_LM, labels=[], layers=1)


def test_it_cannot_be_used_in_both_directions():
    for given in ("masked_lm", {"use": "masked_next_token", "deploy": "masked_next"}):
        with pytest.raises(InputError, match="family 'gpt2' are always causal"):
            make_objective(given, LanguageModeling()).prepare(language_model())


def test_masked_next_tokens_are_predicted_from_whole_texts():
    model, objective = language_model(), make_objective({"use": "masked_next_token", "causal": 0.0}, LanguageModeling())
    objective.prepare(model)
    batch = objective.batch(tiny.batch(model), torch.Generator().manual_seed(0))
    whole = forward(model.anatomy, batch).logits
    assert not torch.allclose(whole, forward(model.anatomy, replace(batch, causal=None)).logits)


@pytest.mark.parametrize("key", ["scale_attn_by_inverse_layer_idx", "add_cross_attention"])
def test_unusual_networks_are_rejected(key):
    values = tiny.config("gpt2", 1, 32, 4, 64, [], MASKED_LM)
    with pytest.raises(InputError, match=f"a gpt2 with {key} = True is not supported"):
        build({**values, key: True})
