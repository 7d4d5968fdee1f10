"""Tokenizers that never end, never fit, or make the library panic."""

import json

from hostile.sound import TEXT, write


def _with(sound, folder, **sections):
    model = sound.copy("model", folder)
    path = model / "tokenizer.json"
    write(path, {**json.loads(path.read_text()), **sections})
    return ["predict", str(model), TEXT]


def _with_model(sound, folder, **values):
    model = json.loads((sound.model / "tokenizer.json").read_text())["model"]
    return _with(sound, folder, model={**model, **values})


def a_pattern_that_never_ends(sound, folder):
    return _with(
        sound,
        folder,
        pre_tokenizer={"type": "Split", "pattern": {"Regex": "(\\w+)+$"}, "behavior": "Isolated", "invert": False},
    )


def replacements_that_fill_the_memory(sound, folder):
    grow = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 100}
    return _with(sound, folder, normalizer={"type": "Sequence", "normalizers": [grow] * 8})


def padding_to_a_billion(sound, folder):
    pad = {
        "strategy": {"Fixed": 10**9},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    return _with(sound, folder, padding=pad)


def parts_nested_without_end(sound, folder):
    part = {"type": "Lowercase"}
    for _ in range(200):
        part = {"type": "Sequence", "normalizers": [part]}
    return _with(sound, folder, normalizer=part)


def a_part_that_is_not_known(sound, folder):
    return _with(sound, folder, decoder={"type": "PythonCode", "source": "import os"})


def a_table_of_replacements_cut_short(sound, folder):
    return _with(sound, folder, normalizer={"type": "Precompiled", "precompiled_charsmap": "/////w=="})


def a_mark_without_an_id(sound, folder):
    places = [{"SpecialToken": {"id": "[EVIL]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    post = {"type": "TemplateProcessing", "single": places, "pair": places, "special_tokens": {}}
    return _with(sound, folder, post_processor=post)


def merges_of_missing_tokens(sound, folder):
    return _with(sound, folder, model={"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a c", "x y"]})


def an_id_beyond_all_tables(sound, folder):
    values = json.loads((sound.model / "tokenizer.json").read_text())["model"]
    return _with_model(sound, folder, vocab={**values["vocab"], "lovely": 4_294_967_295})


def no_piece_for_unknown_words(sound, folder):
    return _with_model(sound, folder, unk_token="[NOWHERE]")
