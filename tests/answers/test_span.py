"""Stretches of texts: windows as transformers makes them, offsets that lead back to the characters, the best stretch."""

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.answers.span import Span, best_span, shortened

from .tokens import noise, of_bytes

TOKENIZER = tiny.tokenizer()
INNER = tiny.tokenizer().backend_tokenizer  # another one: a call of theirs leaves its truncation behind
SUBWORDS = [
    "film",
    "Unlovely",
    "goods",
    "Ärger",
    "a\u0308rger",
    "日本語",
    "😀",
    "\n",
    "\t",
    "  ",
    "a-b",
    ".",
    "\u200b",
    "ﬁne",
]
TEXTS = some.lists(some.sampled_from(SUBWORDS), min_size=1, max_size=60).map(" ".join)
QUESTIONS = some.lists(some.sampled_from(["film", "is", "it", "日", "?"]), min_size=1, max_size=9).map(" ".join)


def plain(text):
    """As BERT's normalizer writes it."""
    marked = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in marked if unicodedata.category(letter) not in ("Mn", "Cf"))


@given(
    pairs=some.lists(some.tuples(QUESTIONS, TEXTS), min_size=1, max_size=4),
    most=some.integers(32, 60),
    stride=some.integers(0, 8),
)
def test_windows_are_transformers(pairs, most, stride):
    rows = Span(stride=stride).encode(pairs, INNER, most)
    questions, texts = (list(column) for column in zip(*pairs, strict=True))
    theirs = TOKENIZER(
        questions,
        texts,
        truncation="only_second",
        max_length=most,
        stride=stride,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    assert [rows.ids[row].tolist() for row in range(len(rows))] == theirs["input_ids"]
    assert [rows.types[row].tolist() for row in range(len(rows))] == theirs["token_type_ids"]
    assert rows.input_index.tolist() == theirs["overflow_to_sample_mapping"]
    for row, window in enumerate(rows.metadata):
        of_text = [place for place, part in enumerate(theirs.sequence_ids(row)) if part == 1]
        assert window.offsets.tolist() == [list(theirs["offset_mapping"][row][place]) for place in of_text]
        assert not of_text or window.first == of_text[0]


@given(question=QUESTIONS, text=TEXTS, most=some.integers(32, 60), stride=some.integers(0, 8))
def test_windows_cover_the_text_overlap_by_the_stride_and_lead_back_to_its_characters(question, text, most, stride):
    rows = Span(stride=stride).encode([(question, text)], INNER, most)
    whole = INNER.encode(text, add_special_tokens=False)
    seen = []
    for row, window in enumerate(rows.metadata):
        places = [tuple(place) for place in window.offsets.tolist()]
        if row:
            assert seen[len(seen) - stride :] == places[:stride]
            places = places[stride:]
        seen += places
        tokens = [INNER.id_to_token(int(number)) for number in rows.ids[row][window.first :]]
        for (start, end), token in zip(window.offsets, tokens, strict=False):
            assert token == "[UNK]" or plain(text[start:end]) == token.removeprefix("##")
    assert seen == whole.offsets


TEXT = (
    "Der Ärger begann 1999\nin 東京 😀 und ende\u0301te mit einem Film über naïve Leute, dann war Schluss. "
    + "film " * 60
)


@pytest.mark.parametrize(
    "answer", ["Ärger", "1999\nin 東京", "東京", "😀", "ende\u0301te", "naïve Leute", "Schluss", "Der"]
)
@pytest.mark.parametrize("tokenizer", [INNER, of_bytes()], ids=["subwords", "bytes"])
def test_a_network_that_points_at_an_answer_gives_its_characters(answer, tokenizer):
    start, end = TEXT.index(answer), TEXT.index(answer) + len(answer)
    kind = Span(stride=8, max_answer_tokens=60)
    rows = kind.encode([("wo ?", "film is film"), ("was war ?", TEXT)], tokenizer, 64)
    assert len(rows) > 3  # windows
    logits = np.zeros((len(rows.ids.values), 2), dtype=np.float32)
    for row, window in enumerate(rows.metadata):
        first = rows.ids.starts[row] + window.first
        if rows.input_index[row] == 1:
            for place, (begin, stop) in enumerate(window.offsets):
                logits[first + place, 0] = 9.0 if begin == start else 0.0
                logits[first + place, 1] = 9.0 if stop == end else 0.0
    _, predicted = kind.answers(logits, rows, [("wo ?", "film is film"), ("was war ?", TEXT)], [])
    assert (predicted.answer, predicted.start, predicted.end) == (answer, start, end) and predicted.margin == 18.0
    assert str(predicted) == answer


@given(
    scores=some.lists(some.tuples(some.integers(-9, 9), some.integers(-9, 9)), min_size=1, max_size=14),
    max_answer_tokens=some.integers(1, 16),
)
def test_the_best_stretch_is_that_of_brute_force(scores, max_answer_tokens):
    starts, ends = (np.array(column, dtype=np.float32) for column in zip(*scores, strict=True))
    every = [
        (starts[i] + ends[j], i, j)
        for i in range(len(starts))
        for j in range(i, min(i + max_answer_tokens, len(starts)))
    ]
    first, last, score = best_span(starts, ends, max_answer_tokens)
    assert score == max(total for total, _, _ in every) and (score, first, last) in every


def one_window(start, end, none):
    """Logits for `[CLS] is it [SEP] good film end [SEP]`: what start and end say of the three words, and of none."""
    rows = Span().encode([("is it", "good film end")], INNER, 32)
    logits = np.zeros((8, 2), dtype=np.float32)
    logits[0], logits[4:7, 0], logits[4:7, 1] = (none, 0.0), start, end
    logits[1:4], logits[7] = 50.0, 50.0  # question and marks cannot be the answer
    return logits, rows


def test_no_answer_by_hand():
    logits, rows = one_window([1, 3, 0], [0, 1, 2], none=6.5)  # film end: 5
    given = [("is it", "good film end")]
    (found,) = Span().answers(logits, rows, given, [])
    assert (found.answer, found.start, found.end, found.margin) == ("film end", 5, 13, -1.5)  # there is always one
    assert Span().values(np.zeros_like(logits), rows, given, []) == ["good"]  # of equals the first, and the shortest
    assert Span(max_answer_tokens=1).values(logits, rows, given, []) == ["film"]
    (found,) = Span(allow_no_answer=True).answers(logits, rows, given, [])
    assert (found.answer, found.start, found.end, found.margin) == ("", 0, 0, -1.5) and str(found) == "(no answer)"
    assert Span(allow_no_answer=True, threshold=1.5).values(logits, rows, given, []) == ["film end"]  # not by more than
    assert Span(allow_no_answer=True, threshold=1.25).values(logits, rows, given, []) == [""]
    assert Span(allow_no_answer=True, threshold=-2.0).values(
        *one_window([1, 3, 0], [0, 1, 2], none=4.0), given, []
    ) == [""]


def test_over_several_windows_the_best_stretch_and_the_lowest_score_of_none():
    text = "good film end " * 20
    given = [("who ?", text), ("who ?", "a plot")]
    rows = Span(stride=4).encode(given, INNER, 32)
    windows = int((rows.input_index == 0).sum())
    assert windows > 2
    logits = np.zeros((len(rows.ids.values), 2), dtype=np.float32)
    for row in range(len(rows)):
        logits[rows.ids.starts[row]] = [3.0, 2.0] if row == 1 else [9.0, 9.0]  # of the marks that mean none
    second = rows.metadata[2]
    place = rows.ids.starts[2] + second.first + 5
    logits[place, 0], logits[place + 1, 1] = 2.0, 4.0
    found, other = Span(stride=4).best_spans(logits, rows)
    assert (found.start, found.end) == (second.offsets[5, 0], second.offsets[6, 1])
    assert found.score == 6.0 and found.none == 5.0 and other.none == 18.0
    assert Span(stride=4, allow_no_answer=True).values(logits, rows, given, []) == [text[found.start : found.end], ""]


def test_texts_shorter_and_longer_than_a_window():
    rows = Span(stride=2).encode([("is it", "film " * 11), ("is it", "film " * 12), ("is it", "film " * 21)], INNER, 16)
    # [CLS] is it [SEP] … [SEP] leave 11; a further window brings 11 less the 2 it shares
    assert rows.input_index.tolist() == [0, 1, 1, 2, 2, 2]
    assert [len(window.offsets) for window in rows.metadata] == [11, 11, 3, 11, 11, 3]
    assert {window.first for window in rows.metadata} == {4}


def test_a_stride_too_large_for_the_window_is_built_smaller():
    rows = Span(stride=500).encode([("is it", "film " * 100)], INNER, 32)
    assert rows.metadata[0].offsets[-8:].tolist() == rows.metadata[1].offsets[:8].tolist()
    assert rows.metadata[0].offsets[-9].tolist() not in rows.metadata[1].offsets.tolist()


@pytest.mark.parametrize("tokenizer", [INNER, of_bytes()], ids=["subwords", "bytes"])
@pytest.mark.parametrize("word", ["film ", "unlovely", "日本語", "😀", "가", "\u200b "])
@pytest.mark.parametrize("count", [5, 15, 29, 200])
def test_a_long_question_leaves_half_of_the_window_to_the_text(tokenizer, word, count):
    text = " ".join(["a plot"] * 50)
    rows = Span().encode([(word * count, text)], tokenizer, 64)
    assert rows.ids.lengths.max() <= 64
    assert all(len(window.offsets) >= 30 for window in rows.metadata[:-1]) and len(rows) > 1
    assert rows.metadata[-1].offsets[-1, 1] == len(text)


def test_a_question_is_shortened_to_whole_characters_and_only_where_it_must_be():
    tokenizer = of_bytes()
    tokenizer.enable_truncation(12)  # two marks and a space leave 9 bytes
    assert shortened("日本語", tokenizer.encode("日本語")) == "日本語"
    assert shortened("日本語の", tokenizer.encode("日本語の")) == "日本語"
    assert shortened("a日本語", tokenizer.encode("a日本語")) == "a日本"  # 10 bytes: the last character is cut into
    tokenizer.enable_truncation(4)
    assert shortened("😀", tokenizer.encode("😀")) == "😀"  # never nothing


def test_a_text_that_has_no_token_has_no_answer():
    given = [("who ?", "\u200b"), ("who ?", "film")]
    rows = Span().encode(given, INNER, 32)
    first, second = Span().answers(noise(rows, 2), rows, given, [])
    assert first.answer == "" and second.answer == "film"


def test_how_sure_by_hand():
    """Stretches of good film end: 1, 2, 3 from the first word, 4 and 5 from the second, 2 of the last alone."""
    logits, rows = one_window([1, 3, 0], [0, 1, 2], none=6.5)
    given, every = [("is it", "good film end")], sum(math.exp(score) for score in (1, 2, 3, 4, 5, 2))
    none = math.exp(6.5)
    for kind, share in (
        (Span(), math.exp(5) / every),
        (Span(max_answer_tokens=1), math.exp(4) / sum(math.exp(score) for score in (1, 4, 2))),
        (Span(allow_no_answer=True), none / (every + none)),
        (Span(allow_no_answer=True, threshold=1.5), math.exp(5) / (every + none)),
    ):
        assert kind.confidence(logits, rows, given, []) == pytest.approx([share])


def test_how_sure_over_windows_is_the_share_of_all_their_stretches():
    given = [("who ?", "good film end " * 20), ("who ?", "\u200b")]
    rows = Span(stride=4).encode(given, INNER, 32)
    logits = noise(rows, 2)
    scores = []
    for row, window in enumerate(rows.metadata[:-1]):
        starts, ends = logits[rows.ids.starts[row] :][window.first : window.first + len(window.offsets)].T
        scores += [starts[i] + ends[j] for i in range(len(starts)) for j in range(i, min(i + 30, len(starts)))]
    found = Span(stride=4).confidence(logits, rows, given, [])
    assert found == pytest.approx(
        [np.exp(max(scores)) / np.exp(scores).sum(), 1.0], rel=1e-5
    )  # no token: nothing to doubt


@pytest.mark.parametrize("allow_no_answer", [False, True])
def test_a_text_without_a_token_has_no_answer_and_a_margin_that_json_can_write(allow_no_answer):
    kind, given = Span(allow_no_answer=allow_no_answer), [("who ?", "\u200b")]
    rows = kind.encode(given, INNER, 32)
    (found,) = kind.answers(noise(rows, 2), rows, given, [])
    assert (found.answer, found.start, found.end, found.margin) == ("", 0, 0, 0.0)
