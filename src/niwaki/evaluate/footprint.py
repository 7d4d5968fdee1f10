"""The size of an artifact: bytes on disk, parameters, FLOPs of one text."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

from niwaki.core.files import folder_bytes
from niwaki.core.json_types import Json
from niwaki.models.forward import run_padded
from niwaki.models.model import Model


def footprint(model: Model, folder: Path, tokens: int) -> Json:
    return {
        "bytes": folder_bytes(folder),
        "parameters": model.parameters(),
        "flops": flops(model, tokens),
        "flops_tokens": tokens,
    }


def flops(model: Model, tokens: int) -> int:
    """Multiplications and additions of the deployed forward pass on one text of `tokens` tokens, by torch's counter
    (it counts matrix products; integer ones count like floats). Works on a skeleton too."""
    device = next(model.network.parameters()).device
    unknown = {torch.ops.aten.mkldnn_rnn_layer: lstm_flops}
    with torch.no_grad(), FlopCounterMode(display=False, custom_mapping=unknown) as counter:
        inputs = {name: value.to(device) for name, value in model.anatomy.inputs.example(1, tokens).items()}
        model.network.eval()
        run_padded(model.anatomy, inputs)
    return int(counter.get_total_flops())


def lstm_flops(inputs: Sequence[int], by_input: Sequence[int], by_unit: Sequence[int], *_: object, **__: object) -> int:
    """FLOPs of one direction of an LSTM, an operation that torch's counter does not know. Shapes: (tokens, batch,
    inputs), (4 × units, inputs), (4 × units, units)."""
    tokens, batch, _inputs = inputs
    return 2 * tokens * batch * by_input[0] * (by_input[1] + by_unit[1])
