"""For all tests: one thread, no hub, no progress; and the tiny models and rows of `tiny.py` as fixtures."""

import gc
import os
import sys
import tempfile

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(
    prefix="niwaki-tests-"
)  # what is remembered of engines is not the user's
os.environ.update(
    OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false"
)  # before torch and transformers are imported

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each of a hundred processes compiles niwaki again

from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["costs"]
sys.dont_write_bytecode = False  # nor are the tests rewritten again in every worker of every run
settings.register_profile("niwaki", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("niwaki")
gc.disable()  # until the tests are collected: searching a million objects that stay for cycles takes a fifth of that time


def pytest_collection_finish() -> None:
    gc.freeze()  # modules and tests stay: collections need not search them
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _alone() -> None:
    """The machine is shared, and the order of sums must not change from test to test."""
    from niwaki.core import log

    log.quiet()
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(1)
    if "transformers" in sys.modules:
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No flushes: that files reach the disk is tested where files are written."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same BERT as in `bert_folder` without a task head, as after pretraining."""
    import tiny

    folder, model = tmp_path_factory.mktemp("encoder"), tiny.model("bert", ffn=256)
    model.network.base_model.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stock BERT checkpoint of 3 layers as a folder."""
    import tiny

    folder = tmp_path_factory.mktemp("bert")
    tiny.model("bert", ffn=256).save(folder)
    return folder


@pytest.fixture(scope="session")
def rows_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tiny

    return tiny.write_csv(tmp_path_factory.mktemp("rows") / "rows.csv")
