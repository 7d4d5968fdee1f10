"""The last matrix of a language model: the token table, which lies in one place, mostly with a bias for each token."""

from torch import Tensor, nn
from torch.nn import functional

from niwaki.models.family import Family, Network
from niwaki.models.fused import linear
from niwaki.models.module_paths import has_module
from niwaki.models.tables import TiedHead


class VocabularyMatrix(TiedHead):
    """The bias is `holder`'s where that has one, as transformers' networks do, and else this module's own."""

    def __init__(self, owner: nn.Module, name: str, holder: nn.Module, bias: nn.Parameter | None) -> None:
        super().__init__(owner, name)
        self.holder = (holder,) if holder._parameters.get("bias") is not None else ()
        if not self.holder:
            self.register_parameter("bias", bias)

    def forward(self, hidden: Tensor) -> Tensor:
        bias: Tensor | None = getattr(self.holder[0] if self.holder else self, "bias")  # noqa: B009 - modules are typed loosely
        if isinstance(self.table, nn.Embedding):
            if linear.fits_weight(hidden, self.table.weight):
                return linear.product(hidden, self.table.weight, bias)
            return functional.linear(hidden, self.table.weight, bias)  # one pass over the logits
        found = super().forward(hidden)
        return found if bias is None else found + bias


def tie_vocabulary(network: Network, family: type[Family]) -> None:
    """Lets a masked-LM head read the token table itself, so that packing it once is enough. One with numbers of its own keeps them."""
    paths = family.head.vocabulary
    if paths is None or not paths.shares_table or not has_module(network, paths.table):
        return
    matrix, table = network.get_submodule(paths.table), f"{family.body}.{family.inputs.token_table}"
    owner, _, name = table.rpartition(".")
    tokens = network.get_submodule(table)
    shares = matrix.weight is tokens.weight or (
        tokens.weight.is_meta and network.config.tie_word_embeddings is not False
    )
    if shares:
        holder = network.get_submodule(paths.table.rpartition(".")[0])
        network.set_submodule(paths.table, VocabularyMatrix(network.get_submodule(owner), name, holder, matrix.bias))
