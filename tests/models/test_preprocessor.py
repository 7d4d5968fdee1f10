"""preprocessor_config.json: files as they are published, and files that are damaged or ask for what niwaki does not do."""

import json

import pytest

from niwaki.core.errors import InputError
from niwaki.models.preprocessor import load_preprocessor, preprocessor_for, tokens_of

CONFIG = {"model_type": "vit", "image_size": 224, "patch_size": 16, "num_channels": 3}
VIT = {
    "do_normalize": True,
    "do_resize": True,
    "image_mean": [0.5] * 3,
    "image_std": [0.5] * 3,
    "resample": 2,
    "size": 224,
}
DEIT = {
    "crop_size": 224,
    "do_center_crop": True,
    "feature_extractor_type": "DeiTFeatureExtractor",
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
    "resample": 3,
    "size": 256,
}  # of google/vit-base-patch16-224 and facebook/deit-base-distilled-patch16-224


def read(folder, values, config=CONFIG):
    (folder / "preprocessor_config.json").write_text(json.dumps(values))
    return load_preprocessor(folder, config)


def test_published_files_are_read_and_written(tmp_path):
    vit = read(tmp_path, VIT)
    assert (vit.size, vit.crop, vit.resample, vit.tokens) == ((224, 224), None, 2, 197)
    deit = read(tmp_path, DEIT, {**CONFIG, "model_type": "deit"})
    assert (deit.size, deit.crop, deit.resample, deit.tokens) == ((256, 256), (224, 224), 3, 198)
    assert deit.scale.mean == (0.485, 0.456, 0.406) and deit.kind == "DeiTImageProcessor"
    for one, kind in ((vit, "vit"), (deit, "deit")):
        assert read(tmp_path, one.to_json(), {**CONFIG, "model_type": kind}) == one


def test_a_new_network_reads_numbers_from_minus_1_to_1(tmp_path):
    config = {"model_type": "vit", "image_size": [6, 9], "patch_size": [2, 4], "num_channels": 1}
    new = preprocessor_for(config)
    assert new.read_size == (6, 9) and tokens_of(config) == 1 + 3 * 2
    assert new.scale(new([]).values).shape == (0, 1, 6, 9)
    new.save_pretrained(tmp_path)
    assert load_preprocessor(tmp_path, config) == new


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 200}, "makes images of .200, 200., and config.json has image_size 224"),
        ({"size": {"shortest_edge": 224}}, "size must be a number of pixels"),
        ({"size": 10**9}, "size must be a number of pixels"),
        ({"do_center_crop": True, "crop_size": 300}, "crop_size .300, 300. is larger"),
        ({"image_mean": [0.5]}, "image_mean must be 3 numbers"),
        ({"image_std": [0.5, 0, 0.5]}, "image_std must be above 0"),
        ({"rescale_factor": "a"}, "rescale_factor from 0 to 1"),
        ({"resample": 9}, "resample must be the number of a filter"),
        ({"image_processor_type": "../x"}, "must be the name of a class"),
    ],
    ids=str,
)
def test_other_settings_are_rejected(change, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, {**VIT, **change})


def test_a_folder_without_the_file_is_rejected(tmp_path):
    with pytest.raises(InputError, match=r"has no preprocessor_config\.json"):
        load_preprocessor(tmp_path, CONFIG)
