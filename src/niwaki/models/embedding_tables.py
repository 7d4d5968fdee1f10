"""Paths, from the network, of embedding tables and what belongs to them, of the input stage and the decoder."""

from niwaki.models.anatomy import Anatomy
from niwaki.models.family import final_norm
from niwaki.models.module_paths import leaf_paths
from niwaki.models.parts.heads._head import inner_norms


def all_tables(anatomy: Anatomy) -> list[str]:
    """All embedding tables."""
    inputs, decoder = anatomy.inputs, anatomy.decoder
    own = [] if decoder is None else [*decoder.token_tables, *decoder.small_tables]
    return [*filter(None, [inputs.token_table]), *inputs.small_tables, *own]


def whole_token_tables(anatomy: Anatomy) -> list[str]:
    """The large ones, with a vector for each token that is read or generated."""
    return [*filter(None, [anatomy.inputs.token_table]), *(anatomy.decoder.token_tables if anatomy.decoder else ())]


def token_tables(anatomy: Anatomy) -> list[str]:
    """The same, with an output matrix that is not one of them; of one that is made of several, these."""
    output = [anatomy.head.final] if anatomy.is_seq2seq and anatomy.head.final else []
    return [leaf for path in [*whole_token_tables(anatomy), *output] for leaf in leaf_paths(anatomy.network, path)]


def embedding_norms(anatomy: Anatomy) -> list[str]:
    """Norms outside of layers."""
    final = final_norm(anatomy.family)
    own = [*anatomy.inputs.norms, *([final] if final else []), *inner_norms(anatomy.head)]
    return [*own, *(anatomy.decoder.norms if anatomy.decoder else ())]


def small_weights(anatomy: Anatomy) -> list[str]:
    """Small tables and inner matrices of the head: too few numbers to cut or round hard, too many to leave as floats where
    the rest is packed."""
    own = anatomy.decoder.small_tables if anatomy.decoder else ()
    return [*anatomy.inputs.small_tables, *anatomy.head.inner, *own]
