"""Coarse and fine together: gates over whole attention and feed-forward blocks, and over their heads and neurons.

To be used with `relations`, `tinybert` or `logits` in the same stage: a cut network learns better from what it was. A block
that closes is taken out, but for the last attention block. Columns of the hidden state have no gates.

Paper: Xia, Zhong, Chen 2022, Structured Pruning Learns Compact and Accurate Models (arXiv 2204.00408).
Cost: as `l0`, and what the distilling costs.
"""

from typing import ClassVar

from niwaki.methods.prune.l0 import L0


class Joint(L0):
    version = 4
    whole: ClassVar[bool] = True
