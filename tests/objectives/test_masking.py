"""Masks by their definitions: shares, whole words, spans, and what replaces tokens; the same for the same generator."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.models.forward import Batch
from niwaki.objectives._masking import MaskingSettings, Vocabulary, mask_batch, masked_places, word_beginnings, words_of

MODEL = tiny.model("bert", layers=1, head="MaskedLM", labels=[])
VOCABULARY = Vocabulary.of(MODEL)
TOKENIZER = MODEL.tokenizer
CLS, SEP, MASK, PAD = (getattr(TOKENIZER, f"{name}_token_id") for name in ("cls", "sep", "mask", "pad"))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random_batch(rows=64, longest=62, seed=0):
    """Random words between special tokens, of different lengths."""
    draw = np.random.default_rng(seed)
    lengths = draw.integers(5, longest + 1, rows)
    mask = np.arange(longest) < lengths[:, None]
    ids = np.where(mask, draw.choice(VOCABULARY.ordinary, mask.shape), PAD)
    ids[:, 0] = CLS
    ids[np.arange(rows), lengths - 1] = SEP
    inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask.astype(np.int64))}
    return Batch(inputs, torch.full((rows,), -100), torch.arange(rows))


@pytest.mark.parametrize("rate", [0.15, 0.4])
def test_each_sequence_has_its_share_of_predicted_tokens(rate):
    batch = random_batch()
    noisy, chosen = mask_batch(batch, VOCABULARY, MaskingSettings(rate=rate), generator())
    free = batch.mask.sum(1) - 2
    assert chosen.sum(1).tolist() == [max(1, round(rate * int(count))) for count in free]
    ids = batch.inputs["input_ids"]
    assert not chosen[(ids == CLS) | (ids == SEP) | ~batch.mask.bool()].any()
    assert torch.equal(noisy[~chosen], ids[~chosen])


@pytest.mark.parametrize("unit", ["token", "word", "span"])
def test_eighty_ten_ten(unit):
    masked = noise = total = 0
    for seed in range(20):
        batch = random_batch(seed=seed)
        noisy, chosen = mask_batch(batch, VOCABULARY, MaskingSettings(unit=unit, rate=0.3), generator(seed))
        before, after = batch.inputs["input_ids"][chosen], noisy[chosen]
        masked, total = masked + int((after == MASK).sum()), total + len(after)
        noise += int(((after != MASK) & (after != before)).sum())
    tolerance = 0.05 if unit == "span" else 0.02
    assert masked / total == pytest.approx(0.8, abs=tolerance) and noise / total == pytest.approx(0.1, abs=tolerance)


def test_random_tokens_are_never_special():
    settings = MaskingSettings(rate=0.5, masked=0.0, random=1.0)
    noisy, chosen = mask_batch(random_batch(), VOCABULARY, settings, generator())
    assert not np.isin(noisy[chosen].numpy(), TOKENIZER.all_special_ids).any()
    assert len(noisy[chosen].unique()) > len(VOCABULARY.ordinary) / 2


def test_masks_follow_from_the_generator_alone():
    batch, settings = random_batch(), MaskingSettings(unit="span")
    first, second, other = (mask_batch(batch, VOCABULARY, settings, generator(seed)) for seed in (1, 1, 2))
    assert all(map(torch.equal, first, second)) and not torch.equal(first[1], other[1])


def test_static_masks_follow_from_the_row_alone():
    batch, settings = random_batch(), MaskingSettings(dynamic=False)
    first, second = (mask_batch(batch, VOCABULARY, settings, generator(seed)) for seed in (1, 2))
    assert all(map(torch.equal, first, second))
    turned = Batch({name: array.flip(0) for name, array in batch.inputs.items()}, batch.targets, batch.rows.flip(0))
    assert torch.equal(mask_batch(turned, VOCABULARY, settings, generator(3))[0].flip(0), first[0])


def test_words_are_masked_as_a_whole():
    ids = np.array(TOKENIZER("the filmly plot was unly dull goodly film")["input_ids"])
    words = words_of(ids, np.arange(1, len(ids) - 1), VOCABULARY)
    tokens = [TOKENIZER.convert_ids_to_tokens(ids[word].tolist()) for word in words]
    assert tokens == [
        ["the"],
        ["film", "##ly"],
        ["plot"],
        ["was"],
        ["un", "##ly"],
        ["dull"],
        ["good", "##ly"],
        ["film"],
    ]
    whole = {tuple(word) for word in words}
    for seed in range(20):
        found = masked_places(ids, VOCABULARY, MaskingSettings(unit="word", rate=0.4), np.random.default_rng(seed))
        assert {tuple(unit) for unit in found} <= whole
        assert 3 <= sum(map(len, found)) <= round(0.4 * 11)


def test_spans_have_clipped_geometric_lengths_and_do_not_overlap():
    ids = np.array([CLS, *[TOKENIZER.convert_tokens_to_ids("film")] * 4000, SEP])
    lengths = []
    for seed in range(5):
        found = masked_places(ids, VOCABULARY, MaskingSettings(unit="span"), np.random.default_rng(seed))
        places = np.concatenate(found)
        assert len(set(places.tolist())) == len(places) == round(0.15 * 4000)
        assert all(np.array_equal(unit, np.arange(unit[0], unit[0] + len(unit))) for unit in found)
        lengths += [len(unit) for unit in found]
    p = 0.2  # spans that would reach beyond the budget or into others are drawn again, which favours short ones a little
    clipped = sum(k * p * (1 - p) ** (k - 1) for k in range(1, 10)) + 10 * (1 - p) ** 9
    assert clipped == pytest.approx(4.46, abs=0.01)
    assert np.mean(lengths) == pytest.approx(clipped, rel=0.1) and max(lengths) == 10


def test_a_sequence_of_one_long_word_still_has_a_predicted_token():
    ids = np.array(TOKENIZER("goodlyly")["input_ids"])
    found = masked_places(ids, VOCABULARY, MaskingSettings(unit="word"), np.random.default_rng(0))
    assert [unit.tolist() for unit in found] == [[1, 2, 3]]


def test_a_sequence_without_text_has_none():
    assert masked_places(np.array([CLS, SEP]), VOCABULARY, MaskingSettings(), np.random.default_rng(0)) == []


def test_words_of_byte_level_tokens_begin_at_spaces_and_signs():
    begins, splits = word_beginnings(["Ġthe", "re", "Ġ", ",", "Ċ", "The", "'t"])
    assert begins.tolist() == [True, False, True, True, True, False, True]
    assert splits.tolist() == [False, False, True, True, True, False, False]
