"""How many of a network's parameters are trained, for the log and the report."""

from niwaki.core.json_types import Json
from niwaki.models.model import Model
from niwaki.train.checkpoints import TrainerState


def trained_and_all(model: Model) -> tuple[int, int]:
    """Parameters of the network that are trained, and all numbers that it stores."""
    trained = sum(parameter.numel() for parameter in model.network.parameters() if parameter.requires_grad)
    return trained, model.parameters()


def share_record(state: TrainerState) -> Json:
    """What the log begins with if parameters are frozen or packed."""
    trained, every = state.trained_parameters, state.all_parameters
    return {"kind": "parameters", "step": 0, "trained": trained, "all": every, "share": round(trained / every, 6)}
