"""Deep averaging network (Iyyer et al. 2015): the weighted mean of token vectors, products of neighbours, and hidden layers."""

from collections.abc import Iterator

from niwaki.models.families._reader import ReaderAnatomy
from niwaki.models.networks import averaging
from niwaki.models.networks.reader import introduce


class Averaging(ReaderAnatomy):
    for_tokens = False
    body_matrices = "factors"
    other_tables = ("embeddings.token_weights",)

    @classmethod
    def introduce(cls) -> None:
        introduce(averaging.AveragingConfig, averaging.AveragingForSequenceClassification)

    def tables_by_token(self) -> Iterator[str]:
        return self.tables()
