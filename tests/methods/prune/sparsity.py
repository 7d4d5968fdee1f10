"""Models in every representation, and their sparsity."""

import torch

import tiny
from niwaki.methods._method import Context
from niwaki.methods.prune._masks import matrices
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.edits.sparse import Sparse
from niwaki.models.module_paths import to_dense

CONTEXT = Context(0, None, None, None, None, None, None)


def weights(model) -> list[torch.Tensor]:
    return [to_dense(module).weight.detach() for module in matrices(model, "test").values()]


def sparsity(model) -> float:
    flat = torch.cat([weight.flatten() for weight in weights(model)])
    return float((flat == 0).float().mean())


def of_all_forms(family: str = "bert") -> dict:
    """The same model as it may come: plain, sparse, of integers, of digits, factored, shared."""
    edits = {
        "plain": [],
        "sparse": [Sparse()],
        "int8": [Int8()],
        "digits": [LowBit(base=16)],
        "shared": [Share(of=[0, 0, 2])],
    }
    edits["factored"] = [Factored(ranks=[8] * 18)]
    found = {}
    for name, some in edits.items():
        found[name] = tiny.model(family)
        with torch.no_grad():
            found[name].anatomy.layers[2].part("ffn_in").weight.mul_(2)
        for edit in some:
            found[name].apply_edit(edit)
    return found
