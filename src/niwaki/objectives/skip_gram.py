"""Skip-gram: the vector of a word tells the words around it from random ones.

Windows have a random size up to `window`, and frequent words are left out at random, both as in word2vec. Give large batches, e.g. 512
sentences, and a high learning rate: the tables are trained by the optimizer of the train block.

Paper: Mikolov et al. 2013, Distributed Representations of Words and Phrases and their Compositionality (arXiv 1310.4546).
Cost: two matrix products for each sentence and one with the noise; some hundred thousand words per second.
"""

from torch import Tensor
from torch.nn import functional

from niwaki.models.forward import Batch, Outputs
from niwaki.objectives._word_vectors import NegativeSampling, near


class SkipGram(NegativeSampling):
    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        pairs = near(batch.mask, batch.notes["radius"])
        around = self.around(batch.inputs["input_ids"])
        noise = self.around(batch.notes["noise"])
        return skip_gram_loss(outputs.hidden[0], around, noise, pairs, self._settings.negatives)


def skip_gram_loss(words: Tensor, around: Tensor, noise: Tensor, pairs: Tensor, negatives: int) -> Tensor:
    """Vectors of the same tokens in both tables (batch, tokens, width), noise (drawn, width), and which tokens are around which
    (batch, tokens, tokens), to the mean over pairs of -log σ(word · around) - Σ log σ(-word · noise), a sum over `negatives`."""
    scores = (words @ around.mT.to(words.dtype)).float()
    against = functional.softplus((words @ noise.T.to(words.dtype)).float()).mean(dim=-1)  # (batch, tokens)
    found = (functional.softplus(-scores) * pairs).sum() + negatives * (pairs.sum(dim=-1) * against).sum()
    return found / pairs.sum().clamp(min=1)
