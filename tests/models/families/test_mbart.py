"""What is mBART's own; what it shares with all that write is in `tests/models/test_stock.py`."""

import json

import pytest
import torch
import transformers

import spm
import stock
from niwaki.models.anatomy import anatomy_of
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.model import Model, load_folder


def test_both_sides_end_in_a_norm_that_is_cut_with_the_hidden_states(tmp_path):
    model = load_folder(stock.folder("mbart", tmp_path))
    assert anatomy_of(model.network).decoder.norms == ["model.decoder.layer_norm"]
    with torch.no_grad():
        model.network.model.decoder.layer_norm.weight.zero_()
        model.network.model.decoder.layer_norm.bias.zero_()
    logits = model.anatomy.decoder.logits(torch.randn(1, 32))
    torch.testing.assert_close(logits, model.network.final_logits_bias)
    Model(model.network, None).apply_edit(HiddenSize(keep=8))
    assert model.network.model.encoder.layer_norm.weight.shape == (8,)
    assert model.network.model.decoder.layer_norm.weight.shape == (8,)


@pytest.mark.parametrize("language", ["en_XX", "ro_RO"])
def test_texts_end_with_the_language_that_the_settings_name(language, tmp_path):
    """A folder as published: one SentencePiece model, no tokenizer.json."""
    folder = stock.folder("mbart", tmp_path, vocab_size=100)
    (folder / "tokenizer.json").unlink()
    (folder / "sentencepiece.bpe.model").write_bytes(spm.model())
    settings = {"tokenizer_class": "MBartTokenizer", "src_lang": language, "tgt_lang": "fr_XX"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    found = load_folder(folder).tokenizer
    ids = found("the film was good").input_ids
    assert found.convert_ids_to_tokens(ids[-2:]) == ["</s>", language]
    places = {text: place for place, (text, _, _) in enumerate([*spm.SPECIAL, *spm.UNIGRAM_TOKENS])}
    assert ids[:-2] == [places[token] + 1 for token in ("▁the", "▁film", "▁was", "▁good")]  # behind <pad>
    first_language = transformers.models.mbart.tokenization_mbart.FAIRSEQ_LANGUAGE_CODES[0]
    assert found.convert_tokens_to_ids(first_language) == len(places) + 1
