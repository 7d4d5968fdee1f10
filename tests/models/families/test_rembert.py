"""RemBERT as published: a SentencePiece tokenizer, input and output embeddings of different sizes."""

import json

import torch
from transformers import RemBertConfig, RemBertForMaskedLM

import spm
import tiny
from niwaki.methods.adapt.from_scratch import FromScratch
from niwaki.models.forward import forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.skeleton import MASKED_LM

TINY = {"output_embedding_size": 44}
SPECIAL = [("<pad>", 0.0, spm.CONTROL), ("[PAD]", 0.0, spm.CONTROL), ("<unk>", 0.0, spm.UNKNOWN)]
SPECIAL += [(name, 0.0, spm.CONTROL) for name in ("[CLS]", "[SEP]", "[MASK]")]


def test_a_published_checkpoint_gives_the_logits_of_transformers(tmp_path):
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    tokens = len(SPECIAL) + len(spm.UNIGRAM_TOKENS)
    config = RemBertConfig(vocab_size=tokens, input_embedding_size=20, output_embedding_size=44, **sizes)
    reference = RemBertForMaskedLM(config).eval()
    reference.save_pretrained(tmp_path)
    (tmp_path / "sentencepiece.model").write_bytes(spm.model(special=SPECIAL))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "RemBertTokenizer"}))
    model = load_folder(tmp_path, Head([], MASKED_LM, {"kind": "likelihood"}))
    assert model.tokenizer.convert_ids_to_tokens(model.tokenizer("the film", "was").input_ids) == [
        *("[CLS]", "▁the", "▁film", "[SEP]", "▁was", "[SEP]")
    ]
    given = model.tokenizer(["the film was good", "film"], return_tensors="pt", padding=True)
    mask = given["attention_mask"]
    batch = tiny.Batch(dict(given), mask, torch.arange(2))
    found, wanted = forward(model.anatomy, batch).logits, reference(**given).logits
    torch.testing.assert_close(tiny.real(found, batch), tiny.real(wanted, batch), atol=1e-5, rtol=0)


def test_a_new_network_gets_input_embeddings_of_the_stated_size():
    shape = FromScratch(family="rembert", layers=1, hidden_size=24, heads=4, ffn_size=32, embedding_size=12)
    network = shape.dry_prepare(tiny.model("bert", layers=1)).network
    assert network.config.input_embedding_size == 12
    assert network.rembert.encoder.embedding_hidden_mapping_in.weight.shape == (24, 12)
