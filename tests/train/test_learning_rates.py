"""Learning rates of single parameters, from methods to the optimizer."""

import pytest
import torch

import tiny
from niwaki.methods._method import Method, ScalesLearningRates
from niwaki.methods.adapt.layerwise_lr import LayerwiseLr
from niwaki.models.forward import forward
from niwaki.tasks.classification import Classification
from niwaki.train.learning_rates import lr_factor, lr_scales
from niwaki.train.loop import Interrupted, fit, make_optimizer
from niwaki.train.settings import TrainSettings
from train.test_loop import job, same, weights

pytestmark = pytest.mark.usefixtures("quick_disk")


class Only(Method, ScalesLearningRates):
    """Scales the parameters whose name contains a word."""

    word: str

    def lr_scales(self, model):
        return dict.fromkeys(names_with(model, self.word), rising if self.word == "layer.1" else 0.0)


def rising(progress: float) -> float:
    return 2 * progress


def names_with(model, word):
    return [name for name, _ in model.network.named_parameters() if word in name]


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    path = tiny.write_csv(tmp_path_factory.mktemp("rates") / "rows.csv", count=60)
    return Classification(path=str(path), validation=0.2, test=0.2)


def test_factors_of_methods_are_multiplied():
    assert lr_factor((), 0.3) == 1.0
    assert lr_factor((0.5, rising, 3.0), 0.25) == 0.75


def test_parameters_with_the_same_scales_share_two_groups():
    model = tiny.model("bert", layers=2)
    groups = make_optimizer(
        model.network, TrainSettings(weight_decay=0.3), lr_scales([LayerwiseLr(decay=0.5), Only(word="layer.1")], model)
    ).param_groups
    found = {group["lr_scales"]: set() for group in groups}
    for group in groups:
        found[group["lr_scales"]].add(group["weight_decay"])
    assert found == {scales: {0.3, 0.0} for scales in [(0.125,), (0.25,), (0.5, rising), ()]}
    assert sum(len(group["params"]) for group in groups) == len(list(model.network.parameters()))


def test_without_scales_there_are_two_groups():
    assert len(make_optimizer(tiny.model("bert").network, TrainSettings()).param_groups) == 2


def test_a_factor_of_zero_leaves_parameters_as_they_were(task, tmp_path):
    trained = job(task, tmp_path, methods=[Only(word="embeddings")], epochs=1, weight_decay=0.1)
    before = {name: value.clone() for name, value in weights(trained).items()}
    fit(trained)
    changed = {name for name, value in weights(trained).items() if not torch.equal(value, before[name])}
    assert changed and not any("embeddings" in name for name in changed)


def test_the_first_step_of_adam_has_the_length_of_the_scaled_rate():
    """Its update is lr × sign(gradient), apart from the tiny epsilon."""
    model = tiny.model("bert", layers=2).clone()
    optimizer = make_optimizer(
        model.network, TrainSettings(weight_decay=0.0), lr_scales([LayerwiseLr(decay=0.5)], model)
    )
    bias = model.network.get_submodule("bert.encoder.layer.0.output.dense").bias
    before = bias.detach().clone()
    forward(model.anatomy, tiny.batch(model)).logits.square().sum().backward()
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * lr_factor(group["lr_scales"], 0.0)
    optimizer.step()
    assert torch.allclose((bias.detach() - before).abs(), torch.full_like(before, 0.1 * 0.25), rtol=1e-2)


def test_interrupted_and_resumed_it_ends_with_the_same_bits(task, tmp_path):
    def build(folder, **more):
        methods = [LayerwiseLr(decay=0.7), Only(word="layer.1")]
        return job(task, tmp_path / folder, methods=methods, dropout=0.2, epochs=2, **more)

    whole, plain = build("whole"), job(task, tmp_path / "plain", dropout=0.2, epochs=2)
    fit(whole)
    fit(plain)
    with pytest.raises(Interrupted):
        fit(build("parts", stop_at=(3,)))
    again = build("parts")
    fit(again)
    assert same(weights(again), weights(whole)) and not same(weights(plain), weights(whole))
