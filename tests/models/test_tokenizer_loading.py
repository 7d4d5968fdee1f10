"""Tokenizers of model folders."""

import json
import unicodedata
from collections.abc import Iterable

import pytest
from transformers.models.bert.tokenization_bert_legacy import BertTokenizerLegacy

from models.loading import rejected
from niwaki.models.tokenizer_loading import load_tokenizer


def test_missing_tokenizer_is_rejected(folder):
    (folder / "tokenizer.json").unlink()
    rejected(folder, "has no tokenizer.json")


def test_damaged_tokenizer_is_rejected(folder):
    (folder / "tokenizer.json").write_text('{"model": ')
    rejected(folder, "tokenizer.json: cannot be read")


TEXTS = (
    "The naïve café's owner – won't pay $3.50!",
    "Größe, Straße und Übermut; ÄÖÜ",
    "Ça coûte 3 €, n'est-ce pas ?",
    "Žluťoučký kůň úpěl ďábelské ódy",
    "İstanbul'da ılık bir gün",
    "Ελληνικά: Ὀδυσσεύς",
    "Съешь ещё этих мягких булок",
    "עִבְרִית שלום",
    "العربيّة، مرحبا؟",
    "हिन्दी में क्या है।",
    "ภาษาไทย ไม่มีช่องว่าง",
    "日本語のカタカナとガギグ、漢字。",
    "中文 BERT 模型，分开每个字",
    "한국어 문장입니다",
    "Tiếng Việt có dấu",
    "\u00a0x\u200by\u3000z \x00\t\x85.",
    "🙂👍🏽 xyzzy [MASK] 𝒳 𠀀",
)


def vocabulary_of(texts: Iterable[str]) -> list[str]:
    """Special tokens, characters with and without accents, and some longer tokens."""
    plain = [unicodedata.normalize("NFD", text) for text in (*texts, *map(str.lower, texts))]
    characters = sorted(
        {one for text in (*texts, *map(str.lower, texts), *plain) for one in text if one.isprintable() and one != " "}
    )
    longer = [
        "the",
        "The",
        "cafe",
        "café",
        "##fé",
        "##es",
        "##e\u0301",
        "коро",
        "한국",
        "##어",
        "bert",
        "BERT",
        "мяг",
        "##ких",
    ]
    special = ["[PAD]", *(f"[unused{number}]" for number in range(3)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    rare = set(characters[::29])  # not in the vocabulary: words with them are unknown
    return list(
        dict.fromkeys(
            [*special, *longer, *(sign + one for one in characters if one not in rare for sign in ("", "##"))]
        )
    )


@pytest.mark.parametrize("family", ["bert", "mobilebert"])
@pytest.mark.parametrize(
    "settings",
    [
        None,  # no tokenizer_config.json, as the first models were published: uncased
        {"do_lower_case": False, "model_max_length": 512},  # as mBERT's cased models
        {"do_lower_case": True, "strip_accents": False},
        {"do_lower_case": False, "tokenize_chinese_chars": False},
    ],
    ids=["no settings", "cased", "accents", "chinese words"],
)
def test_a_vocabulary_alone_gives_the_ids_of_bert_in_many_languages(tmp_path, family, settings):
    """Those of transformers' Python tokenizer, which shares no code with the library. It composes accents first (NFC), as they are in these
    texts; the library, and so AutoTokenizer, leaves them as they are."""
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary_of(TEXTS)) + "\n", encoding="utf-8")
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", **settings}))
    found = load_tokenizer(tmp_path, {"model_type": family})
    wanted = BertTokenizerLegacy(str(tmp_path / "vocab.txt"), **{"do_lower_case": True, **(settings or {})})
    for text in TEXTS:
        assert found(text).input_ids == wanted(text).input_ids, text
        ours, theirs = (one(text, TEXTS[0], return_token_type_ids=True) for one in (found, wanted))
        assert ours["token_type_ids"] == theirs["token_type_ids"], text
    known = [number for text in TEXTS for number in found(text).input_ids]
    assert 0 < known.count(found.unk_token_id) < len(known) / 4
