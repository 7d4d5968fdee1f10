"""What lies on top of each other in an encoder, with attention layers or without: for methods that go from depth to depth."""

from torch import nn

from niwaki.core.errors import InputError
from niwaki.models.anatomy import Anatomy


def depths(anatomy: Anatomy) -> list[list[nn.Module]]:
    """The modules at each depth, from the input up; none where nothing is stacked."""
    if anatomy.layers or anatomy.is_seq2seq:
        return [[layer.module] for layer in anatomy.layers]
    found: list[list[nn.Module]] = anatomy.network.depths
    return found


def require_depths(anatomy: Anatomy, what: str) -> None:
    """Rejects networks that stack nothing, in the name of what goes from depth to depth."""
    if not depths(anatomy):
        raise InputError(
            f"{what}: a model of family '{anatomy.network.config.model_type}' has no layers on top of each other; leave '{what}' out"
        )


def state_sizes(anatomy: Anatomy) -> list[int]:
    """Numbers of a token's hidden state behind the embeddings and behind each layer that runs."""
    return [anatomy.hidden_size] * (1 + len(anatomy.order)) if anatomy.layers else list(anatomy.network.state_sizes)
