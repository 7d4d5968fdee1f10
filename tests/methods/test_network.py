"""Students that are no transformers: their shapes, where their vectors come from, and what they refuse."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.adapt.freeze import Freeze
from niwaki.methods.distill._network import count_texts
from niwaki.methods.distill.averaging import Averaging, first_weights
from niwaki.methods.distill.bilstm import BiLstm
from niwaki.methods.distill.cnn import Cnn
from niwaki.methods.prune.ffn import Ffn
from niwaki.methods.prune.heads import Heads
from niwaki.models.skeleton import HEADS
from niwaki.models.vectors import vectors_for

STUDENTS = [
    Averaging(width=8, ffn_size=16, layers=2),
    BiLstm(width=8, ffn_size=16, units=4),
    Cnn(width=8, ffn_size=16, filters=4),
]
TEXTS = [text for text, _ in tiny.sentences(30)]


def context(teacher=None, seed=0, pairs=False):
    def loss(model, batch):
        return torch.nn.functional.cross_entropy(model.network(**batch.inputs).logits, batch.targets)

    return Context(
        seed, None, teacher, lambda model, count: [tiny.batch(model, pairs=pairs)] * count, loss, None, lambda: TEXTS
    )


@pytest.mark.parametrize("family", ["bert", "mpnet", "distilbert", "cnn"])
@pytest.mark.parametrize("method", STUDENTS, ids=lambda method: type(method).__name__)
@torch.no_grad()
def test_of_any_start_model_pairs_are_seen_and_the_answers_are_its_own(family, method):
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


def test_the_shape_is_the_one_asked_for():
    made = {type(method): method.prepare(tiny.model("bert"), context()).network for method in STUDENTS}
    assert [layer.weight.shape for layer in made[Averaging].hidden] == [(16, 8 + 2 * 32), (16, 16)]
    bag = Averaging(width=8, neighbours=0).prepare(tiny.model("bert"), context()).network
    assert not len(bag.body.factors) and bag.hidden[0].in_features == 8
    assert made[BiLstm].body.lstm[0].input.shape == (2, 16, 8) and made[BiLstm].hidden[0].weight.shape == (16, 16)
    assert [layer.in_features for layer in made[Cnn].body.convolutions] == [8, 16, 24, 40]
    deep = BiLstm(layers=3, units=5).prepare(tiny.model("bert"), context()).network
    assert [layer.inputs for layer in deep.body.lstm] == [32, 10, 10]  # no wider than the teacher's vectors


@pytest.mark.parametrize("how", ["read", "table"])
def test_vectors_are_the_teachers_or_else_the_start_models(how):
    start, teacher = tiny.model("bert", seed=1), tiny.model("bert", seed=2)
    for source, given in ((teacher, teacher), (start, None)):
        student = Cnn(width=8, vectors=how).prepare(start, context(given))
        wanted = vectors_for(start.tokenizer, source, how, 8)
        assert torch.equal(student.anatomy.tokens.weight, wanted)


def test_the_seed_decides_and_nothing_else():
    torch.manual_seed(1)
    one = BiLstm(units=4).prepare(tiny.model("bert"), context(seed=5)).network.state_dict()
    torch.manual_seed(2)
    two = BiLstm(units=4).prepare(tiny.model("bert"), context(seed=5)).network.state_dict()
    other = BiLstm(units=4).prepare(tiny.model("bert"), context(seed=6)).network.state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["body.lstm.0.input"], other["body.lstm.0.input"])


def test_first_weights_by_hand():
    """Of 1000 pieces one is used once (its share is a thousandth, as FREQUENT is): half the weight of an unused one."""
    found = first_weights({1: 1, 2: 999}, 4).exp()
    torch.testing.assert_close(found, torch.tensor([1.0, 0.5, 1 / 1000, 1.0]), atol=1e-6, rtol=1e-3)


def test_frequent_pieces_begin_with_less_weight():
    student = Averaging(width=8).prepare(tiny.model("bert"), context())
    weights = student.network.body.embeddings.token_weights.weight[:, 0]
    number = student.tokenizer.convert_tokens_to_ids
    assert weights[number(".")] < weights[number("film")] < weights[number("z")] == 0


@pytest.mark.parametrize("head", HEADS)
def test_heads_per_token_are_those_of_the_start_model_and_refused_by_a_mean(head):
    start = tiny.model("bert", head=head)
    for method in STUDENTS[1:]:
        assert method.prepare(start, context()).anatomy.head.architecture == head
    if head != "SequenceClassification":
        with pytest.raises(
            InputError,
            match="averaging: predicts for whole texts, and this task needs a prediction for each token; use",
        ):
            STUDENTS[0].prepare(start, context())


def test_a_tokenizer_without_a_separator_is_refused():
    start = tiny.model("bert")
    start.tokenizer.sep_token = None
    with pytest.raises(InputError, match="bilstm: the tokenizer has no separator"):
        BiLstm().prepare(start, context())


def test_pairs_are_counted_by_their_separator():
    model = tiny.model("bert")
    single, pair = tiny.batch(model), tiny.batch(model, pairs=True)
    assert count_texts([single], 3) == 1 and count_texts([single, pair], 3) == 2 and count_texts([], 3) == 1


@pytest.mark.parametrize("method", STUDENTS, ids=lambda method: type(method).__name__)
def test_what_is_done_to_such_students_and_what_is_refused(method):
    student = method.prepare(tiny.model("bert"), context())
    with pytest.raises(InputError, match=r"heads: .* has no attention layers; leave 'heads' out"):
        Heads().prepare(student, context())
    with pytest.raises(InputError, match="freeze: layers is 1 and the model has 0"):
        Freeze(layers=1).prepare(student, context())
    Freeze().prepare(student, context())
    assert not student.anatomy.tokens.weight.requires_grad and student.network.classifier.weight.requires_grad
    blocks = [block.ffn_size for block in student.anatomy.blocks]
    Ffn(keep=0.5, multiple=1, batches=1).prepare(student, context())
    assert [block.ffn_size for block in student.anatomy.blocks] == [size // 2 for size in blocks]


@pytest.mark.parametrize("settings", [{"widths": []}, {"widths": [0]}, {"widths": [101]}, {"filters": 0}, {"width": 0}])
def test_settings_that_no_network_has(settings):
    with pytest.raises(ValueError, match="validation error"):
        Cnn(**settings)
