"""Tokenizers of folders without a tokenizer.json: ids and special tokens are those of transformers' classes."""

import json

import pytest
import transformers

import spm
from niwaki.core.errors import InputError
from niwaki.models.published_tokenizer import pair_tokenizer
from niwaki.models.saved_files import save_tokenizer
from niwaki.models.tokenizer_loading import load_tokenizer, plain_tokenizer

CONFIG = {"model_type": "bert", "max_position_embeddings": 64}


def folder_of(path, name, data, kind="", **settings):
    (path / name).write_bytes(data)
    if kind:
        settings["tokenizer_class"] = kind
    (path / "tokenizer_config.json").write_text(json.dumps(settings))
    return path


def tokens(tokenizer, *texts):
    return tokenizer.convert_ids_to_tokens(tokenizer(*texts).input_ids)


def test_xlm_roberta_has_four_special_tokens_first_and_the_mask_last(tmp_path):
    folder = folder_of(tmp_path, "sentencepiece.bpe.model", spm.model(), "XLMRobertaTokenizerFast", model_max_length=40)
    found = load_tokenizer(folder, {**CONFIG, "model_type": "roberta"})
    assert found.convert_ids_to_tokens([0, 1, 2, 3, 4]) == ["<s>", "<pad>", "</s>", "<unk>", "▁"]
    assert found.mask_token_id == len(found) - 1 == len(spm.UNIGRAM_TOKENS) + 4 and found.model_max_length == 40
    assert tokens(found, "the é film") == ["<s>", "▁the", "▁", "<unk>", "▁film", "</s>"]
    assert tokens(found, "the", "good<mask>") == ["<s>", "▁the", "</s>", "</s>", "▁good", "<mask>", "</s>"]


def test_t5_has_sentinels_behind_the_vocabulary(tmp_path):
    special = [("<pad>", 0.0, spm.CONTROL), ("</s>", 0.0, spm.CONTROL), ("<unk>", 0.0, spm.UNKNOWN)]
    folder = folder_of(tmp_path, "spiece.model", spm.model(special=special), "T5Tokenizer", extra_ids=3)
    found = load_tokenizer(folder, {"model_type": "t5"})
    size = 3 + len(spm.UNIGRAM_TOKENS)
    assert found.convert_tokens_to_ids(["<extra_id_2>", "<extra_id_1>", "<extra_id_0>"]) == [size, size + 1, size + 2]
    assert tokens(found, "film <extra_id_0> the") == ["▁film", "▁", "<extra_id_0>", "▁the", "</s>"] or tokens(
        found, "film <extra_id_0> the"
    ) == ["▁film", "<extra_id_0>", "▁the", "</s>"]


def albert(tmp_path, **settings):
    special = [
        ("<pad>", 0.0, spm.CONTROL),
        ("<unk>", 0.0, spm.UNKNOWN),
        *((f"[{name}]", 0.0, spm.CONTROL) for name in ("CLS", "SEP", "MASK")),
    ]
    listed = [*spm.UNIGRAM_TOKENS, ("9", -8.0, spm.NORMAL), ("▁9,", -2.0, spm.NORMAL), ("É", -9.0, spm.NORMAL)]
    folder = folder_of(tmp_path, "spiece.model", spm.model(listed, special=special), **settings)
    return load_tokenizer(folder, {"model_type": "albert"})


def test_albert_lowers_case_and_parts_numbers_from_commas(tmp_path):
    found = albert(tmp_path)
    assert tokens(found, "The FILM was É, 9,") == [
        "[CLS]",
        "▁the",
        "▁film",
        "▁was",
        "▁",
        "e",
        ",",
        "▁",
        "9",
        ",",
        "[SEP]",
    ]
    assert found.backend_tokenizer.encode("a", "a").type_ids == [0, 0, 0, 1, 1]


def test_settings_of_the_file_are_applied(tmp_path):
    found = albert(
        tmp_path,
        do_lower_case=False,
        keep_accents=True,
        cls_token={"content": "[CLS]", "lstrip": True, "__type": "AddedToken"},
    )
    assert tokens(found, "É") == ["[CLS]", "▁", "É", "[SEP]"]


def test_a_class_without_rules_has_the_ids_of_the_file(tmp_path):
    data = spm.model(spm.BPE_TOKENS, spm.BPE, byte_fallback=True, normalizer=spm.whole(4, 0))
    folder = folder_of(tmp_path, "tokenizer.model", data, bos_token="<s>", eos_token="</s>")
    found = load_tokenizer(folder, {"model_type": "averaging"})
    assert found.bos_token_id == 1 and found("the é").input_ids[-2:] == [
        len(spm.BPE_TOKENS) + 3 + 0xC3,
        len(spm.BPE_TOKENS) + 3 + 0xA9,
    ]


def test_saved_it_is_a_tokenizer_json_with_the_same_ids(tmp_path):
    folder = folder_of(tmp_path, "sentencepiece.bpe.model", spm.model(), "XLMRobertaTokenizer")
    found = load_tokenizer(folder, {**CONFIG, "model_type": "roberta"})
    saved = tmp_path / "saved"
    saved.mkdir()
    save_tokenizer(found, saved, {**CONFIG, "model_type": "roberta"})
    again, theirs = load_tokenizer(saved, {"model_type": "roberta"}), transformers.AutoTokenizer.from_pretrained(saved)
    plain = plain_tokenizer(saved, {"model_type": "roberta"})
    for text in spm.TEXTS:
        ids = found(text).input_ids
        assert ids == again(text).input_ids == theirs(text).input_ids == plain.encode(text).ids


@pytest.mark.parametrize("kind", ["ByT5Tokenizer", pytest.param("CanineTokenizer", marks=pytest.mark.slow)])
def test_bytes_and_characters_are_those_of_transformers(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("niwaki.models.published_tokenizer.character_tokenizer", few_characters)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 30}))
    theirs = getattr(transformers, kind)()
    found = load_tokenizer(tmp_path, {"model_type": "bert", "tokenizer_class": kind})
    for text in ("", "a", "été", " two  spaces ", "日本\n"):
        assert found(text).input_ids == theirs.build_inputs_with_special_tokens(
            theirs.encode(text, add_special_tokens=False)
        )
        assert found(text, "b").input_ids == theirs(text, "b").input_ids
    assert found.pad_token_id == theirs.pad_token_id and found.eos_token == theirs.eos_token


def few_characters(id_of, special_tokens):
    """The table of all characters takes seconds; `tests/tokenization` has it."""
    import niwaki.tokenization.byte_and_character as module

    whole = module.CODE_POINTS
    module.CODE_POINTS = 0x10000
    try:
        return module.character_tokenizer(id_of, special_tokens)
    finally:
        module.CODE_POINTS = whole


# ── two models with one vocabulary ──────────────────────────────────────────────────────────────────────────────────

VOCABULARY = ["</s>", "<unk>", "▁film", "▁the", "▁", *spm.LETTERS[1:], ">>fr<<", "élan", "<pad>"]


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "source.spm").write_bytes(spm.model())
    (tmp_path / "target.spm").write_bytes(spm.model([*spm.UNIGRAM_TOKENS, ("élan", -2.0, spm.NORMAL)]))
    table = {text: number for number, text in enumerate(VOCABULARY)}
    (tmp_path / "vocab.json").write_text(json.dumps(table))
    (tmp_path / "tokenizer_config.json").write_text('{"source_lang": "en", "target_lang": "fr"}')
    return tmp_path


def test_source_and_target_have_the_ids_of_one_table(pair):
    found, target = load_tokenizer(pair, {"model_type": "marian"}), pair_tokenizer(pair, "target.spm")
    assert tokens(found, "the film") == tokens(target, "the film") == ["▁the", "▁film", "</s>"]
    assert tokens(target, "élan") == ["▁", "élan", "</s>"]
    assert found("the").input_ids == [3, 0] and found.pad_token_id == len(VOCABULARY) - 1
    assert tokens(found, ">>fr<< film") == [">>fr<<", "▁film", "</s>"]
    assert target.decode([3, 2, 0], skip_special_tokens=True) == "the film"


@pytest.mark.parametrize(
    "name, content, fault",
    [
        ("vocab.json", "[]", "must be a table from tokens to their ids"),
        ("vocab.json", '{"a": -1}', "must be a table from tokens to their ids"),
        ("vocab.json", '{"</s>": 0, "<unk>": 2}', "must be the numbers from 0 to 1"),
        ("vocab.json", '{"</s>": 0, "<unk>": 1}', "has no token '<pad>'"),
        ("source.spm", "damaged", "no SentencePiece model"),
    ],
)
def test_files_that_do_not_fit_are_rejected_in_one_line(pair, name, content, fault):
    (pair / name).write_text(content)
    with pytest.raises(InputError, match=fault) as caught:
        load_tokenizer(pair, {"model_type": "marian"})
    assert "\n" not in str(caught.value)


def test_a_bpe_model_of_a_pair_is_rejected(pair):
    (pair / "source.spm").write_bytes(spm.model(spm.BPE_TOKENS, spm.BPE))
    with pytest.raises(InputError, match="must be unigram models"):
        load_tokenizer(pair, {"model_type": "marian"})
