"""The CNN student."""

import pytest
import torch

import tiny
from niwaki.methods.distill.cnn import Cnn
from niwaki.models.vectors import vectors_for

from .students import context


@pytest.mark.parametrize("how", ["read", "table"])
def test_vectors_come_from_the_teacher_or_the_start_model(how):
    start, teacher = tiny.model("bert", seed=1), tiny.model("bert", seed=2)
    for source, given in ((teacher, teacher), (start, None)):
        student = Cnn(width=8, vectors=how).prepare(start, context(given))
        wanted = vectors_for(start.tokenizer, source, how, 8)
        assert torch.equal(student.anatomy.tokens.weight, wanted)


@pytest.mark.parametrize("settings", [{"widths": []}, {"widths": [0]}, {"widths": [101]}, {"filters": 0}, {"width": 0}])
def test_impossible_settings_are_rejected(settings):
    with pytest.raises(ValueError, match="validation error"):
        Cnn(**settings)
