"""Students without attention, as prepared from a start model."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.adapt.freeze import Freeze
from niwaki.methods.distill._network import count_texts
from niwaki.methods.distill.averaging import Averaging
from niwaki.methods.distill.bilstm import BiLstm
from niwaki.methods.distill.cnn import Cnn
from niwaki.methods.prune.ffn import Ffn
from niwaki.methods.prune.heads import Heads
from niwaki.models.skeleton import HEADS

from .students import STUDENTS, context


@pytest.mark.parametrize("family", ["bert", "mpnet", "distilbert", "cnn"])
@pytest.mark.parametrize("method", STUDENTS, ids=lambda method: type(method).__name__)
@torch.no_grad()
def test_students_of_any_start_model_read_pairs_and_keep_its_labels(family, method):
    start = tiny.model(family)
    start.network.config.niwaki_answer = {"kind": "label"}
    for pairs in (False, True):
        student = method.prepare(start, context(pairs=pairs))
        assert student.network.config.model_type == type(method).__name__.lower()
        assert student.network.config.niwaki_texts == (2 if pairs else 1)
        assert student.labels == tiny.LABELS and student.network.config.niwaki_answer == {"kind": "label"}
        assert student.tokenizer is start.tokenizer and student.anatomy.max_tokens == start.anatomy.max_tokens
        assert student.network.config.pad_token_id == start.network.config.pad_token_id
        assert student.anatomy.tokens.weight.shape == (len(start.tokenizer), 8) and student.blueprint.edits == []
        assert tiny.logits(student, tiny.batch(student, pairs=pairs)).std() > 0


def test_the_shape_is_as_configured():
    networks = {type(method): method.prepare(tiny.model("bert"), context()).network for method in STUDENTS}
    assert [layer.weight.shape for layer in networks[Averaging].hidden] == [(16, 8 + 2 * 32), (16, 16)]
    bag = Averaging(width=8, neighbours=0).prepare(tiny.model("bert"), context()).network
    assert not len(bag.body.factors) and bag.hidden[0].in_features == 8
    assert networks[BiLstm].body.lstm[0].input.shape == (2, 16, 8) and networks[BiLstm].hidden[0].weight.shape == (
        16,
        16,
    )
    assert [layer.in_features for layer in networks[Cnn].body.convolutions] == [8, 16, 24, 40]
    deep = BiLstm(layers=3, units=5).prepare(tiny.model("bert"), context()).network
    assert [layer.inputs for layer in deep.body.lstm] == [32, 10, 10]  # no wider than the teacher's vectors


@pytest.mark.parametrize("head", HEADS)
def test_token_heads_are_preserved_and_rejected_by_averaging(head):
    start = tiny.model("bert", head=head)
    for method in STUDENTS[1:]:
        assert method.prepare(start, context()).anatomy.head.architecture == head
    if head != "SequenceClassification":
        with pytest.raises(
            InputError,
            match="averaging: predicts for whole texts, and this task needs a prediction for each token; use",
        ):
            STUDENTS[0].prepare(start, context())


def test_texts_are_counted_by_separators():
    model = tiny.model("bert")
    single, pair = tiny.batch(model), tiny.batch(model, pairs=True)
    assert count_texts([single], 3) == 1 and count_texts([single, pair], 3) == 2 and count_texts([], 3) == 1


@pytest.mark.parametrize("method", STUDENTS, ids=lambda method: type(method).__name__)
def test_pruning_and_freezing_a_student(method):
    student = method.prepare(tiny.model("bert"), context())
    with pytest.raises(InputError, match=r"heads: .* has no attention layers; leave 'heads' out"):
        Heads().prepare(student, context())
    with pytest.raises(InputError, match=r"freeze: layers is 9 and the model has [01]"):
        Freeze(layers=9).prepare(student, context())
    Freeze().prepare(student, context())
    assert not student.anatomy.tokens.weight.requires_grad and student.network.classifier.weight.requires_grad
    blocks = [block.ffn_size for block in student.anatomy.blocks]
    Ffn(keep=0.5, multiple=1, batches=1).prepare(student, context())
    assert [block.ffn_size for block in student.anatomy.blocks] == [size // 2 for size in blocks]
