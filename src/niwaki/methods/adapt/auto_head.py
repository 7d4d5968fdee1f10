"""Chooses the head from the rows: `pair_head` for few pairs of texts, else `pooled_head`.

A plan states the one that was chosen (`run/auto_train.py`). Outside a plan it is `pooled_head`.
Paper: Reimers, Gurevych 2019, Sentence-BERT (arXiv 1908.10084).
Cost: that of the chosen head.
"""

from niwaki.core.settings import setting
from niwaki.methods.adapt.pooled_head import PooledHead


class AutoHead(PooledHead):
    few_pairs: int = setting(2000, "with fewer training rows, the texts of a pair are encoded separately", ge=0)
