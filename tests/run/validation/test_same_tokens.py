"""Students and teachers that read different tokens are rejected where tokens are compared."""

import numpy as np
import pytest

import tiny
from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.validation.same_tokens import check_same_tokens
from niwaki.tokenization import trimming
from run.teaching import learner, split_otherwise


def test_different_tokenizers_are_rejected_where_layers_are_compared(recipe, tmp_path):
    """As soon as layers are compared; answers for whole texts may be given for any tokens."""
    stages = [split_otherwise(tmp_path / name, piece) for name, piece in (("one", "goo"), ("other", "##ood"))]
    for teacher, start in (("one", "teacher"), ("one", "other")):  # more tokens, and as many
        with pytest.raises(
            InputError, match="stage 'learner': student and teacher split the texts into different tokens"
        ):
            make_plan(recipe(*stages, learner(methods=[{"use": "tinybert"}], teacher=teacher, start=start)), "x")
        make_plan(recipe(*stages, learner(teacher=teacher, start=start)), "x")


def test_tokens_are_compared_by_text_and_not_by_id(tmp_path):
    """Token ids differ between trimmed vocabularies; other tokens of the same number do not match."""
    text, folders = "a good film ", [tmp_path / name for name in ("one", "other")]
    for folder, piece in zip(folders, ("goo", "##ood"), strict=True):
        split_otherwise(folder, piece)
    whole, one, other = tiny.model(), *(load_folder(folder) for folder in folders)
    trimmed = tiny.model()
    used = [number for piece, number in whole.tokenizer.get_vocab().items() if piece != "fine"]
    trimmed.tokenizer = trimming.trimmed(whole.tokenizer, sorted(used))

    def rows(model, text, most=99):
        ids = Ragged.of([model.tokenizer(text)["input_ids"][:most]])
        return EncodedInputs({"input_ids": ids, "token_type_ids": ids}, np.arange(1), [])

    assert rows(whole, text).ids.values.tolist() != rows(trimmed, text).ids.values.tolist()
    check_same_tokens("x", rows(trimmed, text), rows(whole, text), trimmed, whole, layers=True)
    assert len(rows(one, text).ids.values) == len(rows(other, text).ids.values)
    with pytest.raises(InputError, match="different tokens, so their layers cannot be compared"):
        check_same_tokens("x", rows(one, text), rows(other, text), one, other, layers=True)
    with pytest.raises(InputError, match="different tokens, so their answers for each token"):
        check_same_tokens("x", rows(one, text), rows(whole, text), one, whole, layers=False)
    limit = whole.anatomy.max_tokens
    with pytest.raises(
        InputError, match=rf"reads 92 tokens of a long text and its teacher {limit}, .*; set data\.max_tokens = {limit}"
    ):
        check_same_tokens("x", rows(whole, 30 * text), rows(whole, 30 * text, limit), whole, whole, layers=True)
