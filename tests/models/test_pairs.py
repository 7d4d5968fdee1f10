"""Pairs of texts as two sequences: splitting by hand, and the tokenizer that keeps texts apart."""

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import tiny
from niwaki.models.pairs import reads_token_types, split_pairs, with_separate_texts

IDS = torch.tensor([[2, 7, 8, 3, 2, 9, 3, 0], [2, 7, 3, 2, 5, 6, 8, 3], [2, 5, 3, 0, 0, 0, 0, 0]])
TYPES = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1, 1], [0] * 8])


def test_pairs_are_split_and_a_single_text_counts_twice():
    mask = torch.tensor([[1] * 7 + [0], [1] * 8, [1] * 3 + [0] * 5])
    found = split_pairs({"input_ids": IDS, "attention_mask": mask, "token_type_ids": TYPES})
    rows = [ids[real.bool()].tolist() for ids, real in zip(found["input_ids"], found["attention_mask"], strict=True)]
    assert rows == [[2, 7, 8, 3], [2, 7, 3], [2, 5, 3], [2, 9, 3], [2, 5, 6, 8, 3], [2, 5, 3]]
    assert found["input_ids"].shape == (6, 5) and not found["token_type_ids"].any()


def test_a_skeleton_splits_rows_in_halves():
    inputs = {
        name: torch.ones(3, 9, dtype=torch.long, device="meta")
        for name in ("input_ids", "attention_mask", "token_type_ids")
    }
    assert {tuple(value.shape) for value in split_pairs(inputs).values()} == {(6, 5)}


def random_texts(draw: torch.Generator) -> tuple[str, str]:
    words = [*tiny.GOOD, *tiny.PLAIN]
    counts = torch.randint(1, 9, (2,), generator=draw).tolist()
    first, second = (torch.randint(len(words), (count,), generator=draw).tolist() for count in counts)
    return " ".join(words[place] for place in first), " ".join(words[place] for place in second)


def byte_level() -> Tokenizer:
    """As RoBERTa's, whose pairs have two separators between the texts and no token types."""
    vocabulary = {
        "<s>": 0,
        "<pad>": 1,
        "</s>": 2,
        **{letter: 3 + place for place, letter in enumerate("Ġabcdefghijklmnopqrstuvwxyz")},
    }
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


@pytest.mark.parametrize(
    "tokenizer", [tiny.tokenizer().backend_tokenizer, byte_level()], ids=["wordpiece", "byte level"]
)
def test_both_texts_are_encoded_as_single_texts(tokenizer):
    separate, draw = with_separate_texts(tokenizer), torch.Generator().manual_seed(0)
    for first, second in (random_texts(draw) for _ in range(20)):
        pair, alone = separate.encode(first, second), [tokenizer.encode(text).ids for text in (first, second)]
        assert pair.ids == alone[0] + alone[1]
        assert pair.type_ids == [0] * len(alone[0]) + [1] * len(alone[1])
        assert separate.encode(first).ids == alone[0]


def test_padding_of_a_published_tokenizer_is_no_special_token():
    padding = Tokenizer.from_str(tiny.tokenizer().backend_tokenizer.to_str())
    padding.enable_padding(length=30, pad_id=0, pad_token="[PAD]")
    separate = with_separate_texts(padding)
    separate.no_padding()
    assert separate.encode("a good film", "fine").tokens == [
        "[CLS]",
        "a",
        "good",
        "film",
        "[SEP]",
        "[CLS]",
        "fine",
        "[SEP]",
    ]


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_token_types_are_read_by_the_families_that_have_them(family):
    anatomy = tiny.model(family).anatomy
    assert reads_token_types(anatomy) == anatomy.family.inputs.uses_token_types
