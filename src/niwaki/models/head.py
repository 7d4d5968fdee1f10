"""What is put on an encoder to answer a task: one of transformers' heads, with its labels and the units of its numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import nn

from niwaki.answers.embedding import Embedding
from niwaki.answers.image_embedding import ImageEmbedding
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.anatomy import Network, anatomy_of
from niwaki.models.family import Family, family_of, is_always_causal
from niwaki.models.head_labels import name_labels
from niwaki.models.skeleton import (
    CONDITIONAL_GENERATION,
    FEATURE_EXTRACTION,
    IMAGE_CLASSIFICATION,
    MASKED_LM,
    SEQUENCE_CLASSIFICATION,
)

PLAIN_UNITS = {"mean": 0.0, "scale": 1.0}  # of a head that was trained elsewhere: what it says is the number


@dataclass(frozen=True)
class Head:
    """What is put on an encoder: one of transformers' heads, its labels, and how its logits are read."""

    labels: list[str]
    architecture: str = "SequenceClassification"
    answer: Json = field(default_factory=dict)  # of the kind of answer (niwaki.answers), kept in the config
    problem: str | None = None
    files: Callable[[], dict[str, bytes]] = (
        dict  # files that the answer type needs next to the network; called when a model is built
    )

    def on(self, config: Json) -> Json:
        """The config of a network with this head."""
        known = family_of(str(config["model_type"]))
        decides = self.architecture == MASKED_LM or is_always_causal(known)  # else heads for tasks read whole texts
        direction = {} if decides else {"is_decoder": False}
        return {
            **config,
            **direction,
            "id2label": dict(enumerate(self.labels)),
            "label2id": {name: number for number, name in enumerate(self.labels)},
            "num_labels": len(self.labels),
            "architectures": [f"AnyFor{self._fitting(known, known.decoder is not None)}"],
            "problem_type": self.problem,
            "niwaki_answer": self.answer or None,
        }

    def _fitting(self, family: type[Family], is_seq2seq: bool) -> str:
        """A method may add a decoder to a network that only reads, or replace one that reads texts by one that reads images. The network has
        the head for whole texts until then."""
        lacks_decoder = self.architecture == CONDITIONAL_GENERATION and not is_seq2seq
        lacks_pixels = self.architecture == IMAGE_CLASSIFICATION and family.inputs.reads == "texts"
        if lacks_decoder and family.inputs.reads == "images":
            return IMAGE_CLASSIFICATION
        return SEQUENCE_CLASSIFICATION if lacks_decoder or lacks_pixels else self.architecture

    def put_on(self, network: Network, where: str) -> None:
        """On an edited network, which keeps the head it has: it must be of the same kind, with as many labels."""
        anatomy = anatomy_of(network)
        if anatomy.head.architecture != self._fitting(anatomy.family, anatomy.is_seq2seq):
            raise InputError(
                f"{where}: an edited model keeps its head, which is for {anatomy.head.architecture}, not {self.architecture}"
            )
        name_labels(network, self.labels, where)
        rescale(network, getattr(network.config, "niwaki_answer", None), self.answer)
        network.config.niwaki_answer, network.config.problem_type = self.answer or None, self.problem


def no_head(config: Json) -> Head:
    """No task head: the network gives embeddings of sentences or images."""
    answer = ImageEmbedding() if family_of(str(config["model_type"])).inputs.reads == "images" else Embedding()
    return Head([], FEATURE_EXTRACTION, answer.to_json())


def rescale(network: Network, before: object, now: Json) -> None:
    """A head that was trained to give numbers in other units goes on saying the same numbers in the new ones. One that is packed
    cannot be changed, and is left to training."""
    final = anatomy_of(network).head.final
    layer = network.get_submodule(final) if final else None
    if (
        not isinstance(before, dict)
        or before == now
        or not {"mean", "scale"} <= before.keys() & now.keys()
        or type(layer) is not nn.Linear
    ):
        return
    layer.weight.data.mul_(before["scale"] / now["scale"])
    layer.bias.data.mul_(before["scale"]).add_(before["mean"] - now["mean"]).div_(now["scale"])
