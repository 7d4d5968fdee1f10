"""The search for texts: against all texts that there are, against values worked out by hand, and whatever lies next to a text."""

import functools
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from niwaki.answers._beam_search import (
    END,
    IMPOSSIBLE,
    NO_TOKEN,
    START,
    STRETCH,
    SearchSettings,
    _best,
    _permitted,
    beam_search,
)

SUBWORDS = 6


class DecodeStep:
    """An engine whose scores are a function of the text's name and of all that was written so far."""

    def __init__(self, scores, names, beam):
        self.scores, self.names = scores, list(names)
        self.before = [[()] * beam for _ in self.names]

    def __call__(self, tokens, parents, texts):
        self.names = [self.names[text] for text in texts]
        before = [self.before[text] for text in texts]
        self.before = [
            [old[parent] + (int(token),) for parent, token in zip(row, written, strict=True)]
            for old, row, written in zip(before, parents, tokens, strict=True)
        ]
        return np.array(
            [[self.scores(name, one) for one in row] for name, row in zip(self.names, self.before, strict=True)]
        )


@functools.cache
def drawn(name, before):
    """Logarithms of how likely each piece is, drawn anew for each text and all that was written."""
    draw = np.random.default_rng([name, *before])
    return np.log(draw.dirichlet(np.full(SUBWORDS, 0.7)) + 1e-9)


def search(scores, names=(0,), **how):
    found = SearchSettings(**how)
    return beam_search(DecodeStep(scores, names, found.beam), len(names), found)


def tokens(row):
    return [int(one) for one in row[1:] if one != NO_TOKEN]


def every_text(max_new_tokens, subwords):
    """All that can be written, with its end but where it is cut."""
    others = [piece for piece in subwords if piece != END]
    for length in range(max_new_tokens):
        yield from ([*text, END] for text in itertools.product(others, repeat=length))
    yield from (list(text) for text in itertools.product(others, repeat=max_new_tokens))


def likely(name, text):
    return sum(drawn(name, (START, *text[:place]))[piece] for place, piece in enumerate(text))


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0, 2.0])
def test_a_beam_as_wide_as_all_hypotheses_finds_the_best_text_of_all(length_penalty):
    names = range(4)
    found = search(drawn, names, beam=700, max_new_tokens=4, length_penalty=length_penalty, suppress_tokens=())
    for name, row in zip(names, found, strict=True):
        best = max(every_text(4, range(SUBWORDS)), key=lambda text: likely(name, text) / len(text) ** length_penalty)
        assert tokens(row) == [piece for piece in best if piece != END]
        assert row[0] == pytest.approx(likely(name, best), abs=1e-5)


def test_without_a_beam_the_likeliest_piece_is_taken_each_time():
    names = range(20)
    for name, row in zip(names, search(drawn, names, max_new_tokens=7, suppress_tokens=()), strict=True):
        wanted: list[int] = []
        while len(wanted) < 7:
            piece = int(drawn(name, (START, *wanted)).argmax())
            if piece == END:
                break
            wanted.append(piece)
        assert tokens(row) == wanted


@pytest.mark.parametrize("beam", [1, 3])
def test_a_text_is_written_as_if_it_were_alone(beam):
    names = list(range(12))
    together = search(drawn, names, beam=beam, max_new_tokens=6)
    alone = np.concatenate([search(drawn, [name], beam=beam, max_new_tokens=6) for name in names])
    assert np.array_equal(together, alone)
    assert np.array_equal(search(drawn, names[::-1], beam=beam, max_new_tokens=6), together[::-1])
    assert len({len(tokens(row)) for row in together}) > 2  # some end long before others


def test_a_wider_beam_finds_better_texts():
    means = [
        np.mean(search(drawn, range(40), beam=beam, max_new_tokens=6, length_penalty=0.0)[:, 0]) for beam in (1, 2, 8)
    ]
    assert means[0] < means[1] < means[2]


def fixed(**after):
    """Scores by hand: of what was written, as digits, which subwords may come next."""

    def scores(name, before):
        predicted = np.full(SUBWORDS, -20.0)
        for piece, value in after.get("_" + "".join(map(str, before[1:])), {END: -1.0}).items():
            predicted[piece] = value
        return predicted

    return scores


@pytest.mark.parametrize("length_penalty, wanted, score", [(0.0, [], -1.0), (1.0, [4], -1.5)])
def test_the_length_decides_by_the_penalty(length_penalty, wanted, score):
    """The empty text has −1 in 1 token; `4` has −0.6 − 0.9 in 2, a mean of −0.75."""
    scores = fixed(_={END: -1.0, 4: -0.6}, _4={END: -0.9})
    row = search(scores, beam=2, length_penalty=length_penalty, max_new_tokens=5)[0]
    assert (tokens(row), row[0]) == (wanted, pytest.approx(score))


def test_a_text_goes_on_while_it_may_beat_the_worst_of_the_beam():
    """With two that ended, worth −1 and −1.5, a third goes on from a mean of −1.2 and ends with one of −0.62; from one of −1.55 it
    is given up, though it would end with −0.8."""
    further = {"_44": {5: -0.02}, "_445": {END: -0.02}}
    scores = fixed(_={END: -1.0, 4: -1.2}, _4={END: -1.8, 4: -1.2}, **further)
    assert tokens(search(scores, beam=2, max_new_tokens=6)[0]) == [4, 4, 5]
    scores = fixed(_={END: -1.0, 4: -1.5}, _4={END: -1.5, 4: -1.6}, **further)
    assert tokens(search(scores, beam=2, max_new_tokens=6)[0]) == []


def test_ties_go_to_the_first_piece():
    for beam in (1, 2, 3):
        scores = fixed(_={4: -0.5, 5: -0.5, END: -9.0}, _4={END: -0.1}, _5={END: -0.1})
        assert tokens(search(scores, beam=beam, max_new_tokens=4)[0]) == [4]


def test_a_text_may_end_at_once():
    row = search(fixed(_={END: -0.01}), beam=3, max_new_tokens=4)[0]
    assert tokens(row) == [] and row[0] == pytest.approx(-0.01)


def test_endless_output_is_truncated():
    scores = fixed(**{"_" + "4" * length: {4: -0.1, END: -50.0} for length in range(9)})
    for beam in (1, 3):
        row = search(scores, beam=beam, max_new_tokens=5)[0]
        assert tokens(row) == [4] * 5 and row[0] == pytest.approx(-0.5, abs=1e-5)
        assert len(row) == 1 + 5


@pytest.mark.parametrize("beam", [1, 4])
def test_where_nothing_may_be_written_nothing_is_and_it_is_unlikely(beam):
    row = search(drawn, beam=beam, max_new_tokens=5, suppress_tokens=tuple(range(SUBWORDS)))[0]
    assert tokens(row) == [] and row[0] == np.float32(IMPOSSIBLE) and math.exp(row[0]) == 0


@pytest.mark.parametrize("beam", [1, 4])
def test_special_tokens_are_those_of_the_model(beam):
    """Start and end may be the same piece, as BART's are."""
    seen = []

    def scores(name, before):
        seen.append(before[0])
        return drawn(name, before)

    found = search(scores, range(30), beam=beam, max_new_tokens=6, start=3, end=3, suppress_tokens=(0, 5))
    written = {piece for row in found for piece in tokens(row)}
    assert set(seen) == {3} and written == {1, 2, 4}
    assert any(len(tokens(row)) < 6 for row in found)


class Longwinded:
    """Piece 4 may end at once; piece 5 only after another 5."""

    def start(self):
        return 0

    def allowed(self, state, room=None):
        found = np.zeros(SUBWORDS, dtype=bool)
        found[{0: [4, 5], 1: [END], 2: [5]}[state]] = True
        if state == 0 and room is not None and room < 3:
            found[5] = False
        return found

    def after(self, state, token):
        return {(0, 4): 1, (0, 5): 2, (2, 5): 1}.get((state, token))


@pytest.mark.parametrize("beam", [1, 2])
@pytest.mark.parametrize(("max_new_tokens", "wanted"), [(3, [5, 5]), (2, [4])])
def test_a_grammar_knows_how_much_room_is_left(beam, max_new_tokens, wanted):
    """The likelier beginning is taken where its end can still be written, and not where it could not."""
    likelier = np.log(np.array([0.02, 0.02, 0.02, 0.02, 0.02, 0.9]))
    row = search(
        lambda name, before: likelier,
        max_new_tokens=max_new_tokens,
        beam=beam,
        grammar=Longwinded(),
        length_penalty=0.0,
    )[0]
    assert tokens(row) == wanted


@pytest.mark.parametrize("count", [2, 5, 8])
def test_the_best_of_many_subwords_may_lie_anywhere(count):
    """One in each stretch that is looked at together, at its end and in what is left behind the last."""
    totals = np.random.default_rng(count).normal(size=(2, 2, 40 * STRETCH + 7)).astype(np.float32)
    flat = totals.reshape(2, -1)
    flat[0, STRETCH - 1 : STRETCH * count : STRETCH] += 50
    flat[1, -count:] += 50
    places, values = _best(totals, count)
    wanted = np.argsort(-flat, axis=1, kind="stable")[:, :count]
    assert np.array_equal(places, wanted) and np.array_equal(values, np.take_along_axis(flat, places, axis=1))


@pytest.mark.parametrize("beam", [1, 3])
def test_a_network_that_goes_astray_on_the_way_is_given_by_its_text_alone(beam):
    def scores(name, before):
        known = drawn(name, before)
        return known * np.nan if name == 1 and len(before) == 2 else known

    found, sound = search(scores, names=(0, 1, 2), beam=beam), search(drawn, names=(0, 1, 2), beam=beam)
    assert [math.isnan(row[0]) for row in found] == [False, True, False]
    np.testing.assert_array_equal(found[::2], sound[::2])


def test_renormalized_probabilities_are_those_of_the_tokens_that_remain():
    ahead = np.log(np.array([[[0.5, 0.2, 0.2, 0.1]]]))
    how = SearchSettings(suppress_tokens=(0,), renormalize=True)
    found = _permitted(ahead.copy(), None, how, 1)
    assert np.allclose(np.exp(found[0, 0, 1:]), [0.4, 0.4, 0.2]) and found[0, 0, 0] == IMPOSSIBLE
    assert np.allclose(_permitted(ahead.copy(), None, replace(how, renormalize=False), 1)[0, 0, 1:], ahead[0, 0, 1:])


def test_several_candidates_are_the_best_hypotheses_that_ended():
    """As wide as all hypotheses, the beam finds the best texts of all; the first is what a search for one finds."""
    whole = search(drawn, names=(1, 2), beam=64, max_new_tokens=3, candidates=4, suppress_tokens=())
    alone = search(drawn, names=(1, 2), beam=64, max_new_tokens=3, suppress_tokens=())
    assert whole.shape == (2, 4 * 4) and np.array_equal(whole[:, :4], alone)
    for row in whole.reshape(2, 4, 4):
        worth = [one[0] / min(3, 1 + sum(one[1:] != NO_TOKEN)) for one in row]
        assert worth == sorted(worth, reverse=True) and len({tuple(one) for one in row}) == 4
    assert SearchSettings(beam=5, candidates=5).greedy.candidates == 1


def test_missing_candidates_are_impossible():
    """Where only one text may end, the other places stay empty."""
    found = search(lambda name, before: np.log(np.eye(SUBWORDS)[END] + 1e-300), beam=2, max_new_tokens=1, candidates=2)
    assert found.shape == (1, 4) and tokens(found[0, :2]) == []
