"""Methods that leave single weights out: the numbers by hand, and trainings that are killed and go on."""

import itertools

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.methods._method import Context
from niwaki.methods.prune._masks import Mask, cubic_sparsity, densify, keep_largest, matrices, updates_due
from niwaki.methods.prune.lottery import Lottery, random_mask
from niwaki.methods.prune.magnitude import Magnitude
from niwaki.methods.prune.movement import Movement, Scored
from niwaki.methods.prune.nm import Nm, largest_of
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.edits.sparse import Sparse
from niwaki.models.model import load_folder
from niwaki.models.module_paths import to_dense
from niwaki.models.packed.sparse import Sparse as Store
from niwaki.models.parametrizations import add_parametrization, find_parametrizations, original_weight
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.train.loop import Interrupted

CONTEXT = Context(0, None, None, None, None, None, None)
TRAIN = {"epochs": 2, "batch": 32, "lr": 2e-3, "precision": "fp32"}
A, B = torch.tensor([[5.0, -1.0], [2.0, 0.5]]), torch.tensor([[4.0, 3.0]])


def weights(model) -> list[torch.Tensor]:
    return [to_dense(module).weight.detach() for module in matrices(model, "test").values()]


def sparsity(model) -> float:
    flat = torch.cat([weight.flatten() for weight in weights(model)])
    return float((flat == 0).float().mean())


def of_all_forms(family: str = "bert") -> dict:
    """The same model as it may come: plain, sparse, of integers, of digits, factored, shared."""
    edits = {
        "plain": [],
        "sparse": [Sparse()],
        "int8": [Int8()],
        "digits": [LowBit(base=16)],
        "shared": [Share(of=[0, 0, 2])],
    }
    edits["factored"] = [Factored(ranks=[8] * 18)]
    found = {}
    for name, some in edits.items():
        found[name] = tiny.model(family)
        with torch.no_grad():
            found[name].anatomy.layers[2].part("ffn_in").weight.mul_(2)
        for edit in some:
            found[name].apply_edit(edit)
    return found


def test_the_schedule_by_hand():
    assert cubic_sparsity(0.1, 0.2, 0.6, 0.8) == 0
    assert cubic_sparsity(0.4, 0.2, 0.6, 0.8) == pytest.approx(0.7)  # half of the way: 0.8 × (1 - 1/8)
    assert cubic_sparsity(0.6, 0.2, 0.6, 0.8) == cubic_sparsity(1.0, 0.2, 0.6, 0.8) == 0.8
    assert [updates_due(progress) for progress in (0.0, 0.031, 0.0313, 0.5, 1.0)] == [0, 0, 1, 16, 32]


def test_the_largest_by_hand():
    both = [A.abs(), B.abs()]
    assert [kept.tolist() for kept in keep_largest(both, 0.5, "global")] == [
        [[True, False], [False, False]],
        [[True, True]],
    ]
    assert [kept.tolist() for kept in keep_largest(both, 0.5, "layer")] == [
        [[True, False], [True, False]],
        [[True, False]],
    ]
    assert keep_largest([torch.ones(5)], 0.4, "global")[0].tolist() == [True, True, True, False, False]
    assert keep_largest([A], 0.01, "layer")[0].all()


def test_n_of_m_by_hand():
    row = torch.tensor([[1.0, 4.0, 3.0, 2.0, 5.0, 5.0, 5.0, 0.0, 1.0, 2.0]])
    assert largest_of(row, 2, 4).int().tolist() == [[0, 1, 1, 0, 1, 1, 0, 0, 1, 1]]  # the last two are alone
    assert largest_of(row, 1, 5).int().tolist() == [[0, 0, 0, 0, 1, 1, 0, 0, 0, 0]]


@pytest.mark.parametrize("scope", ["global", "layer"])
@pytest.mark.parametrize("form", of_all_forms())
def test_without_training_the_smallest_go_at_once(form, scope):
    model = of_all_forms()[form]
    before = weights(model)
    method = Magnitude(sparsity=0.75, scope=scope)
    model = method.finish(method.prepare(model, CONTEXT))
    after = weights(model)
    assert sparsity(model) == pytest.approx(0.75, abs=0.002)
    assert all(isinstance(module.store, Store) for module in matrices(model, "test").values())
    shares = [float((weight == 0).float().mean()) for weight in after]
    assert (max(shares) - min(shares) < 0.01) == (scope == "layer")
    for old, new in zip(before, after, strict=True):
        kept = new != 0
        if scope == "layer":
            assert old[~kept].abs().max() <= old[kept].abs().min() + 1e-6
        torch.testing.assert_close(new[kept], old[kept], atol=0.25 if form == "digits" else 0.02, rtol=0)


def test_values_that_were_packed_stay_so_and_biases_are_the_same():
    models = of_all_forms()
    for form, base in (("int8", 255), ("digits", 16), ("plain", 0)):
        method = Magnitude(scope="layer")
        biases = [module.bias.detach().clone() for module in matrices(models[form], "test").values()]
        made = method.finish(method.prepare(models[form], CONTEXT))
        found = matrices(made, "test").values()
        assert {module.store.base for module in found} == {base}
        assert all(torch.equal(module.bias, bias) for module, bias in zip(found, biases, strict=True))


def test_a_weight_comes_back_when_others_shrink():
    model = tiny.model("bert", layers=1)
    method = Magnitude(sparsity=0.5, scope="layer", begin=0.0, end=0.5)
    model = method.prepare(model, CONTEXT)
    _, module, lens = next(find_parametrizations(model.network, model.anatomy.matrices(), Mask))
    method.after_step(model, 0.25)
    gone = ~lens.remaining
    assert gone.float().mean() == pytest.approx(0.5 * 7 / 8, abs=0.001) and (module.weight[gone] == 0).all()
    with torch.no_grad():
        module.parametrizations.weight.original[~gone] *= 1e-9
    method.after_step(model, 0.251)  # not yet due
    assert torch.equal(lens.remaining, ~gone)
    method.after_step(model, 0.5)
    assert lens.remaining[gone].all() and (module.weight[gone] != 0).all()
    assert method.min_progress == 0.5


@pytest.mark.parametrize("settings", [{"begin": 0.7, "end": 0.7}, {"sparsity": 1.0}, {"scope": "row"}])
def test_settings_that_cannot_be_are_refused(settings):
    with pytest.raises(InputError, match=r"begin must be less than end|sparsity|scope"):
        parse({"stages": [{"name": "a", "methods": [{"use": "magnitude", **settings}]}]})
    with pytest.raises(InputError, match="n must be less than m, which is 4"):
        parse({"stages": [{"name": "a", "methods": [{"use": "nm", "n": 4}]}]})


@pytest.mark.parametrize("family", tiny.READERS)
def test_networks_without_layers_are_pruned_too(family, tmp_path):
    method = Nm()
    model = method.finish(method.prepare(tiny.model(family), CONTEXT))
    assert sparsity(model) == pytest.approx(0.5, abs=0.02)
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), tiny.batch(model)), tiny.logits(model, tiny.batch(model)))


def test_n_of_m_of_what_is_packed_and_of_what_is_sparse():
    for form, model in of_all_forms().items():
        method = Nm(n=1, m=4)
        model = method.finish(method.prepare(model, CONTEXT))
        groups = torch.cat([(weight != 0).unflatten(1, (-1, 4)).sum(-1).flatten() for weight in weights(model)])
        assert groups.max() == 1 and (form == "digits" or groups.float().mean() > 0.95), form


def test_what_is_opened_to_be_trained_is_plain_and_gives_the_same():
    model = of_all_forms()["sparse"]
    before = tiny.logits(model, tiny.batch(model))
    found = densify(model, "test")
    assert len(found) == 18 and all(type(module) is torch.nn.Linear for module in found.values())
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before)


def scored() -> tuple[torch.nn.Linear, Scored]:
    module = torch.nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        module.weight.copy_(A)
    lens = Scored(module.weight, 100.0, 0.0)
    add_parametrization(module, lens)
    return module, lens


def test_scores_begin_with_the_sizes_of_weights():
    lens = Scored(A, 100.0, 2.0)
    assert lens.values().detach().flatten().tolist() == pytest.approx([2 * size / 2.125 for size in (5, 1, 2, 0.5)])
    assert not Scored(torch.zeros(2, 2), 1.0, 2.0).scores.any()


def test_scores_by_hand():
    module, lens = scored()
    with torch.no_grad():
        lens.scores.copy_(torch.tensor([[0.01, -0.01], [0.03, -0.02]]))
    lens.cut.fill_(-1.5)  # scores are 1, -1, 3, -2
    assert module.weight.tolist() == [[5, -1], [2, 0]]
    module(torch.tensor([[1.0, 10.0]])).sum().backward()
    assert original_weight(module).grad.tolist() == [[1, 10], [1, 0]]
    assert lens.scores.grad.tolist() == [[5, -10], [2, 5]]  # slope of the product × weight, also of what is gone
    lens.scores.grad = None
    lens.values().sum().backward()
    assert lens.values().tolist()[0] == pytest.approx([1, -1]) and lens.scores.grad.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("scope, cuts", [("global", [4, 4]), ("layer", [2, 5])])
def test_the_best_scores_are_kept(scope, cuts):
    (_, one), (_, two) = scored(), scored()
    method = Movement(sparsity=0.5, scope=scope, begin=0.0, end=0.5)
    with torch.no_grad():
        one.scores.copy_(torch.tensor([[1.0, 2.0], [3.0, 9.0]]) / 100)
        two.scores.copy_(torch.tensor([[5.0, 4.0], [6.0, 7.0]]) / 100)
    assert [float(cut) for cut in method._cuts([one, two], 0.5)] == pytest.approx(cuts)
    assert method._cuts([one, two], 0.0) == [None, None]
    assert Movement(how="soft", threshold=0.2)._cuts([one], 1.0) == pytest.approx([-1.3862944])  # log(0.2 / 0.8)


def test_the_penalty_by_hand():
    """Scores of 0 are 0.5 of 1, where the slope is a quarter; it is spread over all of them."""
    model = tiny.model("bert", layers=1)
    method = Movement(how="soft", penalty_weight=8.0, prior=0.0)
    model = method.prepare(model, CONTEXT)
    penalty = method.penalty(model)
    penalty.backward()
    found = list(find_parametrizations(model.network, model.anatomy.matrices(), Scored))
    numbers = sum(lens.scores.numel() for _, _, lens in found)
    assert float(penalty.detach()) == pytest.approx(4.0)
    assert float(found[0][2].scores.grad[0, 0]) == pytest.approx(8 * 0.25 / numbers)


@pytest.mark.parametrize("method", [Movement(), Lottery()])
@pytest.mark.parametrize("form", ["int8", "digits"])
def test_what_training_cannot_move_is_refused_before_any_work(method, form):
    words = f"{type(method).__name__.lower()}: the weights are packed and cannot be trained; prune before packing"
    with pytest.raises(InputError, match=words):
        method.dry_prepare(of_all_forms()[form])


def test_a_draw_by_chance_takes_as_many_of_the_places():
    places = torch.rand(20, 30, generator=torch.Generator().manual_seed(0)) < 0.6
    found = random_mask(places, 150, seed=1)
    assert found.sum() == 150 and (found <= places).all()
    assert torch.equal(found, random_mask(places, 150, seed=1)) and not torch.equal(
        found, random_mask(places, 150, seed=2)
    )
    assert random_mask(places, 600, seed=1).sum() == places.sum()


@pytest.mark.parametrize("random", [False, True])
def test_a_ticket_is_the_largest_of_the_trained_with_the_weights_of_before(random):
    before, trained = tiny.model("bert", seed=1), tiny.model("bert", seed=2)
    sizes, old = [weight.abs().clone() for weight in weights(trained)], [weight.clone() for weight in weights(before)]
    context = Context(0, None, None, None, None, None, None, {"early": before}.__getitem__)
    method = Lottery(sparsity=0.75, rewind="early", random=random)
    assert method.stages == ("early",) and Lottery(rewind="none").stages == ()
    ticket = method.finish(method.prepare(trained, context))
    wanted = keep_largest(sizes, 0.75, "global")
    found = weights(ticket)
    assert [int((weight != 0).sum()) for weight in found] == [int(mask.sum()) for mask in wanted]
    assert all(torch.equal(weight == 0, ~mask) for weight, mask in zip(found, wanted, strict=True)) != random
    assert all(torch.equal(new[new != 0], was[new != 0]) for new, was in zip(found, old, strict=True))
    assert torch.equal(ticket.network.classifier.weight, before.network.classifier.weight)


def test_a_second_round_stays_within_the_first():
    first = Lottery(sparsity=0.5, rewind="none")
    model = first.finish(first.prepare(tiny.model("bert"), CONTEXT))
    there = [weight != 0 for weight in weights(model)]
    for share in (0.3, 0.8):
        second = Lottery(sparsity=share, rewind="none", random=share == 0.8)
        again = second.finish(second.prepare(model.clone(), CONTEXT))
        assert sparsity(again) == pytest.approx(max(share, 0.5), abs=0.001)
        assert all(((weight != 0) <= mask).all() for weight, mask in zip(weights(again), there, strict=True))


def test_weights_of_another_shape_are_not_set_back():
    other = tiny.model("bert")
    other.apply_edit(Heads(keep=[[0, 1]] * 3))
    context = Context(0, None, None, None, None, None, None, lambda stage: other)
    with pytest.raises(
        InputError, match=r"lottery: the weights of stage 'early' do not fit \('.*query.weight' has another shape\)"
    ):
        Lottery(rewind="early").prepare(tiny.model("bert"), context)


TRAINED = {
    "hard": ([{"use": "movement", "sparsity": 0.7, "begin": 0.0}], 0.7),
    "soft": ([{"use": "movement", "how": "soft", "penalty_weight": 1000.0, "speed": 1000.0}], None),
    "ticket": ([{"use": "lottery", "sparsity": 0.6}], 0.6),
    "magnitude": ([{"use": "magnitude", "sparsity": 0.8}], 0.8),
    "layer": ([{"use": "magnitude", "sparsity": 0.6, "scope": "layer", "begin": 0.0, "end": 0.3}], 0.6),
    "nm": ([{"use": "nm"}], 0.5),
    "packed after": ([{"use": "magnitude"}, {"use": "int8"}], 0.5),
    "packed before": ([{"use": "int8"}, {"use": "magnitude", "sparsity": 0.7}], 0.7),
}


@pytest.fixture
def stages(monkeypatch, quick_disk, bert_folder, rows_csv):
    monkeypatch.setattr(quality, "RESAMPLES", 10)

    def make(folder, *stages: dict, stop=lambda: False):
        (folder / "stages").mkdir(parents=True, exist_ok=True)
        plan = make_plan(
            parse(
                {
                    "model": str(bert_folder),
                    "task": "classification",
                    "data": {"path": str(rows_csv)},
                    "quantize": [],
                    "stages": [*stages],
                }
            ),
            "masks",
        )
        for stage in plan.stages:
            run_stage(plan, stage, folder, Ledger(folder / "ledger.jsonl"), stop)
        return [folder / stage.folder / "model" for stage in plan.stages]

    return make


@pytest.mark.parametrize("name", TRAINED)
def test_trained_and_killed_on_the_way_it_ends_the_same(stages, tmp_path, name):
    methods, wanted = TRAINED[name]
    stage = {"name": "made", "methods": methods, "train": TRAIN}
    (whole,) = stages(tmp_path / "whole", stage)
    asked = itertools.count()
    with pytest.raises(Interrupted):
        stages(tmp_path / "killed", stage, stop=lambda: next(asked) == 4)
    (again,) = stages(tmp_path / "killed", stage)
    assert (again / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    found = sparsity(load_folder(whole))
    assert found == pytest.approx(wanted, abs=0.01) if wanted else 0.05 < found < 1


def test_a_second_stage_goes_on_from_what_is_sparse(stages, tmp_path):
    first = {"name": "first", "methods": [{"use": "magnitude"}], "train": TRAIN}
    folders = stages(tmp_path, first, {**first, "name": "second", "methods": [{"use": "magnitude", "sparsity": 0.9}]})
    models = [load_folder(folder) for folder in folders]
    assert [sparsity(model) for model in models] == pytest.approx([0.5, 0.9], abs=0.002)
    assert (folders[1] / "model.safetensors").stat().st_size < (folders[0] / "model.safetensors").stat().st_size
