"""Continuous bag of words: the mean of the vectors around a word tells that word from random ones.

Windows, noise and left-out words as in `skip_gram`; faster by the number of words around, and better for frequent words.

Paper: Mikolov et al. 2013, Efficient Estimation of Word Representations in Vector Space (arXiv 1301.3781), with negative sampling.
Cost: as `skip_gram`.
"""

from torch import Tensor
from torch.nn import functional

from niwaki.models.forward import Batch, Outputs
from niwaki.objectives._word_vectors import NegativeSampling, near


class Cbow(NegativeSampling):
    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        pairs = near(batch.mask, batch.notes["radius"])
        own = self.around(batch.inputs["input_ids"])
        return cbow_loss(outputs.hidden[0], own, self.around(batch.notes["noise"]), pairs, self._settings.negatives)


def cbow_loss(words: Tensor, own: Tensor, noise: Tensor, pairs: Tensor, negatives: int) -> Tensor:
    """Vectors of tokens (batch, tokens, width), those by which they are predicted, noise (drawn, width), and which tokens are around
    which, to the mean over tokens with any around them of -log σ(mean · own) - Σ log σ(-mean · noise), a sum over `negatives`."""
    counts = pairs.sum(dim=-1)
    mean = (pairs / counts[..., None].clamp(min=1)).to(words.dtype) @ words
    score = (mean.float() * own.float()).sum(dim=-1)
    against = functional.softplus((mean @ noise.T.to(mean.dtype)).float()).mean(dim=-1)
    found = (functional.softplus(-score) + negatives * against) * (counts > 0)
    return found.sum() / (counts > 0).sum().clamp(min=1)
