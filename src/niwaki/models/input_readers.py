"""What a network reads decides what encodes its inputs: a tokenizer, or the preprocessor of images. Both lie in the model's folder."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside
from niwaki.data.image_preprocessor import PREPROCESSOR, ImagePreprocessor
from niwaki.models.family import family_of, is_known
from niwaki.models.preprocessor import load_preprocessor
from niwaki.models.tokenizer_settings import VOCABULARIES

TOKENIZER = "tokenizer.json"

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from niwaki.tokenization.trimming import PretrainedTokenizer


def reads_images(config: Json) -> bool:
    """Of an encoder with a decoder behind it, whether the encoder does."""
    kind = str(config.get("niwaki_encoder") or config.get("model_type"))
    return is_known(kind) and family_of(kind).inputs.reads == "images"


def missing_reader_file(folder: Path, config: Json) -> Path | None:
    """The file that a folder must have to encode inputs, where it is not there."""
    if not reads_images(config) and any(file_inside(folder, name).is_file() for name in VOCABULARIES):
        return None
    path = file_inside(folder, PREPROCESSOR if reads_images(config) else TOKENIZER)
    return None if path.is_file() else path


def load_reader(folder: Path, config: Json) -> "PretrainedTokenizer | ImagePreprocessor":
    """With all that training and saving need."""
    if reads_images(config):
        return load_preprocessor(folder, config)
    from niwaki.models.tokenizer_loading import load_tokenizer

    found: PretrainedTokenizer = load_tokenizer(folder, config)
    return found


def plain_reader(folder: Path, config: Json) -> "Tokenizer | ImagePreprocessor":
    """Only what encodes, which opens faster."""
    if reads_images(config):
        return load_preprocessor(folder, config)
    from niwaki.models.tokenizer_loading import plain_tokenizer

    return plain_tokenizer(folder, config)


def save_reader(reader: "PretrainedTokenizer | ImagePreprocessor", folder: Path, config: Json) -> None:
    if isinstance(reader, ImagePreprocessor):
        reader.save_pretrained(folder)
        return
    from niwaki.models.saved_files import save_tokenizer

    save_tokenizer(reader, folder, config)


def encoder_of(reader: "PretrainedTokenizer | ImagePreprocessor") -> "Tokenizer":
    """What an answer type encodes with."""
    return as_encoder(reader) if isinstance(reader, ImagePreprocessor) else reader.backend_tokenizer


def as_encoder(preprocessor: ImagePreprocessor) -> "Tokenizer":
    """As tasks and answer types hand it on: they call what encodes a tokenizer. Answer types for images take it."""
    return cast("Tokenizer", preprocessor)
