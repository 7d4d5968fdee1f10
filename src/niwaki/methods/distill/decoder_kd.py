"""Layer by layer in the decoder: the student decoder's hidden states follow the teacher decoder's.

Both decoders read the reference text (teacher forcing), so their states are of the same tokens. `tinybert` and `cosine` compare
the encoders, `logits` and `sequence_kd` the outputs.

Paper: Shleifer, Rush 2020, Pre-trained Summarization Distillation (arXiv 2010.13002).
Cost: one pass of the teacher over each batch; its outputs are not cached.
"""

from dataclasses import replace
from typing import Literal

from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context
from niwaki.methods.distill._layers import HiddenStateDistiller, layer_map, masked_mse
from niwaki.models.activations import named
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model
from niwaki.models.record import DECODER_HIDDEN
from niwaki.models.sizes import decoder_depth


class DecoderKd(HiddenStateDistiller):
    weight: float = setting(1.0, "weight of this loss, a mean over the layers, which is added to the loss so far", ge=0)
    mapping: Literal["uniform", "top"] = setting(
        "uniform", "which teacher layers are followed: evenly spaced ones, or the last ones"
    )

    requires = replace(HiddenStateDistiller.requires, activations=frozenset({DECODER_HIDDEN}))

    def check_teacher(self, model: Model, teacher: Model) -> None:
        for who, one in (("student", model), ("teacher", teacher)):
            if not one.anatomy.is_seq2seq:
                raise InputError(f"decoder_kd: the {who} has no decoder; use 'tinybert', which compares encoder layers")
        own, theirs = decoder_depth(model.anatomy), decoder_depth(teacher.anatomy)
        if own > theirs:
            raise InputError(
                f"decoder_kd: the student's decoder has {own} layers, more than the teacher's {theirs}; make it shallower"
            )

    def teacher_activations(self, model: Model, teacher: Model) -> frozenset[str]:
        return named(DECODER_HIDDEN, (number + 1 for number in self._followed(model, teacher)))

    def _followed(self, model: Model, teacher: Model) -> list[int]:
        return layer_map(decoder_depth(model.anatomy), decoder_depth(teacher.anatomy), self.mapping)

    def loss(self, model: Model, batch: Batch, outputs: Outputs, loss: Tensor, context: Context) -> Tensor:
        assert context.teacher is not None and context.teacher_model is not None
        theirs, real = context.teacher(batch).decoder_hidden, batch.generated.float()[..., None]
        followed = self._followed(model, context.teacher_model)
        apart = [
            masked_mse(self.project(outputs.decoder_hidden[depth + 1]), theirs[number + 1], real)
            for depth, number in enumerate(followed)
        ]
        return loss + self.weight * sum(apart) / len(apart)
