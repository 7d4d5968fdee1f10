"""Settings of tokenizers."""

import pytest

from niwaki.core.errors import InputError
from niwaki.models.tokenizer_settings import check_settings


@pytest.mark.parametrize(
    "values",
    [
        {"cls_token": ""},
        {"cls_token": {"content": "x", "evil": 1}},
        {"extra_special_tokens": [["a"]]},
        {"model_max_length": "inf"},
        {"tokenizer_class": "UnknownTokenizer"},
        {"do_lower_case": "yes"},
        {"vocab_file": "vocab.txt"},
        {"custom": {"a": 1}},
        {"note": "../up"},
        {"padding_side": "both"},
        {"fast_tokenizer_files": ["tokenizer.9.json"]},
        {"added_tokens_decoder": {"x": {"content": "a"}}},
    ],
    ids=lambda values: next(iter(values)),
)
def test_invalid_settings_are_rejected(values):
    with pytest.raises(InputError, match=next(iter(values))):
        check_settings(values, "tokenizer_config.json")
