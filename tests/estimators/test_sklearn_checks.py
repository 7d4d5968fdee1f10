"""scikit-learn's own checks.

They skip estimators of texts but for cloning, so the rest runs on estimators that read rows of numbers as texts (`numeric.py`).
"""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

import tiny
from estimators.numeric import NumberClassifier, NumberRegressor
from niwaki.estimators import Classifier, Regressor

RECIPE = 'task = "classification"\n[[stages]]\nname = "tuned"\ntrain = { epochs = 1, lr = 1e-3, batch = 64 }\n'
QUICK = {
    "check_no_attributes_set_in_init",
    "check_estimators_unfitted",
    "check_fit_score_takes_y",
    "check_dict_unchanged",
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("checks")
    tiny.model(layers=1).save(folder)
    (folder / "quick.toml").write_text(RECIPE)
    return {"model": str(folder), "method": str(folder / "quick.toml")}


@pytest.mark.parametrize("kind", [Classifier, Regressor])
def test_check_estimator(kind):
    found = check_estimator(kind(), on_skip=None)
    assert {one["status"] for one in found} == {"passed"}


@pytest.mark.parametrize("kind", [NumberClassifier, NumberRegressor])
def test_basic_checks_on_numbers(kind, quick):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = {
            getattr(check, "func", check).__name__: check for _, check in estimator_checks_generator(kind(**quick))
        }
        for name in QUICK:
            checks[name](kind(**quick))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [NumberClassifier, NumberRegressor])
def test_all_checks_on_numbers(kind, quick):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(kind(**quick), on_skip=None)
