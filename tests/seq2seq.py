"""Tiny seq2seq models, and two other ways to compute their outputs: token by token, and with torch's own layers."""

from typing import Any

import torch
from torch import Tensor, nn

import tiny
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.models.networks.encoder_decoder import sinusoids
from niwaki.models.skeleton import CONDITIONAL_GENERATION

KINDS = {
    **{family: (family, {}) for family in (*tiny.ENCODING, "vit")},
    "shared": ("bert", {"decoder_shares_embeddings": True, "decoder_vocabulary_size": len(tiny.tokenizer())}),
    "sinusoidal": ("bert", {"decoder_sinusoids": True}),
}
# one stack for the input and the generated text
PREFIXES = {
    f"prefix {family}": (family, {"decoder_layers": 0}) for family in tiny.BERT_LIKE if not tiny.ABOUT[family].relative
}


def seq2seq_model(kind: str = "bert", **more: Any) -> Model:
    family, keys = {**KINDS, **PREFIXES}[kind]
    return tiny.model(family, head=CONDITIONAL_GENERATION, **keys, **more)


@torch.no_grad()
def step_by_step(model: Model, batch: Batch, hypotheses: int = 1) -> Tensor:
    """The logarithms that the lean pass gives when it is led along the truth, (batch, tokens, vocabulary)."""
    anatomy, given = model.anatomy, batch.inputs
    memory = anatomy.decoder.encode(given)
    past = anatomy.decoder.empty_past(len(batch.mask) * hypotheses, memory[0][0])
    found = []
    for place in range(given["decoder_input_ids"].shape[1]):
        last = given["decoder_input_ids"][:, place : place + 1].repeat(1, hypotheses)
        scores, past = anatomy.decoder.decode_step(last, torch.tensor(place), batch.mask, memory, past)
        assert torch.equal(scores, scores[:, :1].expand_as(scores))
        found.append(scores[:, 0])
    return torch.stack(found, dim=1)


def torch_layer(own: Any, other: Any) -> nn.Module:
    """The same numbers in torch's own decoder layer."""
    layer = nn.TransformerDecoderLayer(32, own.heads, other.ffn_size, 0.0, "gelu", batch_first=True).eval()
    for theirs, ours in ((layer.self_attn, own), (layer.multihead_attn, other)):
        three = [ours.part(part) for part in ("query", "key", "value")]
        theirs.in_proj_weight.copy_(torch.cat([one.weight for one in three]))
        theirs.in_proj_bias.copy_(torch.cat([one.bias for one in three]))
        theirs.out_proj.load_state_dict(ours.part("out").state_dict())
    layer.linear1.load_state_dict(other.part("ffn_in").state_dict())
    layer.linear2.load_state_dict(other.part("ffn_out").state_dict())
    norms = (own.part("attention_norm"), other.part("attention_norm"), other.part("ffn_norm"))
    for number, norm in enumerate(norms, 1):
        layer.get_submodule(f"norm{number}").load_state_dict(norm.state_dict())
        layer.get_submodule(f"norm{number}").eps = norm.eps
    return layer


@torch.no_grad()
def by_torch(model: Model, batch: Batch, decoder_layers: Any = None) -> Tensor:
    """Logits of the decoder as torch's own layers make it."""
    decoder, ids = model.network.decoder, batch.inputs["decoder_input_ids"]
    others = {name: value for name, value in batch.inputs.items() if name != "decoder_input_ids"}
    memory = model.network.encoder(**others).last_hidden_state
    places = torch.arange(ids.shape[1])
    start = decoder.tokens(ids)
    start = start * 32**0.5 + sinusoids(places, 32) if decoder.positions is None else start + decoder.positions(places)
    hidden, later = decoder.norm(start), nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
    for own, other in decoder_layers or model.anatomy.decoder.layers:
        hidden = torch_layer(own, other)(hidden, memory, tgt_mask=later, memory_key_padding_mask=batch.mask == 0)
    return hidden @ decoder.tokens.weight.T
