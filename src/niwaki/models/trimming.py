"""Trims the vocabulary of a whole model: tokenizers, token tables, output, and the ids in its config.

Encoder-decoders with one token table read and generate with the same ids, so tokens that either side uses stay. Hidden states and logits of
the tokens that stay are those of the whole model, for texts whose tokens stay.
"""

from collections.abc import Iterable, Mapping

from tokenizers import Tokenizer

from niwaki.answers.text import TARGET
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.anatomy import shares_vocabulary
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.model import Model
from niwaki.tokenization.trimming import trim, trimmed, used_tokens

TOKEN_KEYS = ("start", "end", "first")  # of the answer type, besides `suppress_tokens`


def trim_vocabulary(
    model: Model,
    texts: Iterable[str],
    targets: Iterable[str] = (),
    min_count: int = 1,
    all_characters: bool = True,
) -> Model:
    """The model with the tokens of its texts and, if it generates, of targets. It is changed in place."""
    source, target = model.tokenizer.backend_tokenizer, _target(model)
    keep = set(used_tokens(source, texts, min_count, all_characters))
    answer: Json = dict(getattr(model.network.config, "niwaki_answer", None) or {})
    if target is not None:
        if not shares_vocabulary(model.anatomy):
            raise InputError(
                "vocabulary: a model with a decoder of its own tokens is trimmed by the method 'vocabulary' of a recipe; take an encoder, or BART, mBART, Marian or T5"
            )
        keep |= set(used_tokens(target, targets, min_count, all_characters))
        keep |= {answer[key] for key in TOKEN_KEYS if answer.get(key) is not None}
        keep |= set(answer.get("suppress_tokens", ()))
    chosen = sorted(number for number in keep if number < model.anatomy.tokens.num_embeddings)
    model.apply_edit(Vocabulary(keep=chosen))
    model.tokenizer = trimmed(model.tokenizer, chosen)
    if target is not None:
        model.network.config.niwaki_answer = renumbered(answer, {old: new for new, old in enumerate(chosen)})
        model.sibling_files[TARGET] = trim(target, chosen).to_str().encode()
    return model


def _target(model: Model) -> Tokenizer | None:
    """The tokenizer of generated texts."""
    found = model.sibling_files.get(TARGET)
    return None if found is None else Tokenizer.from_str(found.decode())


def renumbered(answer: Json, new_number: Mapping[int, int]) -> Json:
    """The settings of an answer type with the ids of the trimmed vocabulary."""
    ids = {key: new_number[answer[key]] for key in TOKEN_KEYS if answer.get(key) is not None}
    never = [new_number[token] for token in answer.get("suppress_tokens", ())]
    return {**answer, **ids, **({"suppress_tokens": never} if "suppress_tokens" in answer else {})}
