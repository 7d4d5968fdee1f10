"""Reads preprocessor_config.json, which says what images go through before a network reads them, and makes one for a new network.

The files are those of transformers' image processors, by allow-list. No torch and no transformers here: deployments use it too.
"""

from collections.abc import Mapping
from pathlib import Path

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside
from niwaki.data.image_preprocessor import BILINEAR, PREPROCESSOR, ImagePreprocessor
from niwaki.data.pixels import PixelScale
from niwaki.models.config_rules import CONFIG, MAX_BYTES
from niwaki.models.family import family_of
from niwaki.models.value_rules import sides

PROCESSORS = {"vit": "ViTImageProcessor", "deit": "DeiTImageProcessor"}
FILTERS = range(6)  # numbers of Pillow's filters
HALF = (0.5,)


def preprocessor_for(config: Mapping[str, object]) -> ImagePreprocessor:
    """For a network that is new: bytes to numbers from -1 to 1."""
    image, channels = sides(_size_of(config, "image_size", 224)), _channels(config)
    scale = PixelScale(1 / 255, HALF * channels, HALF * channels)
    return ImagePreprocessor(
        channels,
        image,
        None,
        tokens_of(config),
        scale,
        kind=PROCESSORS.get(str(config.get("model_type")), "ViTImageProcessor"),
    )


def tokens_of(config: Mapping[str, object]) -> int:
    """Special tokens and patches."""
    image, patch = sides(_size_of(config, "image_size", 224)), sides(_size_of(config, "patch_size", 16))
    special = len(family_of(str(config.get("niwaki_encoder") or config["model_type"])).inputs.other_tables) - 1
    return special + (image[0] // patch[0]) * (image[1] // patch[1])


def load_preprocessor(folder: Path, config: Mapping[str, object]) -> ImagePreprocessor:
    path = file_inside(folder, PREPROCESSOR)
    if not path.is_file():
        raise InputError(
            f"{folder}: has no {PREPROCESSOR}, which says what images go through; copy it from where the model was published"
        )
    values = strict_json.load(path, MAX_BYTES)
    if not isinstance(values, dict):
        raise InputError(f"{path}: must be a table")
    found = _read(values, config, path)
    if found.read_size != sides(_size_of(config, "image_size", 224)):
        raise InputError(
            f"{path}: makes images of {found.read_size}, and {CONFIG} has image_size {config.get('image_size')}"
        )
    return found


def _read(values: Json, config: Mapping[str, object], path: Path) -> ImagePreprocessor:
    channels, resized = _channels(config), values.get("do_resize", True)
    crops = bool(values.get("do_center_crop"))
    size = _sides(values.get("size", 224), f"{path}: size") if resized else sides(_size_of(config, "image_size", 224))
    crop = _sides(values.get("crop_size", 224), f"{path}: crop_size") if crops else None
    if crop is not None and (crop[0] > size[0] or crop[1] > size[1]):
        raise InputError(f"{path}: crop_size {crop} is larger than size {size}; niwaki does not pad images")
    factor = values.get("rescale_factor", 1 / 255) if values.get("do_rescale", True) else 1.0
    resample = values.get("resample", BILINEAR)
    if type(resample) is not int or resample not in FILTERS:
        raise InputError(
            f"{path}: resample must be the number of a filter, 0 to {len(FILTERS) - 1} (given: {resample!r:.40})"
        )
    normalized = values.get("do_normalize", True)
    mean = (
        _numbers(values.get("image_mean", [0.5] * channels), channels, path, "image_mean")
        if normalized
        else (0.0,) * channels
    )
    std = (
        _numbers(values.get("image_std", [0.5] * channels), channels, path, "image_std")
        if normalized
        else (1.0,) * channels
    )
    if min(std) <= 0 or isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor <= 1:
        raise InputError(f"{path}: image_std must be above 0, and rescale_factor from 0 to 1")
    kind = str(values.get("image_processor_type") or values.get("feature_extractor_type") or "ViTImageProcessor")
    kind = kind.replace("FeatureExtractor", "ImageProcessor")
    if not kind.isidentifier() or len(kind) > 60:
        raise InputError(f"{path}: image_processor_type must be the name of a class")
    return ImagePreprocessor(channels, size, crop, tokens_of(config), PixelScale(factor, mean, std), resample, kind)


def _sides(value: object, where: str) -> tuple[int, int]:
    """One number for both sides, or a table with `height` and `width`."""
    if isinstance(value, dict) and value.keys() >= {"height", "width"}:
        value = (value["height"], value["width"])
    both = value if isinstance(value, tuple) else (value, value)
    if not all(type(side) is int and 1 <= side <= 4096 for side in both):
        raise InputError(f"{where} must be a number of pixels, or height and width (given: {value!r:.60})")
    high, wide = both
    return int(high), int(wide)


def _numbers(value: object, count: int, path: Path, name: str) -> tuple[float, ...]:
    given = value if isinstance(value, list) else [value] * count
    numbers = [
        float(one) for one in given if isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < 1e6
    ]
    if len(given) != count or len(numbers) != count:
        raise InputError(f"{path}: {name} must be {count} numbers, one for each channel")
    return tuple(numbers)


def _size_of(config: Mapping[str, object], key: str, default: int) -> int | list[int]:
    """Checked by the family's `config_rules`."""
    found = config.get(key)
    return found if isinstance(found, int | list) else default


def _channels(config: Mapping[str, object]) -> int:
    found = config.get("num_channels")
    channels = found if isinstance(found, int) else 3
    if channels not in (1, 3):
        raise InputError(f"config: num_channels is {channels}; images are read as grey values (1) or RGB (3)")
    return channels
