"""Leaves out the smallest weights, one by one, little by little while training; the rest is stored without the zeros.

A weight that was left out comes back while others shrink below it. Without training all go at once. Packed weights, which
training cannot move, go at the end and keep their form.

Paper: Zhu, Gupta 2017, To Prune, or Not to Prune (arXiv 1710.01878): the cubic schedule; Han et al. 2015 (arXiv 1506.02626).
Cost: some 5 % of a step. Saves bytes on disk: the engine unpacks the matrices when it loads them.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Context
from niwaki.methods.prune._masks import (
    Gradual,
    Mask,
    Scope,
    cubic_sparsity,
    densify,
    keep_largest,
    matrices,
    parametrizations_of,
    store_sparse,
    updates_due,
)
from niwaki.models.model import Model
from niwaki.models.module_paths import to_dense
from niwaki.models.parametrizations import add_parametrization, original_weight


class Magnitude(Gradual):
    sparsity: float = setting(0.5, "share of the weights of the encoder's matrices that go", gt=0, lt=1)
    scope: Scope = setting("global", "global compares all weights; layer takes the same share of every matrix")

    def dry_prepare(self, model: Model) -> Model:
        matrices(model, "magnitude")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        for module in densify(model, "magnitude").values():
            add_parametrization(module, Mask(module.weight))
        return model

    def after_step(self, model: Model, progress: float) -> None:
        found = parametrizations_of(model, Mask)
        if not found or updates_due(progress) <= int(found[0][2].updates):
            return
        sparsity = cubic_sparsity(progress, self.begin, self.end, self.sparsity)
        sizes = [original_weight(module).detach().abs() for _, module, _ in found]
        for (_, _, lens), kept in zip(found, keep_largest(sizes, sparsity, self.scope), strict=True):
            lens.kept.copy_(kept)
            lens.updates.fill_(updates_due(progress))

    def finish(self, model: Model) -> Model:
        """What was trained has the zeros that it shall have, and nothing more goes."""
        found = matrices(model, "magnitude")
        sizes = [to_dense(module).weight.detach().abs() for module in found.values()]
        return store_sparse(model, dict(zip(found, keep_largest(sizes, self.sparsity, self.scope), strict=True)))

    def dry_finish(self, model: Model) -> Model:
        return store_sparse(model)
