"""Averages of weights: values by hand, validation, the result, and exact resumption."""

import pytest
import torch
from pydantic import PrivateAttr

import tiny
from niwaki.methods._method import Method, Schedules
from niwaki.methods.adapt.layerwise_lr import LayerwiseLr
from niwaki.methods.adapt.weight_averaging import Averages, WeightAveraging
from niwaki.tasks.classification import Classification
from niwaki.train.loop import Interrupted, fit
from train.test_loop import job, same, scripted, weights

pytestmark = pytest.mark.usefixtures("quick_disk")


class Snapshots(Method, Schedules):
    """Remembers the classifier's weight after every step."""

    _seen: list = PrivateAttr(default_factory=list)

    def after_step(self, model, progress):
        self._seen.append(model.network.classifier.weight.detach().clone())


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    path = tiny.write_csv(tmp_path_factory.mktemp("averages") / "rows.csv", count=60)
    return Classification(path=str(path), validation=0.2, test=0.2)


def added(values: list[float], decay: float) -> float:
    averages = Averages([torch.tensor([99.0])])
    for value in values:
        averages.add([torch.tensor([value])], decay)
    return float(averages.values()[0])


def test_averages_by_hand():
    assert added([1.0, 2.0, 6.0], decay=1.0) == 3.0
    assert added([1.0, 2.0, 6.0], decay=0.5) == 3.75  # 1, then (1 + 2) / 2, then half of that and half of 6
    assert added([1.0, 3.0, 3.0], decay=0.01) == pytest.approx(3.0, abs=0.01)


def test_the_result_is_the_mean_of_the_last_steps(task, tmp_path):
    snapshots = Snapshots()
    trained = job(task, tmp_path, methods=[WeightAveraging(start=0.5), snapshots], epochs=2, keep="last")
    steps = fit(trained).step
    last = torch.stack(snapshots._seen[steps // 2 :])
    assert steps == len(snapshots._seen) and 2 <= len(last) < steps
    assert torch.allclose(weights(trained)["classifier.weight"], last.mean(dim=0), atol=1e-6)
    assert not torch.allclose(weights(trained)["classifier.weight"], snapshots._seen[-1], atol=1e-6)


@pytest.mark.parametrize("best", [1, 2, 3])
def test_the_validated_weights_are_the_averages_and_training_goes_on_from_its_own(task, tmp_path, monkeypatch, best):
    snapshots, plain = Snapshots(), Snapshots()
    scripted([0.9 if number == best else 0.1 for number in (1, 2, 3)], monkeypatch)
    trained = job(task, tmp_path / "averaged", methods=[WeightAveraging(start=0.0), snapshots], epochs=3)
    state = fit(trained)
    assert state.best_step == best * state.step // 3
    mean = torch.stack(snapshots._seen[: state.best_step]).mean(dim=0)
    assert torch.allclose(weights(trained)["classifier.weight"], mean, atol=1e-6)
    scripted([0.1, 0.1, 0.1], monkeypatch)
    fit(job(task, tmp_path / "plain", methods=[plain], epochs=3))
    assert all(map(torch.equal, snapshots._seen, plain._seen))


def test_before_the_start_the_trained_weights_are_validated(task, tmp_path, monkeypatch):
    snapshots = Snapshots()
    scripted([0.9, 0.1, 0.1], monkeypatch)
    trained = job(task, tmp_path, methods=[WeightAveraging(start=0.9), snapshots], epochs=3)
    state = fit(trained)
    assert torch.equal(weights(trained)["classifier.weight"], snapshots._seen[state.best_step - 1])


def test_interrupted_and_resumed_it_ends_with_the_same_bits(task, tmp_path):
    def build(folder, **more):
        methods = [WeightAveraging(start=0.2, decay=0.7), LayerwiseLr()]
        return job(task, tmp_path / folder, methods=methods, dropout=0.2, validations=2, **more)

    whole = build("whole")
    straight = fit(whole)
    for stop in (2, 3, 1):
        with pytest.raises(Interrupted):
            fit(build("parts", stop_at=(stop,)))
    again = build("parts")
    assert fit(again) == straight and same(weights(again), weights(whole))
    ours, theirs = (one.methods[0].helpers.state_dict() for one in (again, whole))
    assert same(ours, theirs) and int(ours["count"]) > 3
