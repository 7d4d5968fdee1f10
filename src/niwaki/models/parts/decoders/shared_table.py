"""A decoder that embeds and scores tokens with the table of its encoder, with positions of its own (BART, mBART, Marian)."""

from typing import ClassVar

from torch import Tensor

from niwaki.models.layer import normed
from niwaki.models.parts.decoders._decoder import Decoder
from niwaki.models.parts.inputs.shared_table import embed
from niwaki.models.slicing import cut_linear
from niwaki.models.tables import TiedEmbedding


class SharedTable(Decoder):
    native: ClassVar[str | None] = "shared_table"

    def embed(self, ids: Tensor, first: Tensor | int) -> Tensor:
        return embed(self.network.get_decoder(), ids, first)

    def logits(self, hidden: Tensor) -> Tensor:
        for path in self.norms:
            hidden = normed(hidden, self.network.get_submodule(path))
        return self.network.lm_head(hidden) + self.network.final_logits_bias

    @property
    def norms(self) -> list[str]:
        return [self.paths.final_norm] if self.paths.final_norm else []

    def keep_tokens(self, keep: list[int]) -> None:
        """The table is the input stage's."""
        bias, output = getattr(self.network, "final_logits_bias", None), self.anatomy.head.final
        if bias is not None:
            self.network.final_logits_bias = bias[:, keep].clone()
        if output:
            self.network.set_submodule(output, cut_linear(self.network.get_submodule(output), outputs=keep))

    def keep_layers(self, keep: list[int]) -> None:
        """transformers finds cached keys and values by the number that each layer holds."""
        super().keep_layers(keep)
        for number, layer in enumerate(self.layers):
            for attention in layer:
                attention.part("attention_module").layer_idx = number

    @property
    def constants(self) -> list[object]:
        return [module.scale for module in self.network.modules() if isinstance(module, TiedEmbedding)]
