"""The head reads a learned weighted sum of the hidden states of all layers instead of the last one (ELMo).

Lower layers know more of word forms and syntax, higher ones of meaning; the softmax weights and a factor γ are trained with the head. With `freeze` and all
layers, only these are trained: frozen features. Heads for labels of texts pool the sum, heads for tags read it token by token.

Paper: Peters et al. 2018, Deep contextualized word representations (arXiv 1802.05365).
Cost: one sum over the layers; the last layer computes all tokens. The native engine does not run such heads.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.depths import require_depths, state_sizes
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.model import Model
from niwaki.models.parts.heads.classification import Classification
from niwaki.models.parts.heads.tagging import Tagging
from niwaki.models.sentence_modules import PoolingMode

OFF = 100.0  # scores this far apart have weights of 1 and 0


class WeightedLayers(Method, Reshapes):
    mode: PoolingMode = setting("mean", "how the tokens of a text are pooled")
    only: int | None = setting(
        None, "for comparison, the only hidden state that is read; 0 is the token vectors, 1 the first layer", ge=0
    )
    dropout: float = setting(0.1, "share of numbers dropped before the last matrix while training", ge=0, lt=1)

    requires = Requirements(training=True)

    @property
    def resets_head(self) -> bool:
        return True

    def dry_prepare(self, model: Model) -> Model:
        anatomy = model.anatomy
        require_depths(anatomy, "weighted_layers")
        tags = isinstance(anatomy.head, Tagging)
        if anatomy.is_seq2seq or not (tags or isinstance(anatomy.head, Classification)):
            raise InputError(
                "weighted_layers: it replaces heads for labels of texts and for tags; leave it out for other tasks"
            )
        if getattr(model.network.config, "niwaki_texts", 1) != 1:
            raise InputError("weighted_layers: this network compares two texts; start from one for single texts")
        sizes = state_sizes(anatomy)
        if any(max(sizes) % size for size in sizes):
            raise InputError(
                f"weighted_layers: the layers are of sizes {', '.join(map(str, sizes))}, which cannot be summed; "
                "train a network whose embedding_size is its hidden_size"
            )
        if self.only is not None and self.only >= len(sizes):
            raise InputError(
                f"weighted_layers: only is {self.only}, and the model has hidden states 0 to {len(sizes) - 1}"
            )
        settings = {"states": len(sizes), "size": max(sizes), "dropout": self.dropout}
        part = "weighted_tokens" if tags else "weighted"
        model.apply_edit(ReplacePart(slot="head", part=part, settings=settings | ({} if tags else {"mode": self.mode})))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        model = self.dry_prepare(model)
        if self.only is not None:
            scores = model.anatomy.head.layer_scores.requires_grad_(False)
            scores.fill_(-OFF)[self.only] = OFF
        return model
