"""The result of a run in Python."""

import pytest

import niwaki
from niwaki.core.errors import InputError
from niwaki.run.result import Run

NAMES = ["teacher", "student", "pruned", "int8"]


def test_niwaki_run_is_package_and_function(copy, recipe_file):
    for _ in range(2):  # the first call imports the package, which must not hide the second
        assert niwaki.run(recipe_file, out=copy).folder == copy
    assert niwaki.run.recipe.locate(str(recipe_file)) == recipe_file
    assert niwaki.check(recipe_file)["stages"]


def test_result_gives_figures_and_models(finished, recipe_file):
    run = Run.read(finished)
    assert repr(run).count("\n") >= len(NAMES)
    assert "<table" in run._repr_html_()
    assert run.model("student").is_dir()
    with pytest.raises(InputError, match="has no stage 'nobody'"):
        run.model("nobody")
    model = niwaki.load(finished)
    assert model.folder == run.deploy
    answers = model.predict(["a good film.", "a dull film."])
    assert [set(answer.probabilities) for answer in answers] == [{"bad", "good"}] * 2
    assert all(abs(sum(answer.probabilities.values()) - 1) < 1e-6 for answer in answers)
