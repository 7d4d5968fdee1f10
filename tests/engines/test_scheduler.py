"""The scheduler: batches of similar length, results in the order of the inputs, checked shapes and values."""

from pathlib import Path

import numpy as np
import pytest

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.engines.runtime import Runtime
from niwaki.engines.scheduler import NotFinite, Scheduler

LENGTHS = (3, 40, 1, 17, 40, 2, 900, 5)


class SumOfIds(Runtime):
    """Logits of a text are the sum of its ids and its length; of a token, its id and 1."""

    per_token = False
    value = 1.0

    def logits(self, arrays):
        ids, mask = arrays["input_ids"], arrays["attention_mask"]
        assert set(arrays) == {"input_ids", "attention_mask", "token_type_ids"}
        if self.per_token:
            return np.stack([ids, mask], axis=-1).astype(np.float32)
        return np.stack([(ids * mask).sum(axis=1), mask.sum(axis=1)], axis=1).astype(np.float32) * self.value


@pytest.fixture
def encoded():
    ids = Ragged.of([number + 1] * length for number, length in enumerate(LENGTHS))
    types = Ragged.of([0] * length for length in LENGTHS)
    return EncodedInputs({"input_ids": ids, "token_type_ids": types}, np.arange(len(LENGTHS)), [])


@pytest.mark.parametrize("threads", [1, 3])
def test_logits_are_in_the_order_of_the_inputs(encoded, threads):
    logits = Scheduler(SumOfIds(Path("model"), threads), 99, 2, per_token=False).logits(encoded)
    assert logits.tolist() == [[(number + 1) * length, length] for number, length in enumerate(LENGTHS)]


def test_token_logits_have_no_padding(encoded):
    runtime = SumOfIds(Path("model"), 2)
    runtime.per_token = True
    logits = Scheduler(runtime, 99, 2, per_token=True).logits(encoded)
    assert logits[:, 0].tolist() == encoded.ids.values.tolist() and (logits[:, 1] == 1).all()


def test_logits_of_another_number_of_labels_are_rejected(encoded):
    with pytest.raises(InputError, match=r"model: its graph gives logits of shape \(\d+, 2\) instead of \(\d+, 3\)"):
        Scheduler(SumOfIds(Path("model"), 1), 0, 3, per_token=False).logits(encoded)


def test_logits_that_are_not_finite_are_rejected(encoded):
    runtime = SumOfIds(Path("model"), 1)
    runtime.value = float("nan")
    with pytest.raises(NotFinite, match="model: its logits are not finite"):
        Scheduler(runtime, 0, 2, per_token=False).logits(encoded)


def test_no_inputs_give_no_logits():
    nothing = Ragged.of([])
    encoded = EncodedInputs({"input_ids": nothing, "token_type_ids": nothing}, np.arange(0), [])
    assert Scheduler(SumOfIds(Path("model"), 1), 0, 2, per_token=False).logits(encoded).shape == (0, 2)
