"""Modules of T5 as niwaki needs them: feed-forward blocks that can be packed, and a bias that layers with fewer heads can read."""

from typing import Any

from torch import Tensor, nn

from niwaki.models.family import Network


def adapt(network: Network) -> None:
    for side in (network.encoder, network.decoder):
        for block in side.block:
            own = block.layer[-1].DenseReluDense
            block.layer[-1].DenseReluDense = Gated(own) if network.config.is_gated_act else Dense(own)
        for module in side.modules():
            if hasattr(module, "has_relative_attention_bias"):
                module.register_forward_pre_hook(whole_bias, with_kwargs=True)
                module.register_forward_hook(pass_whole_bias)


class Dense(nn.Module):
    """The feed-forward block with its parts under their names. transformers' own asks its last matrix for its weights, which a
    packed one does not have as it wants them."""

    def __init__(self, old: Network) -> None:
        super().__init__()
        self.wi, self.wo, self.dropout, self.act = old.wi, old.wo, old.dropout, old.act

    def forward(self, hidden: Tensor) -> Tensor:
        return self.wo(self.dropout(self.act(self.wi(hidden))))


class Gated(nn.Module):
    """The same of a gated block."""

    def __init__(self, old: Network) -> None:
        super().__init__()
        self.wi_0, self.wi_1, self.wo, self.dropout, self.act = old.wi_0, old.wi_1, old.wo, old.dropout, old.act

    def forward(self, hidden: Tensor) -> Tensor:
        return self.wo(self.dropout(self.act(self.wi_0(hidden)) * self.wi_1(hidden)))


def whole_bias(attention: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """transformers hands the first layer's bias on to all others, which may have other heads left: so it is that of all heads there
    ever were, and each layer picks its own (`edits/heads.py`)."""
    if kwargs.get("position_bias") is None:
        kwargs = {**kwargs, "position_bias": _compute_bias(attention, args[0], kwargs)}
    attention.whole_bias = kwargs["position_bias"]
    return args, kwargs


def _compute_bias(attention: Any, hidden: Tensor, kwargs: dict) -> Tensor:
    if not attention.has_relative_attention_bias:
        return hidden.new_zeros(1, attention.inner_dim // attention.key_value_proj_dim, 1, 1)
    past = kwargs.get("past_key_values")
    before = 0 if past is None else int(past.get_seq_length(attention.layer_idx))
    return attention.compute_bias(
        hidden.shape[1], before + hidden.shape[1], device=hidden.device, past_seen_tokens=before
    )


def pass_whole_bias(attention: nn.Module, args: tuple, output: tuple) -> tuple:
    whole = attention.whole_bias
    del attention.whole_bias  # or it would be copied with the network
    return output[0], whole, *output[2:]
