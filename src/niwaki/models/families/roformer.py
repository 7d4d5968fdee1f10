"""RoFormer (Su et al. 2021): BERT's layers with rotary positions, no others."""

from dataclasses import replace
from typing import ClassVar

from niwaki.core.errors import InputError
from niwaki.models.families.bert import Bert
from niwaki.models.family import Config, ConfigKeys, HeadPaths, InputPaths, StackRules
from niwaki.models.value_rules import Rule, flag


class RoFormer(Bert):
    body = "roformer"
    layer = replace(Bert.layer, stack=StackRules(mixer="rotary", rotary="neighbours"))
    inputs = InputPaths(other_tables=("embeddings.token_type_embeddings",), projection="embeddings_project")
    keys = ConfigKeys(embedding_size="embedding_size")
    head = HeadPaths(
        inner=("classifier.dense",),
        activation="gelu",
        final="classifier.out_proj",
        dropout="classifier.dropout",
        first_dropout="classifier.dropout",
        vocabulary=Bert.head.vocabulary,
    )
    tokenizers: ClassVar[tuple[str, ...]] = ("RoFormer",)
    config_rules: ClassVar[dict[str, Rule]] = {"rotary_value": flag}

    @classmethod
    def check_config(cls, config: Config) -> None:
        for key, usual in {"rotary_value": False, "hidden_act": "gelu"}.items():
            if config.get(key, usual) not in (usual, None):
                raise InputError(
                    f"config: a roformer with {key} = {config[key]} is not supported; take one with {usual}"
                )
