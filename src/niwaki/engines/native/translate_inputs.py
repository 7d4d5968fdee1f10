"""Translates input stages: `native` of a part names one of `INPUTS`, which gives fields of a program."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from torch import nn

from niwaki.core.json_types import Json
from niwaki.engines.native import program as p
from niwaki.models.family import Network
from niwaki.models.packed.factored import FactoredTable

if TYPE_CHECKING:
    from niwaki.engines.native.translate import Translator
    from niwaki.models.tables import TiedEmbedding


def token_embeddings(translator: "Translator") -> Json:
    inputs, network = translator.anatomy.inputs, translator.network
    tables = {path.rpartition(".")[2].split("_")[0]: path for path in inputs.small_tables}
    return {
        **token_vectors(translator),
        "longest": None if "position" in tables else longest(translator),
        "positions": translator.matrix(tables["position"]) if "position" in tables else None,
        "first_position": int(network.config.pad_token_id) + 1 if inputs.paths.skipped_positions else 0,
        "types": translator.matrix(tables["token"]) if "token" in tables else None,
        "reads_types": inputs.paths.uses_token_types,
        "embedded": translator.norm(inputs.norms[0]),
        "project": translator.linear(inputs.projection) if inputs.projection else None,
    }


def token_vectors(translator: "Translator") -> Json:
    """Tokens alone."""
    inputs = translator.anatomy.inputs
    narrow = isinstance(inputs.tokens, FactoredTable)
    return {
        "tokens": translator.matrix(f"{inputs.token_table}.table" if narrow else inputs.token_table),
        "widen": translator.linear(f"{inputs.token_table}.up") if narrow else None,
        "longest": longest(translator),
        "first_position": 0,
    }


def learned_positions(translator: "Translator") -> Json:
    """Tokens and positions, and a norm where a family has one."""
    inputs = translator.anatomy.inputs
    embedded = translator.norm(inputs.norms[0]) if inputs.norms else None
    return {**token_vectors(translator), "positions": translator.matrix(inputs.small_tables[0]), "embedded": embedded}


def shared_table(translator: "Translator") -> Json:
    """The embeddings of an encoder–decoder with one table."""
    return {**side_embeddings(translator, translator.network.get_encoder()), "first_position": 0}


INPUTS: Mapping[str, Callable[["Translator"], Json]] = {
    "token_embeddings": token_embeddings,
    "token_vectors": token_vectors,
    "learned_positions": learned_positions,
    "shared_table": shared_table,
}


def longest(translator: "Translator") -> int:
    """The maximum number of tokens of networks without a table of positions."""
    return min(translator.anatomy.max_tokens, p.MOST_POSITIONS)


def side_embeddings(translator: "Translator", side: Network) -> Json:
    """Fields of an encoder, or of a decoder, that borrows the network's table of tokens and has positions of its own."""
    tokens: TiedEmbedding = side.embed_tokens
    path = translator.anatomy.inputs.token_table
    narrow = isinstance(translator.modules[path], FactoredTable)
    norm: nn.Module | None = getattr(side, "layernorm_embedding", None)
    positions = getattr(side, "embed_positions", None)
    placed: Json = {"longest": longest(translator)}
    if positions is not None:
        path_of_positions = translator.paths[id(positions)]
        placed = {"positions": translator.matrix(path_of_positions), "skipped_positions": positions.offset}
    return {
        **placed,
        "tokens": translator.matrix(f"{path}.table" if narrow else path),
        "widen": translator.linear(f"{path}.up") if narrow else None,
        "token_scale": float(tokens.scale),
        "embedded": None if norm is None else translator.norm(translator.paths[id(norm)]),
    }
