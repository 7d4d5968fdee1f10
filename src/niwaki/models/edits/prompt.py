"""Puts trained vectors in front of all texts."""

import torch
from pydantic import Field, PrivateAttr
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.edit import Edit
from niwaki.models.module_paths import replace_modules
from niwaki.models.prompt import Prompt as Vectors
from niwaki.models.prompt import PromptedTable


class Prompt(Edit):
    """Uses the vectors given by `with_vectors`, else zeros."""

    tokens: int = Field(ge=1, le=1024)

    _vectors: Tensor | None = PrivateAttr(None)

    def with_vectors(self, vectors: Tensor) -> "Prompt":
        """Set the vectors (tokens, width)."""
        self._vectors = vectors
        return self

    def for_blueprint(self) -> "Prompt":
        return Prompt(tokens=self.tokens)

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        anatomy.require_layers("prompt_tuning")
        if anatomy.is_seq2seq or anatomy.head.pretrains or anatomy.head.generates:
            raise InputError(
                "prompt_tuning: the model generates or fills in text; use 'lora', or start from an encoder"
            )
        if anatomy.inputs.prompt_tokens:
            raise InputError("prompt_tuning: the model has a prompt already; start from a model without one")
        left = anatomy.max_tokens - self.tokens
        if left < 8:
            raise InputError(
                f"prompt_tuning: {self.tokens} vectors leave {left} of {anatomy.max_tokens} positions to texts; choose fewer"
            )
        weight = next(iter(anatomy.tokens.state_dict().values()))
        zeros = torch.zeros(self.tokens, anatomy.tokens.embedding_dim, device=weight.device)
        vectors = zeros if self._vectors is None else self._vectors
        replace_modules(network, [anatomy.inputs.token_table], lambda table: PromptedTable(table, Vectors(vectors)))
        stated = getattr(network.config, "niwaki_max_tokens", None) or left
        network.config.niwaki_max_tokens = min(int(stated), left)
