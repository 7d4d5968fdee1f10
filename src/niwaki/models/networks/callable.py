"""Makes a network of niwaki callable like a transformers model: it runs the forward pass of its family."""

import torch
from torch import Tensor
from transformers.utils import ModelOutput


class CallableNetwork:
    """Mixin for networks that transformers does not have."""

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        output_hidden_states: bool = False,
        return_dict: bool = True,
        **others: Tensor,
    ) -> ModelOutput:
        from niwaki.models.anatomy import anatomy_of
        from niwaki.models.forward import run
        from niwaki.models.record import HIDDEN, Record
        from niwaki.models.recorded import Recorded

        if input_ids is not None:  # else images are read
            mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
            others |= {"input_ids": input_ids, "attention_mask": mask}
        record: Record = {HIDDEN: []} if output_hidden_states else {}
        logits = run(anatomy_of(self), others, record)
        hidden = tuple(Recorded(record[HIDDEN])) if output_hidden_states else None
        return ModelOutput(logits=logits, hidden_states=hidden)
