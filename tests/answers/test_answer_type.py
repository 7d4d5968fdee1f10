"""What all kinds share: texts to tokens as the tokenizer itself would, in chunks; inputs that are none are rejected."""

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.answers import ANSWERS, _answer_type
from niwaki.answers._answer_type import AnswerType, EncodedInputsBuilder, check_inputs, softmax, with_truncation
from niwaki.answers._images import ImageInputs
from niwaki.answers.choice import Choice
from niwaki.answers.label import Label
from niwaki.answers.span import Span
from niwaki.answers.tags import Tags
from niwaki.core.errors import InputError, UsageError

TOKENIZER = tiny.tokenizer()
INNER = tiny.tokenizer().backend_tokenizer  # another one: a call of theirs leaves its truncation behind
WORDS = some.lists(some.sampled_from([*tiny.GOOD, *tiny.PLAIN, "unlovely", "Ärger", "日本", "x."]), max_size=14)
TEXTS = WORDS.map(" ".join)


def lists(ragged):
    return [ragged[row].tolist() for row in range(len(ragged))]


@given(texts=some.lists(TEXTS, max_size=9), most=some.integers(8, 20))
def test_single_texts_are_encoded_as_transformers_does(texts, most):
    rows = Label().encode(texts, INNER, most)
    theirs = TOKENIZER(texts, truncation=True, max_length=most) if texts else {"input_ids": [], "token_type_ids": []}
    assert lists(rows.ids) == theirs["input_ids"] and lists(rows.types) == theirs["token_type_ids"]
    assert rows.input_index.tolist() == list(range(len(texts))) and len(rows) == rows.inputs == len(texts)


@given(pairs=some.lists(some.tuples(TEXTS, TEXTS), min_size=1, max_size=9), most=some.integers(8, 20))
def test_pairs_are_encoded_as_transformers_does(pairs, most):
    rows = Label().encode(iter(pairs), INNER, most)
    first, second = (list(column) for column in zip(*pairs, strict=True))
    theirs = TOKENIZER(first, second, truncation="longest_first", max_length=most)
    assert lists(rows.ids) == theirs["input_ids"] and lists(rows.types) == theirs["token_type_ids"]


def test_pairs_lose_from_the_longer_text_and_texts_from_their_end():
    cls, sep, film, plot, end = (INNER.token_to_id(piece) for piece in ("[CLS]", "[SEP]", "film", "plot", "end"))
    rows = Label().encode([("film " * 20, "plot plot"), ("film", "plot " * 20)], INNER, 10)
    assert lists(rows.ids) == [[cls, *[film] * 5, sep, plot, plot, sep], [cls, film, sep, *[plot] * 6, sep]]
    assert lists(rows.types) == [[0] * 7 + [1] * 3, [0] * 3 + [1] * 7]
    assert lists(Label().encode(["end " + "film " * 20], INNER, 8).ids) == [[cls, end, *[film] * 5, sep]]


def test_the_callers_tokenizer_stays_as_it_was():
    tokenizer = tiny.tokenizer().backend_tokenizer
    tokenizer.enable_padding(length=50)
    tokenizer.enable_truncation(5)
    assert Label().encode(["film " * 20, "plot"], tokenizer, 8).ids.lengths.tolist() == [8, 3]
    assert tokenizer.padding["length"] == 50 and tokenizer.truncation["max_length"] == 5
    fitting = with_truncation(tokenizer, 8)
    assert with_truncation(fitting, 8) is fitting  # a predictor copies once and not at every call
    assert with_truncation(fitting, 9) is not fitting and fitting.truncation["max_length"] == 8


INPUTS = {
    "label": ["good film", "bad", ("a plot", "an end")] * 3,
    "choice": [("the film", ["was good", "is bad"]), ("a", ["b", "c c c"])] * 4,
    "tags": [["good", "film"], ["unlovely"], ["film"] * 30] * 3,
    "roles": [["good", "film"], (["un", "film"] * 30, 31), ["film"] * 40, (["unlovely"], 0)] * 3,
    "span": [("is it good", "the film " * 40), ("what", "it was a plot")] * 4,
}


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("chunk", [1, 2, 5])
def test_borders_of_chunks_do_not_show(monkeypatch, name, chunk):
    kind = ANSWERS.load(name, AnswerType)()
    whole = kind.encode(INPUTS[name], INNER, 32)
    monkeypatch.setattr(_answer_type, "CHUNK", chunk)
    parts = kind.encode(iter(INPUTS[name]), INNER, 32)
    assert lists(parts.ids) == lists(whole.ids) and lists(parts.types) == lists(whole.types)
    assert parts.input_index.tolist() == whole.input_index.tolist() and parts.group == whole.group
    assert repr(parts.metadata) == repr(whole.metadata) and parts.inputs == len(INPUTS[name])


@pytest.mark.parametrize("name", INPUTS)
def test_joined_rows_are_those_of_all_inputs(name):
    kind = ANSWERS.load(name, AnswerType)()
    whole = kind.encode(INPUTS[name], INNER, 32)
    both = kind.encode(INPUTS[name][:3], INNER, 32).joined(kind.encode(INPUTS[name][3:], INNER, 32))
    assert lists(both.ids) == lists(whole.ids) and both.input_index.tolist() == whole.input_index.tolist()
    assert repr(both.metadata) == repr(whole.metadata) and len(both) == len(whole)


@pytest.mark.parametrize("name", ANSWERS.names())
def test_no_inputs_no_answers(name):
    kind = ANSWERS.load(name, AnswerType)()
    reader = tiny.model("vit").tokenizer if isinstance(kind, ImageInputs) else INNER
    rows = kind.encode([], reader, 32)
    assert len(rows) == rows.inputs == len(rows.metadata) == 0
    assert kind.values(np.zeros((0, 2), dtype=np.float32), rows, [], ["a", "b"]) == []
    assert kind.answers(np.zeros((0, 2), dtype=np.float32), rows, [], ["a", "b"]) == []


def test_sequences_of_rows_in_groups():
    rows = Choice().encode([("a", ["b", "c", "d"])] * 4, INNER, 16)
    assert len(rows) == 4 and rows.group == 3
    assert rows.sequences([2, 0]).tolist() == [6, 7, 8, 0, 1, 2]


def test_owners_count_on_from_what_was_added_before():
    writer = EncodedInputsBuilder()
    encodings = INNER.encode_batch(["a", "b", "c"])
    writer.add(encodings, [0, 0, 1], ["x", "y", "z"])
    writer.add([])
    writer.add(encodings[:1], None, ["w"])
    built = writer.done()
    assert built.input_index.tolist() == [0, 0, 1, 2] and built.metadata == ["x", "y", "z", "w"] and built.inputs == 3


@pytest.mark.parametrize(
    "kind, given, built",
    [
        (Label(), "a film", "a film"),
        (Label(), ("a film",), "a film"),
        (Label(), ["a", "b"], ("a", "b")),
        (Tags(), "Bob's film.", ["Bob", "'", "s", "film", "."]),
        (Tags(), ["New York", "is"], ["New York", "is"]),
        (Tags(), ("a", "b", "c"), ["a", "b", "c"]),
        (Span(), ["who?", "Bob."], ("who?", "Bob.")),
        (Choice(), ("a", ("b", "c")), ("a", ["b", "c"])),
    ],
)
def test_inputs_of_users_as_encode_takes_them(kind, given, built):
    assert check_inputs(kind, [given]) == [built]


@pytest.mark.parametrize("kind", [Label(), Tags(), Span(), Choice()])
@pytest.mark.parametrize("given", [None, 5, 1.5, b"film", [1, 2], ("a", None), ("a", "b", 3)])
def test_inputs_of_the_wrong_type_are_rejected(kind, given):
    with pytest.raises(
        UsageError, match=rf"^texts\.1: must be {kind.input_description} \(given: {type(given).__name__}\)$"
    ):
        check_inputs(kind, [("a", ["b", "c"]) if isinstance(kind, Choice) else ("a", "b"), given])


@pytest.mark.parametrize(
    "kind, given",
    [
        *((Label(), given) for given in ("", " \n\t", ("a", ""), ("", "a"), ("\u3000",))),
        *((Tags(), given) for given in ("", "  ", [], ["a", " "])),
        *((Span(), given) for given in (("", "a"), ("a", "\n"))),
        *((Choice(), given) for given in (("", ["a", "b"]), ("a", ["b", " "]))),
    ],
)
def test_empty_inputs_are_rejected_by_number(kind, given):
    with pytest.raises(InputError, match=r"^texts\.0: is empty; leave it out"):
        check_inputs(kind, [given])


@pytest.mark.parametrize(
    "kind, given",
    [
        (Span(), "a question alone"),
        (Choice(), ("a", "b")),
        (Choice(), ("a", ["b"])),
        (Choice(), ("a", 5)),
        (Label(), ()),
    ],
)
def test_parts_that_are_missing_are_named(kind, given):
    with pytest.raises(UsageError, match="must be"):
        check_inputs(kind, [given])


def test_lines_of_the_command_line():
    assert Label().from_line("a film") == "a film" and Label().from_line("a\tb") == ("a", "b")
    assert Choice().from_line("a\tb\tc") == ("a", ["b", "c"])
    assert Tags().from_line("a\tb") == "a\tb"  # one sentence, whatever is in it
    assert check_inputs(Span(), [Span().from_line("who?\tBob.")]) == [("who?", "Bob.")]


@given(some.lists(some.lists(some.floats(-1e4, 1e4, width=32), min_size=3, max_size=3), max_size=6))
def test_softmax_is_scipys(rows):
    logits = np.array(rows, dtype=np.float32).reshape(-1, 3)
    np.testing.assert_allclose(softmax(logits), scipy.special.softmax(logits.astype(np.float64), axis=1), atol=1e-12)
