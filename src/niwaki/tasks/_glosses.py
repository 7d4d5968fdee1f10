"""Glosses as vectors: what a frozen pretrained encoder makes of them, computed once and kept by content, then reduced.

The key of what is kept is a hash of the encoder's files and of the texts, so stages, seeds and runs share it, and nothing
that has changed is taken for what it was. It is stored with the user's other caches ($XDG_CACHE_HOME/niwaki/glosses).
"""

import uuid
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from niwaki.answers.label import Label
from niwaki.core import log
from niwaki.core.files import fingerprint, sha256, user_cache
from niwaki.data.batching import sorted_batches
from niwaki.models.cpu_features import has_bf16
from niwaki.models.forward import Batch, forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.record import HIDDEN
from niwaki.models.sources import locate

WORDS = "words"  # instead of an encoder: TF-IDF of the words
VERSION = 1  # raised when the same files and texts give other vectors
MOST_TOKENS, BATCH, BATCH_TOKENS = 64, 128, 4096
FILES = ("model.safetensors", "config.json", "blueprint.json", "tokenizer.json", "vocab.txt")


def text_of(lemmas: Sequence[str], gloss: str) -> str:
    """As an encoder reads a synset: its lemmas, then definition and examples."""
    return f"{', '.join(lemma.replace('_', ' ') for lemma in lemmas)}: {gloss}"


def encoder_digest(name: str) -> str:
    """Names an encoder by its files."""
    if name == WORDS:
        return WORDS
    folder = locate(name)
    return fingerprint({file: sha256(folder / file) for file in FILES if (folder / file).is_file()})


def encoded(name: str, texts: Sequence[str]) -> np.ndarray:
    """(texts, width) float32, each of length 1; from the cache where they were made before."""
    if name == WORDS:
        return by_words(texts)
    path = cache_folder() / f"{fingerprint([VERSION, encoder_digest(name), fingerprint(list(texts))])[:32]}.npy"
    cached = _read(path, len(texts))
    if cached is not None:
        return cached.astype(np.float32)
    vectors = by_encoder(locate(name), texts)
    _write(path, vectors.astype(np.float16))
    return vectors.astype(np.float16).astype(np.float32)  # the same whether it was made now or before


def cache_folder() -> Path:
    return user_cache() / "glosses"


@torch.no_grad()
def by_encoder(folder: Path, texts: Sequence[str]) -> np.ndarray:
    """The mean of the last hidden states over a text's tokens, brought to length 1."""
    model = load_folder(folder, Head(["any"]))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network, anatomy = model.network.to(device).eval(), model.anatomy
    rows = Label().encode(texts, model.tokenizer.backend_tokenizer, min(MOST_TOKENS, anatomy.max_tokens))
    found = np.empty((len(texts), anatomy.hidden_size), dtype=np.float32)
    done = 0
    with log.progress("glosses", len(texts)) as update, torch.autocast(device.type, torch.bfloat16, enabled=has_bf16()):
        for chosen in sorted_batches(rows.ids.lengths, BATCH, BATCH_TOKENS):
            ids, mask = rows.ids.padded(chosen, int(network.config.pad_token_id or 0))
            inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask.astype(np.int64))}
            batch = Batch({key: value.to(device) for key, value in inputs.items()}, torch.zeros(0), torch.zeros(0))
            hidden = forward(anatomy, batch, frozenset({HIDDEN})).hidden[-1].float()
            real = batch.mask[..., None].float()  # (batch, tokens, 1)
            found[chosen] = ((hidden * real).sum(dim=1) / real.sum(dim=1)).cpu().numpy()
            done += len(chosen)
            update(done, "")
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-6)


def by_words(texts: Sequence[str], most: int = 384) -> np.ndarray:
    """Without an encoder: the words of the glosses, weighed and reduced (latent semantic analysis)."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    counted = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b").fit_transform(texts)
    size = min(most, counted.shape[1] - 1, counted.shape[0] - 1)
    if size < 1:
        return counted.toarray().astype(np.float32)
    found = TruncatedSVD(size, random_state=0).fit_transform(counted).astype(np.float32)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-6)


def smoothed(vectors: np.ndarray, above: Sequence[Sequence[int]], share: float) -> np.ndarray:
    """Each with a share of the mean of those above it (hypernyms, by number), brought to length 1 again."""
    if not share:
        return vectors
    mixed = vectors.copy()
    for number, others in enumerate(above):
        if others:
            mixed[number] += share * vectors[list(others)].mean(axis=0)
    return mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-6)


def reduced(vectors: np.ndarray, dimensions: int) -> np.ndarray:
    """(n, dimensions): centred, along the directions of most variance, of length 1 in the mean; zeros where there are fewer
    directions. The sign of a direction is that of its largest part, so that it is the same everywhere."""
    centred = (vectors - vectors.mean(axis=0)).astype(np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)  # the smallest first
    axes = axes[:, ::-1][:, :dimensions]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    found = centred @ axes
    found = np.pad(found, ((0, 0), (0, dimensions - found.shape[1])))
    return (found / max(float(np.sqrt((found**2).sum(axis=1).mean())), 1e-9)).astype(np.float32)


def _read(path: Path, count: int) -> np.ndarray | None:
    """What is kept; nothing where it cannot be read or is not whole, then it is made again."""
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return found if found.ndim == 2 and len(found) == count and np.isfinite(found).all() else None


def _write(path: Path, vectors: np.ndarray) -> None:
    temporary = path.with_name(f".{path.name}.tmp-{uuid.uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            np.save(file, vectors, allow_pickle=False)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)  # a home that cannot be written to costs the same work at every start
