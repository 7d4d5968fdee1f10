"""Puts trained keys and values into the attention of the encoder's layers."""

import torch
from pydantic import Field

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.models import prefix as prefixes
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.parts.mixers.attention import Attention

DEVIATION = 0.02  # of the numbers that training begins with


class Prefix(Edit):
    tokens: int = Field(ge=1, le=1024)  # keys and values in each layer
    takes_positions: bool = False  # texts begin at the position behind the prefix, as in peft
    seed: int = 0

    def for_blueprint(self) -> "Prefix":
        return self.model_copy(update={"seed": 0})

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("prefix_tuning")
        if anatomy.is_seq2seq:
            raise InputError("prefix_tuning: this model generates text, and its decoder reads no prefix; use 'lora'")
        layers = [layer for layer in anatomy.layers if isinstance(layer.mixer, Attention) and not layer.mixer.removed]
        if not layers:
            raise InputError("prefix_tuning: no layer has attention that could read a prefix; use 'adapters'")
        if self.takes_positions:
            self._take_positions(network, anatomy)
        for number, layer in enumerate(layers):
            device = next(layer.module.parameters()).device
            with torch.random.fork_rng(devices=[]), torch.device(device):
                torch.manual_seed(derive(self.seed, f"prefix {number}"))
                new = prefixes.Prefix.drawn(self.tokens, layer.heads * layer.head_size, DEVIATION, self.takes_positions)
            prefixes.put_prefix(layer.module, new)

    def _take_positions(self, network: Network, anatomy: Anatomy) -> None:
        left = anatomy.max_tokens - self.tokens
        if not anatomy.inputs.counts_positions or left < 8:
            raise InputError(
                f"prefix_tuning: a prefix of {self.tokens} cannot take positions of this model; choose fewer tokens, or peft_positions = false"
            )
        network.config.niwaki_max_tokens = min(int(getattr(network.config, "niwaki_max_tokens", None) or left), left)
