"""Settings for all tests (one thread, no network, no progress bars), and fixtures with tiny models and rows."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator

# tests neither read nor change the user's cache, for instance which engine was the fastest
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="niwaki-tests-")
os.environ.update(
    OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false"
)  # before torch and transformers are imported

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # without bytecode, each new process would compile niwaki again

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["costs"]
sys.dont_write_bytecode = False  # cache the tests with rewritten asserts for the next run
# no limit on wall time: other programs may use the machine
settings.register_profile(
    "niwaki", deadline=None, max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("niwaki")
gc.disable()  # during collection: garbage collection would take a fifth of that time


def pytest_collection_finish() -> None:
    gc.freeze()  # modules and tests live until the end, so later collections skip them
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _single_thread() -> None:
    """One thread, because the machine is shared and because the order of sums must not change between runs."""
    from niwaki.core import log

    log.quiet()
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(1)
    if "transformers" in sys.modules:
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()


@pytest.fixture(scope="session", autouse=True)
def _trace_once() -> Iterator[None]:
    """For tests of the exporter, tests/engines/conftest.py takes this back."""
    if "torch" not in sys.modules:
        yield
        return
    import traces

    with traces.traced_once():
        yield


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skips `fsync`. That files are flushed is tested in tests/core/test_files.py."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The BERT of `bert_folder` without a task head, like a pretrained model."""
    import tiny

    folder, model = tmp_path_factory.mktemp("encoder"), tiny.model("bert", ffn=256)
    model.network.base_model.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a standard BERT checkpoint with 3 layers."""
    import tiny

    folder = tmp_path_factory.mktemp("bert")
    tiny.model("bert", ffn=256).save(folder)
    return folder


@pytest.fixture(scope="session")
def rows_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tiny

    return tiny.write_csv(tmp_path_factory.mktemp("rows") / "rows.csv")
