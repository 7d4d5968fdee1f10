"""The order in which a network can lose its attention heads, in its config: `supernet` trains it to, and `subnet` cuts it so."""

from niwaki.models.anatomy import Network

KEY = "niwaki_head_order"

Order = list[list[int]]  # for each attention of the anatomy its heads, the most important first


def head_order(network: Network) -> Order | None:
    found: Order | None = getattr(network.config, KEY, None)
    return found


def set_head_order(network: Network, order: Order | None) -> None:
    setattr(network.config, KEY, order)


def forget_head_order(network: Network) -> None:
    """Called where heads or layers are cut: the order was that of others."""
    if head_order(network) is not None:
        set_head_order(network, None)
