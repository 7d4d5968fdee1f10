"""Seq2seq models and their sibling files: a grammar that never ends, missing tokens, graphs of other models."""

import json

import onnx

from hostile.sound import TEXT, write


def _spoilt(sound, folder):
    model = sound.copy("seq2seq", folder)
    return model, ["predict", str(model), TEXT]


def _with_rules(sound, folder, rules):
    model, command = _spoilt(sound, folder)
    write(model / "grammar.json", {"format": 1, "rules": rules})
    return command


def _row(backwards):
    """Rules that each ask for one other, so that how near the end is becomes known from the last to the first."""
    numbers = [*range(1, 950)][:: -1 if backwards else 1]
    then = dict(zip([0, *numbers], [*numbers, "[EOS]"], strict=True))
    return [[[["w0"], [*["w0"] * 50, then[number]]]] for number in range(950)]


def a_long_row_of_rules_and_a_symbol_of_no_token(sound, folder):
    rules = _row(backwards=False)
    rules[7][0][0].append("; rm -rf /")
    return _with_rules(sound, folder, rules)


def a_long_row_of_rules_in_reverse(sound, folder):
    rules = _row(backwards=True)
    rules[7][0][0].append("; rm -rf /")
    return _with_rules(sound, folder, rules)


def a_rule_that_is_not_there(sound, folder):
    return _with_rules(sound, folder, [[[["w0"], [10**6, "[EOS]"]]]])


def a_symbol_of_no_token(sound, folder):
    return _with_rules(sound, folder, [[[["; rm -rf /"], ["[EOS]"]]]])


def an_end_in_the_middle(sound, folder):
    return _with_rules(sound, folder, [[[["w0"], ["[EOS]", "w1", "[EOS]"]]]])


def rules_nested_without_end(sound, folder):
    model, command = _spoilt(sound, folder)
    (model / "grammar.json").write_text('{"format": 1, "rules": ' + "[" * 100_000 + "]" * 100_000 + "}")
    return command


def a_number_of_four_hundred_digits(sound, folder):
    model, command = _spoilt(sound, folder)
    (model / "grammar.json").write_text('{"format": 1, "rules": [[[["w0"], [' + "9" * 400 + "]]]]}")
    return command


def tokens_split_by_a_pattern_that_never_ends(sound, folder):
    model, command = _spoilt(sound, folder)
    values = json.loads((model / "target.json").read_text())
    write(
        model / "target.json",
        {
            **values,
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"Regex": "(\\w+)+$"},
                "behavior": "Isolated",
                "invert": False,
            },
        },
    )
    return command


def special_tokens_beyond_the_vocabulary(sound, folder):
    model, command = _spoilt(sound, folder)
    values = json.loads((model / "config.json").read_text())
    values["niwaki_answer"]["end"] = 10**6
    write(model / "config.json", values)
    return command


def a_decoder_that_reads_another_file(sound, folder):
    model, command = _spoilt(sound, folder)
    graph = onnx.load(str(model / "decoder.onnx"), load_external_data=False)
    for tensor in graph.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = "../../etc/passwd"
    (model / "decoder.onnx").write_bytes(graph.SerializeToString())
    return command
