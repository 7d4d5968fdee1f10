"""Tokenizers of models that were published without a tokenizer.json and that transformers does not read without further packages.

| files | tokenizer |
|---|---|
| spiece.model and other names | a SentencePiece model |
| source.spm, target.spm, vocab.json | two SentencePiece models, for reading and for generating, with one vocabulary |
| none | bytes or characters |

transformers' class says which ids the tokens get, which special tokens there are and what a text begins and ends with.
The SentencePiece file says how texts are normalized and split. The result is a tokenizer.json, which deployments run.
"""

import json
from pathlib import Path

from tokenizers import AddedToken, Tokenizer
from tokenizers.processors import TemplateProcessing

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.family import family_of
from niwaki.models.tokenizer_settings import PAIR, SENTENCEPIECE, VOCABULARY, constructor_settings
from niwaki.models.value_rules import whole
from niwaki.tokenization import sentencepiece_tokenizer
from niwaki.tokenization.byte_and_character import byte_tokenizer, character_tokenizer
from niwaki.tokenization.sentencepiece_file import BPE, CONTROL, UNIGRAM, SentencePieceModel, read_model
from niwaki.tokenization.tokenizer_rules import MAX_BYTES, MAX_ID, MAX_VALUES, check
from niwaki.tokenization.trimming import PretrainedTokenizer, rebuilt

SOURCE, TARGET = PAIR
END, UNKNOWN, PADDING = "</s>", "<unk>", "<pad>"  # of two models with one vocabulary, unless the settings say otherwise
OWN_STEPS = {"Lowercase", "NFKD", "StripAccents"}  # of a class's normalizer, before SentencePiece's
COMMA_PENALTY = 100.0


def published_tokenizer(folder: Path, config: Json) -> PretrainedTokenizer:
    """A transformers tokenizer; None where transformers reads the files itself."""
    if is_pair(folder):
        return pair_tokenizer(folder, SOURCE)
    found = next((folder / name for name in SENTENCEPIECE if (folder / name).is_file()), None)
    kind = tokenizer_class(folder, config)
    if found is not None:
        return sentencepiece_based(read_model(found), kind, constructor_settings(folder), config)
    if kind is not None and not (kind.vocab_files_names or hasattr(kind, "backend_tokenizer")):
        return without_vocabulary(kind(**constructor_settings(folder)))
    return None


def is_pair(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (*PAIR, VOCABULARY))


def tokenizer_class(folder: Path, config: Json) -> PretrainedTokenizer:
    """transformers' class for the folder, or None for one without rules of its own."""
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

    named = constructor_settings(folder, only=("tokenizer_class",)).get("tokenizer_class") or config.get(
        "tokenizer_class"
    )
    names = [str(named).removesuffix("Fast"), TOKENIZER_MAPPING_NAMES.get(str(config.get("model_type")))]
    for name in names:
        kind = tokenizer_class_from_name(name) if name and not name.startswith("PreTrained") else None
        if kind is not None and kind.__name__ != "TokenizersBackend":
            return kind
    return None


# ── one SentencePiece model ─────────────────────────────────────────────────────────────────────────────────────────


def sentencepiece_based(
    model: SentencePieceModel, kind: PretrainedTokenizer, settings: Json, config: Json
) -> PretrainedTokenizer:
    base = _base(model, kind, settings)
    values = json.loads(base.backend_tokenizer.to_str())
    by_id = sorted(base.get_vocab(), key=base.get_vocab().get)[: base.backend_tokenizer.get_vocab_size(False)]
    values["model"] = _model(model, by_id, base, family_of(str(config["model_type"])).inputs.splits_number_commas)
    own = [step for step in _steps(values["normalizer"], "normalizers") if _is_own(step)]
    values["normalizer"] = sentencepiece_tokenizer.normalizer(model, own)
    split = [step for step in _steps(values["pre_tokenizer"], "pretokenizers") if step["type"] == "Punctuation"]
    metaspace = sentencepiece_tokenizer.metaspace(model)
    values["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*split, metaspace]} if split else metaspace
    values["decoder"] = sentencepiece_tokenizer.decoder(model)
    check(values, "tokenizer")
    inner = Tokenizer.from_str(json.dumps(values))
    control = [
        token.text for token in model.tokens if token.kind == CONTROL and inner.token_to_id(token.text) is not None
    ]
    inner.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in control])
    if base.cls_token and base.sep_token and not base.num_special_tokens_to_add():
        inner.post_processor = _bert_template(base)  # which some classes lose
    return rebuilt(base, inner)


def _base(model: SentencePieceModel, kind: PretrainedTokenizer, settings: Json) -> PretrainedTokenizer:
    """The class with the tokens under its ids, and its special tokens."""
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import SLOW_TO_FAST_CONVERTERS

    if kind is None:
        inner = Tokenizer.from_str(json.dumps(sentencepiece_tokenizer.tokenizer_of(model)))
        return PreTrainedTokenizerFast(
            tokenizer_object=inner, **{"unk_token": model.tokens[model.unknown].text, **settings}
        )
    scores = [(token.text, token.score) for token in model.tokens]
    layout = getattr(SLOW_TO_FAST_CONVERTERS.get(kind.__name__), "convert_from_spm", None)
    given = layout(vocab=scores, **settings) if layout else {**settings, "vocab": scores}
    if kind.model is not None and kind.model.__name__ == "BPE":
        given = {**given, "vocab": {text: number for number, (text, _) in enumerate(given["vocab"])}, "merges": []}
    return kind(**given)


def _bert_template(base: PretrainedTokenizer) -> TemplateProcessing:
    first, last = str(base.cls_token), str(base.sep_token)
    ids = [(first, base.cls_token_id), (last, base.sep_token_id)]
    return TemplateProcessing(single=f"{first} $A {last}", pair=f"{first} $A {last} $B:1 {last}:1", special_tokens=ids)


def _model(model: SentencePieceModel, by_id: list[str], base: PretrainedTokenizer, splits_number_commas: bool) -> Json:
    """The model with the ids of the class. Tokens that only the class has are special ones, which are found before."""
    unknown = by_id.index(str(base.unk_token))
    if model.kind == BPE:
        return {
            **sentencepiece_tokenizer.vocabulary_model(model),
            "vocab": {text: number for number, text in enumerate(by_id)},
            "unk_token": by_id[unknown],
        }
    scores = dict(sentencepiece_tokenizer.token_scores(model))
    if splits_number_commas:
        scores = {text: score - COMMA_PENALTY * _ends_number(text) for text, score in scores.items()}
    listed = [(text, scores.get(text, sentencepiece_tokenizer.NEVER)) for text in by_id]
    return sentencepiece_tokenizer.unigram(listed, unknown, model.byte_fallback)


def _ends_number(text: str) -> bool:
    return len(text) > 1 and text[-1] == "," and text[-2].isdigit()


def _steps(value: Json | None, key: str) -> list[Json]:
    return [] if value is None else value.get(key, [value])


def _is_own(step: Json) -> bool:
    return step["type"] in OWN_STEPS or (step["type"] == "Replace" and "String" in step["pattern"])


# ── two SentencePiece models with one vocabulary ────────────────────────────────────────────────────────────────────


def pair_tokenizer(folder: Path, name: str) -> PretrainedTokenizer:
    """The tokenizer of what is read (`SOURCE`), or of what is generated (`TARGET`)."""
    from transformers import PreTrainedTokenizerFast

    model, vocabulary = read_model(folder / name), _vocabulary(folder / VOCABULARY)
    settings = {"eos_token": END, "unk_token": UNKNOWN, "pad_token": PADDING, **constructor_settings(folder)}
    named = [str(settings[key]) for key in ("eos_token", "unk_token", "pad_token")]
    for text in (*named, model.tokens[model.unknown].text):
        if text not in vocabulary:
            raise InputError(
                f"{folder / VOCABULARY}: has no token {text!r}, which {name} and tokenizer_config.json need"
            )
    if model.kind != UNIGRAM:
        raise InputError(f"{folder / name}: is a BPE model; two models with one vocabulary must be unigram models")
    values = sentencepiece_tokenizer.with_vocabulary(model, vocabulary)
    check(values, str(folder / name))
    inner = Tokenizer.from_str(json.dumps(values))
    inner.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in named])
    languages = [text for text in vocabulary if text.startswith(">>") and text.endswith("<<")]
    inner.add_tokens([AddedToken(text, normalized=False) for text in languages])
    end = (named[0], vocabulary[named[0]])
    inner.post_processor = TemplateProcessing(single=f"$A {end[0]}", pair=f"$A $B {end[0]}", special_tokens=[end])
    return PreTrainedTokenizerFast(tokenizer_object=inner, **{"model_max_length": 512, **settings})


def _vocabulary(path: Path) -> dict[str, int]:
    values = strict_json.load(path, MAX_BYTES, MAX_VALUES)
    if not isinstance(values, dict) or not all(map(whole(MAX_ID), values.values())):
        raise InputError(f"{path}: must be a table from tokens to their ids")
    if sorted(values.values()) != list(range(len(values))):
        raise InputError(f"{path}: its ids must be the numbers from 0 to {len(values) - 1}, each once")
    return values


# ── no vocabulary ───────────────────────────────────────────────────────────────────────────────────────────────────


def without_vocabulary(own: PretrainedTokenizer) -> PretrainedTokenizer:
    """A tokenizer of transformers that computes ids, as one that looks them up."""
    special_tokens = [(token, number) for number, token in own.added_tokens_decoder.items()]
    if len(own.tokenize("é")) == 2:
        inner = byte_tokenizer(own.convert_tokens_to_ids("\x01") - 1, special_tokens)
    else:
        inner = character_tokenizer(own.convert_tokens_to_ids, special_tokens)
    inner.post_processor = _template(own)
    return rebuilt(own, inner)


def _template(own: PretrainedTokenizer) -> TemplateProcessing:
    """What stands around a text and around two, as transformers' code puts it there."""
    name, text, pair = {number: token.content for number, token in own.added_tokens_decoder.items()}, -1, -2
    found = []
    for ids in (own.build_inputs_with_special_tokens([text]), own.build_inputs_with_special_tokens([text], [pair])):
        found.append([{text: "$A", pair: "$B"}.get(one) or name[one] for one in ids])
    used = {token for form in found for token in form} - {"$A", "$B"}
    ids_of = [(token, own.convert_tokens_to_ids(token)) for token in sorted(used)]
    return TemplateProcessing(single=found[0], pair=found[1], special_tokens=ids_of)
