"""Matrices as sums of Kronecker products of small ones: high rank with few parameters.

A sum of several terms is a tensor train with two cores. Factors are as close to square as the limit on operations allows: square
factors need more operations than they save, unless very few terms are kept. The many small products take fewer operations and more
time: MiniLM with half the parameters and two thirds of the operations ran at 0.78 times its speed. Only a starting point for training:
without it that model predicted at chance level, and `svd` approximates the matrices better with as many parameters (relative squared
error 0.47 against 0.55 at a quarter of the parameters).

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
    keep: float = setting(0.25, "fraction of each matrix's parameters to keep", tune=(0.25, 0.5, 0.75), gt=0, lt=1)
    flops: float = setting(0.75, "maximum operations of the factors, relative to the matrix", gt=0)

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
                f"kronecker: no matrix has factors with {self.keep:g} of its parameters and {self.flops:g} of its operations; "
                "raise keep or flops, or leave 'kronecker' out"
            )
        model.apply_edit(KroneckerEdit(sizes=sizes))
        return model

    def _sizes(self, module: object) -> Sizes | None:
        out, inputs = getattr(module, "out_features", 0), getattr(module, "in_features", 0)
        return fitted(out, inputs, self.keep, self.flops) if out and inputs else None
