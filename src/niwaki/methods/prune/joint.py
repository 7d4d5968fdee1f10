"""Coarse and fine together: gates over whole attention and feed-forward blocks, and over their heads and neurons.

Meant to be combined with `attention_relations`, `tinybert` or `logits` in the same stage. A block whose gate closes is removed,
except the last attention block. The hidden dimensions have no gates.

Paper: Xia, Zhong, Chen 2022, Structured Pruning Learns Compact and Accurate Models (arXiv 2204.00408).
Cost: as `l0`, plus the distillation.
"""

from typing import ClassVar

from niwaki.methods.prune.l0 import L0


class Joint(L0):
    version = 4
    whole: ClassVar[bool] = True
