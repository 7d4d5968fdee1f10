"""What a language model can do besides scoring whole texts: fill masks, continue texts, score single tokens."""

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self, cast

from niwaki.answers._answer_type import AnswerType, Input
from niwaki.answers._fill import Fill, Filled
from niwaki.answers._sampling import Sampling
from niwaki.answers._token_scores import TokenScores
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import UsageError
from niwaki.core.settings import check
from niwaki.engines.input_encoder import InputEncoder
from niwaki.engines.sampling import Sampled, Sampler, sampler, streamed
from niwaki.engines.scheduler import Scheduler


class LanguageModel:
    """Base of the predictor: uses of models whose answer type is a likelihood."""

    folder: Path
    encoder: InputEncoder
    answer_type: AnswerType
    outputs: int
    scheduler: Scheduler
    max_tokens: int

    def answering(self, answer_type: AnswerType) -> Self:
        """The same engine with another answer type."""
        raise NotImplementedError

    def predict(self, texts: Input | Sequence[Input]) -> list[object]:
        raise NotImplementedError

    @property
    def likelihood(self) -> Likelihood:
        """How the model predicts tokens; an error if it does not."""
        if not isinstance(self.answer_type, Likelihood):
            raise UsageError(
                f"{self.folder}: is no language model; if the checkpoint has a pretraining head, load it with head='language_model'"
            )
        return self.answer_type

    def filling(self, top: int = 5) -> Self:
        """The model as one that answers texts with the `top` likeliest tokens at each mask."""
        return self.answering(Fill.of(self.likelihood, self.encoder.tokenizer, self.outputs, top))

    def fill(self, texts: str | Sequence[str], top: int = 5) -> list[Filled]:
        """The `top` likeliest tokens at each mask of each text; `___`, `[MASK]` and `<mask>` stand for the tokenizer's own mask token."""
        return cast(list[Filled], self.filling(top).predict(texts))

    def sample(self, prompts: str | Sequence[str], **settings: object) -> list[Sampled]:
        """A continuation of each prompt by a causal model. Settings: temperature, top_k, top_p, max_new_tokens, seed, stop."""
        given = [prompts] if isinstance(prompts, str) else list(prompts)
        last = deque(self._sampler(settings).steps(given), maxlen=1)
        return [text.result() for texts in last for text in texts]

    def stream(self, prompt: str, **settings: object) -> Iterator[str]:
        """The continuation of a prompt in parts, as it is sampled; settings as for `sample`."""
        found = self._sampler(settings)
        return streamed(found.steps([prompt]), found.how.stop)

    def _sampler(self, settings: dict[str, object]) -> Sampler:
        how = check(Sampling, settings, "sample")
        return sampler(self.likelihood, self.encoder.tokenizer, self.scheduler, self.max_tokens, how)

    def scoring_tokens(self) -> Self:
        """The model as one that also gives the log-probability of each token."""
        return self.answering(TokenScores.of(self.likelihood, self.encoder.tokenizer))
