"""Patches of an image as tokens (ViT, Dosovitskiy et al. 2021): a matrix on the pixels of each patch, special tokens in front, and positions."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from niwaki.core.errors import InputError
from niwaki.data.pixels import PIXELS
from niwaki.models.parts.inputs._inputs import Inputs
from niwaki.models.value_rules import sides


class Pixels(Inputs):
    """Every image has the same size, so none is padded."""

    no_native = "the engine reads token ids, not pixels"
    has_vocabulary = False
    projects_tables = False
    token_table = ""
    prompt_tokens = 0

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        return self.modules[0](inputs[PIXELS])

    def mask(self, inputs: Mapping[str, Tensor]) -> Tensor:
        pixels = inputs[PIXELS]
        return torch.ones(pixels.shape[0], self.max_tokens, dtype=torch.long, device=pixels.device)

    def example(self, rows: int, tokens: int) -> dict[str, Tensor]:
        config = self.network.config
        return {PIXELS: torch.zeros(rows, config.num_channels, *sides(config.image_size))}

    @property
    def tokens(self) -> nn.Module:
        raise InputError(
            f"a model of family '{self.network.config.model_type}' reads images, which have no vocabulary; leave out what needs one"
        )

    @property
    def projection(self) -> str:
        return f"{self.family.body}.{self.paths.projection}"

    @property
    def modules(self) -> list[nn.Module]:
        return [self.network.get_submodule(f"{self.family.body}.embeddings")]

    @property
    def max_tokens(self) -> int:
        """Special tokens and patches."""
        positions = self.network.get_submodule(self.small_tables[-1])
        return int(getattr(positions, "num_embeddings"))  # noqa: B009 - typed loosely
