"""Shared by the students without attention: how they are created from a start model, a teacher's token vectors and the rows."""

from collections.abc import Iterable
from typing import Literal

import torch

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.anatomy import Network
from niwaki.models.forward import Batch
from niwaki.models.meta_device import on_meta_device
from niwaki.models.model import Model
from niwaki.models.networks.texts import texts_of
from niwaki.models.skeleton import build
from niwaki.models.vectors import vectors_for


class NetworkStudent(Method, Reshapes):
    """Base of `averaging`, `bilstm` and `cnn`. Tokenizer, labels and head type are the start model's."""

    vectors: Literal["read", "table"] = setting(
        "read",
        "token vectors: the teacher's last hidden states when it reads the token alone, or its embedding table",
    )
    width: int = setting(128, "dimensions of the token vectors, reduced by PCA; at most the teacher's", ge=1, le=4096)
    ffn_size: int = setting(256, "size of each hidden layer before the logits", ge=1, le=65536)

    requires = Requirements(training=True, reduces=("file", "memory", "flops", "time"))

    @property
    def resets_head(self) -> bool:
        return True

    def shape(self) -> Json:
        """Config keys of this network, including `model_type`."""
        raise NotImplementedError

    def prepare(self, model: Model, context: Context) -> Model:
        """Without a teacher, the token vectors come from the start model."""
        separator = separator_of(model, self.label())
        vectors = vectors_for(model.tokenizer, context.teacher_model or model, self.vectors, self.width)
        texts = count_texts(context.calibration(model, 1), separator)
        config = self.config(model, len(vectors), vectors.shape[1], separator, texts)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(context.seed, str(config["model_type"])))
            network = build(config).eval()
        network.config.architectures = [type(network).__name__]
        network.body.embeddings.word_embeddings.weight.data.copy_(vectors)
        self.begin(network, model, context)
        return Model(network, model.tokenizer, sibling_files=model.sibling_files)

    def config(self, model: Model, vocabulary_size: int, width: int, separator: int, texts: int) -> Json:
        if model.anatomy.is_seq2seq:
            raise InputError(
                f"{self.label()}: its network has no decoder, and this model generates text; use 'student', which keeps the decoder"
            )
        return {
            **inherited_config(model.network.config),
            **self.shape(),
            "architectures": [f"AnyFor{model.anatomy.head.architecture}"],
            "vocab_size": vocabulary_size,
            "embedding_size": width,
            "hidden_size": self.ffn_size,
            "max_position_embeddings": model.anatomy.max_tokens,
            "sep_token_id": separator,
            "niwaki_texts": texts,
        }

    def dry_prepare(self, model: Model) -> Model:
        width = min(self.width, model.anatomy.hidden_size)
        with on_meta_device():
            network = build(self.config(model, model.anatomy.tokens.num_embeddings, width, separator=0, texts=1))
        return Model(network, None)

    def begin(self, network: Network, model: Model, context: Context) -> None:
        """Set initial weights that are neither token vectors nor random."""


def inherited_config(config: object) -> Json:
    """Config keys that a student inherits: labels, answer type and padding token."""
    names = ("id2label", "label2id", "problem_type", "niwaki_answer", "pad_token_id")
    return {name: value for name in names if (value := getattr(config, name, None)) is not None}


def separator_of(model: Model, what: str) -> int:
    """The id of the token that ends a text."""
    found = model.tokenizer.sep_token_id
    if found is None:
        raise InputError(
            f"{what}: the tokenizer has no separator (sep_token), which separates the texts of a pair; use a start model that has one"
        )
    return int(found)


def count_texts(batches: Iterable[Batch], separator: int) -> int:
    """2 if any row has a second text, else 1."""
    for batch in batches:
        if texts_of(batch.inputs["input_ids"], batch.mask, separator, 2)[:, 1].any():
            return 2
    return 1
