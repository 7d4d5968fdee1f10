"""DeiT: two special tokens before the patches. What holds for all families of images: test_vit.py."""

import tiny

TINY = {"image_size": [10, 8], "patch_size": 4, "num_channels": 1}


def test_a_second_special_token_comes_before_the_patches():
    model = tiny.model("deit")
    batch = tiny.batch(model, count=2)
    assert model.anatomy.inputs.max_tokens == 2 + 2 * 2 == model.tokenizer.tokens
    assert model.anatomy.inputs.forward(batch.inputs).shape == (2, 6, 32)
    assert batch.inputs["pixel_values"].shape == (2, 1, 10, 8)
