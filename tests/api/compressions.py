"""A model as transformers saves it, and compressions of it that measure little."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny
from run import small

TEXTS = [text for text, _ in tiny.sentences(60)]


def stock_folder(folder: Path, layers: int = 2) -> Path:
    model = tiny.model("bert", layers=layers, ffn=128)
    model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


def measure_little() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        small.measure_little(patch)
        patch.setattr("niwaki.run.race.SHORT_TEXTS", 8)
        patch.setattr("niwaki.run.race.SHORT_SINGLES", 1)
        patch.setattr(os, "fsync", lambda handle: None)
        yield
