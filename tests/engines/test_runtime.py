"""What engines inherit."""

import numpy as np
import pytest

from niwaki.answers._answer_type import EncodedInputs
from niwaki.data.ragged import Ragged
from niwaki.engines.exits import PaddedBatch
from niwaki.engines.runtime import BATCH_ROWS, BATCH_TOKENS, EarlyExitRuntime, Runtime


class Sums(Runtime):
    """The sum of each text's token ids, or each id by itself."""

    per_token = False

    def logits(self, arrays):
        ids = arrays["input_ids"] * arrays["attention_mask"]
        return ids[..., None].astype(np.float32) if self.per_token else ids.sum(axis=1, keepdims=True)


@pytest.fixture
def encoded():
    starts = np.array([0, 2, 3, 6])
    ids = Ragged(np.array([1, 2, 3, 4, 5, 6], np.int32), starts)
    types = Ragged(np.zeros(6, np.uint8), starts)
    return EncodedInputs({"input_ids": ids, "token_type_ids": types}, np.arange(3), [])


def test_sequences_are_padded_for_the_engine(encoded, tmp_path):
    assert Sums(tmp_path, 1).run(encoded, np.array([0, 2]), pad_id=9).tolist() == [[3], [15]]


def test_logits_of_padding_are_left_out(encoded, tmp_path):
    engine = Sums(tmp_path, 1)
    engine.per_token = True
    assert engine.run(encoded, np.array([1, 2]), pad_id=9)[:, 0].tolist() == [3, 4, 5, 6]


def test_batches_hold_similar_lengths_and_few_tokens(tmp_path):
    lengths = np.random.default_rng(0).integers(1, 300, 500)
    batches = Sums(tmp_path, 1).batches(lengths)
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    for rows in batches:
        assert len(rows) <= BATCH_ROWS
        assert len(rows) == 1 or len(rows) * lengths[rows].max() <= BATCH_TOKENS


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    assert Sums.missing_requirement() is None and Sums.unsupported_reason(tmp_path) is None
    monkeypatch.setattr(Sums, "package", "openvino")
    monkeypatch.setattr("niwaki.core.extras.find_spec", lambda name: None)
    monkeypatch.setattr(Sums, "__module__", "niwaki.engines.runtimes.sums")
    reason = Sums.unsupported_reason(tmp_path)
    assert reason.startswith("sums engine: ") and 'pip install "niwaki[openvino]"' in reason


def test_generation_names_engines_that_run_it(tmp_path):
    assert Runtime.generation_unsupported(tmp_path) == (
        f"{tmp_path}: the network generates text token by token, which this engine does not run; use onnx or torch"
    )


def test_an_engine_without_logits_is_none(tmp_path):
    with pytest.raises(NotImplementedError):
        Runtime(tmp_path, 1).logits({})
    with pytest.raises(NotImplementedError):
        EarlyExitRuntime(tmp_path, 1).run_layers(PaddedBatch({}), 0, [])


def test_layer_ranges_start_with_padded_sequences(encoded, tmp_path):
    batch = EarlyExitRuntime(tmp_path, 1).start_layers(encoded, np.array([0, 1]), pad_id=7)
    assert isinstance(batch, PaddedBatch)
    assert batch.arrays["input_ids"].tolist() == [[1, 2], [3, 7]]
    assert batch.arrays["attention_mask"].tolist() == [[1, 1], [1, 0]]
