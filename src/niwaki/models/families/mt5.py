"""mT5 (Xue et al. 2021): T5 1.1 on a hundred languages, which never scales what it writes."""

from niwaki.models.families.t5 import T5


class MT5(T5):
    pass
