"""What a model that came to us writing writes with."""

import json

import pytest
from tokenizers import Tokenizer

import stock
import tiny
from niwaki.core.errors import InputError
from niwaki.models.target_tokenizer import load_target_tokenizer


def with_config(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return folder


@pytest.mark.parametrize("family, start, end, never", [("bart", 2, 2, [1]), ("marian", 12, 0, [12]), ("t5", 0, 1, [0])])
def test_special_tokens_and_vocabulary_are_its_own(family, start, end, never, tmp_path):
    found = load_target_tokenizer(stock.folder(family, tmp_path))
    assert found.special_tokens == {"start": start, "end": end, "suppress_tokens": never}
    assert found.longest == (None if family == "t5" else 40)
    target = Tokenizer.from_str(found.target.decode())
    assert target.get_vocab() == stock.tokenizer(family).get_vocab() and target.truncation is target.padding is None
    assert target.decode(target.encode("two FIVE").ids) == "two FIVE"


def test_an_encoder_has_none(tmp_path):
    tiny.model().save(tmp_path)
    assert load_target_tokenizer(tmp_path) is None


@pytest.mark.parametrize(
    "changes, fault",
    [
        (
            {"decoder_start_token_id": None},
            "decoder_start_token_id is None; a seq2seq model needs one of its 14 token ids for it",
        ),
        ({"decoder_start_token_id": 14}, "decoder_start_token_id is 14"),
        ({"eos_token_id": [2, 3]}, "eos_token_id is .*; a seq2seq model needs one of its"),
        ({"pad_token_id": -1}, "pad_token_id is -1"),
        ({"eos_token_id": "</s>"}, "'eos_token_id' is '</s>', which no model of these families has"),
    ],
)
def test_missing_special_tokens_are_rejected_in_one_line(changes, fault, tmp_path):
    with pytest.raises(InputError, match=fault) as caught:
        load_target_tokenizer(with_config(stock.folder("bart", tmp_path), **changes))
    assert "\n" not in str(caught.value)
