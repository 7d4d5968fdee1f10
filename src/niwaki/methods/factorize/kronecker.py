"""Matrices as sums of Kronecker products of small ones: many ranks with few numbers.

A sum of so many terms is a tensor train of two cores. Factors are as near to square as the operations that it may take allow:
square ones cost more of these than they save, unless very few terms are kept. Made of many small products it takes fewer
operations and more time: MiniLM with half the numbers and two thirds of the operations ran at 0.78 times its speed. A start to
train from and no more: that model answered by chance, and outer products, which `svd` makes, leave less error in its matrices
with as many numbers (0.47 of the square against 0.55 with a quarter).

Paper: Tahaei et al. 2021, KroneckerBERT (arXiv 2109.06243); Van Loan and Pitsianis 1993, Approximation with Kronecker Products;
Oseledets 2011, Tensor-Train Decomposition.
Cost: a singular value decomposition of each matrix.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.kronecker import Kronecker as KroneckerEdit
from niwaki.models.model import Model
from niwaki.models.packed.kronecker import Sizes, fitted


class Kronecker(Method, Reshapes):
    keep: float = setting(0.25, "share of each matrix's numbers that stays", gt=0, lt=1)
    flops: float = setting(0.75, "share of its operations that the factors may take", gt=0)

    requires = Requirements(reduces=("file", "memory", "flops"))

    def dry_prepare(self, model: Model) -> Model:
        return self._split(model)

    def prepare(self, model: Model, context: Context) -> Model:
        return self._split(model)

    def _split(self, model: Model) -> Model:
        modules = [model.network.get_submodule(path) for path in model.anatomy.whole_matrices()]
        sizes = [self._sizes(module) for module in modules]
        if not any(sizes):
            raise InputError(
                f"kronecker: no matrix has factors that take {self.keep:g} of its numbers and {self.flops:g} of its operations; "
                "raise keep or flops, or leave 'kronecker' out"
            )
        model.apply_edit(KroneckerEdit(sizes=sizes))
        return model

    def _sizes(self, module: object) -> Sizes | None:
        out, inputs = getattr(module, "out_features", 0), getattr(module, "in_features", 0)
        return fitted(out, inputs, self.keep, self.flops) if out and inputs else None
