"""An encoder without a task head, as a transformers model. Its modules have the paths that they have in networks with a head."""

from functools import cache
from typing import ClassVar, cast

import transformers
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel
from transformers.utils import ModelOutput

from niwaki.models.family import Network, family_of
from niwaki.models.sentence_modules import pooling_of_network


class BareEncoder(PreTrainedModel):
    """Subclasses are made for each family by `bare_encoder_class`."""

    _supports_sdpa = True  # transformers checks this on a GPU; the encoder may use it
    encoder_class: ClassVar[type[PreTrainedModel]]

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__(config)
        encoder = self.encoder_class._from_config(config, attn_implementation=config._attn_implementation)
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None  # only classification heads use it
        self.add_module(self.base_model_prefix, encoder)
        pooling = pooling_of_network(self)
        hidden_size = getattr(config, family_of(config.model_type).keys.hidden_size)
        self.dense = nn.Linear(hidden_size, pooling.dense, bias=pooling.bias) if pooling.dense else None
        self.post_init()

    def forward(self, **inputs: Tensor | bool) -> ModelOutput:
        """Token embeddings as the encoder of transformers returns them; `models/forward.py` pools."""
        return self.get_submodule(self.base_model_prefix)(**inputs)


@cache
def bare_encoder_class(model_type: str) -> type[BareEncoder]:
    """The network class of a family."""
    config_class = transformers.CONFIG_MAPPING[model_type]
    encoder = cast(type[PreTrainedModel], transformers.MODEL_MAPPING[config_class])
    members = {
        "encoder_class": encoder,
        "config_class": config_class,
        "base_model_prefix": family_of(model_type).body,
        "_keys_to_ignore_on_load_unexpected": [".*"],  # heads of pretraining and the pooler
    }
    return type(f"{encoder.__name__.removesuffix('Model')}ForFeatureExtraction", (BareEncoder,), members)


def architecture_name(network: Network) -> str:
    """The class that a saved config names. For a bare encoder, the class of transformers that loads it."""
    return str(getattr(network, "encoder_class", type(network)).__name__)
