"""Early exits: the head learns to answer from inner layers too, so that inference can stop early when an inner answer is confident.

Paper: Schwartz et al. 2020, The Right Tool for the Job (arXiv 2004.07453); one head for all exits as in Elhoushi et al. 2024, LayerSkip
(arXiv 2404.16710): the saved network is an ordinary one, and its first layers with its head are a smaller model.
An exit follows the teacher's logits, or the network's own final logits in a stage without a teacher. `niwaki cascade` chooses when to stop.
Cost: one more pass of the head for each exit; with a teacher, one pass of it over the texts.
"""

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, ContributesLoss, FollowsTeacher, Method, Requirements, Reshapes
from niwaki.models.family import final_norm
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model
from niwaki.models.record import HIDDEN


class Exits(Method, Reshapes, ContributesLoss, FollowsTeacher, Bakes):
    after: list[int] = setting(
        [],
        "numbers of layers after which it may answer early; default: a third and two thirds of all",
        max_length=15,
    )
    weight: float = setting(1.0, "weight of the exits' mean loss, which is added to the loss so far", gt=0)
    temperature: float = setting(
        1.0, "softens the followed distribution: higher values reveal more of the less likely labels", gt=0
    )

    requires = Requirements(
        teacher="optional",
        training=True,
        activations=frozenset({HIDDEN}),
        compares_logits=True,
        reduces=("time",),
    )

    @property
    def follows_answers(self) -> bool:
        return True

    def dry_prepare(self, model: Model) -> Model:
        model.network.config.niwaki_exits = self._layers(model)
        return model

    def finish(self, model: Model) -> Model:
        self._layers(model)  # the methods after it may have removed layers
        return model

    def _layers(self, model: Model) -> list[int]:
        """The numbers of layers after which the head answers."""
        model.anatomy.require_layers("exits")
        if model.anatomy.is_seq2seq:
            raise InputError(
                "exits: only text-level answers can be given early, and this model generates text; leave 'exits' out"
            )
        if model.anatomy.per_token:
            raise InputError(
                "exits: only text-level answers can be given early, and this model answers for every token; leave 'exits' out"
            )
        if model.anatomy.head.pools:
            raise InputError(
                "exits: the head of this model pools all tokens, and exits read the first; leave 'exits' out"
            )
        if final_norm(model.anatomy.family):
            raise InputError(
                "exits: this model has a norm behind its last layer, which earlier layers' states never pass; leave 'exits' out"
            )
        depth = len(model.anatomy.order)
        if depth == 1:
            raise InputError("exits: the model has only one layer, so there is no earlier exit; leave 'exits' out")
        after = self.after or sorted({max(1, round(depth * share)) for share in (1 / 3, 2 / 3)})
        if after != sorted(set(after)) or after[0] < 1 or after[-1] >= depth:
            raise InputError(
                f"exits: after must be increasing numbers from 1 to {depth - 1} (given: {str(after)[:60]})"
            )
        return after

    def prepare(self, model: Model, context: Context) -> Model:
        return self.dry_prepare(model)

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        followed = outputs.logits.detach() if context.teacher is None else context.teacher(batch).logits
        each = [
            context.soft_loss(model.anatomy.head.forward(outputs.hidden[depth]), followed, batch, self.temperature)
            for depth in model.network.config.niwaki_exits
        ]
        return loss + self.weight * torch.stack(each).mean()
