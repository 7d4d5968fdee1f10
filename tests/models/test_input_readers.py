"""What encodes the inputs of a folder's model."""

import pytest

import tiny
from niwaki.data.image_preprocessor import ImagePreprocessor
from niwaki.models.input_readers import (
    encoder_of,
    load_reader,
    missing_reader_file,
    plain_reader,
    reads_images,
    save_reader,
)


@pytest.mark.parametrize("family", ["bert", "vit"])
def test_a_reader_is_saved_and_loaded(family, tmp_path):
    model = tiny.model(family)
    config = model.config()
    assert missing_reader_file(tmp_path, config).name == (
        "preprocessor_config.json" if family == "vit" else "tokenizer.json"
    )
    save_reader(model.tokenizer, tmp_path, config)
    assert missing_reader_file(tmp_path, config) is None
    assert (
        reads_images(config)
        == isinstance(encoder_of(load_reader(tmp_path, config)), ImagePreprocessor)
        == (family == "vit")
    )
    plain = plain_reader(tmp_path, config)
    if family == "vit":
        assert plain == model.tokenizer
    else:
        assert plain.encode("good film").ids == encoder_of(model.tokenizer).encode("good film").ids
