"""All that is wrong with recipe, data, models and plan is reported at once: no fault hides one that does not depend on it."""

import itertools
import json
import shutil

import pytest
from safetensors.torch import load_file, save_file

from niwaki.api import check, run
from niwaki.core.errors import InputError

RECIPE = """\
model = {model}
task = "classification"
data = {{ path = {rows} }}

[[stages]]
name = "teacher"
train = {{ epochs = 0.1 }}

[[stages]]
name = "student"
start = "teacher"
teacher = "teacher"
methods = [{{ use = "student", layers = 2 }}, {{ use = "logits" }}]
train = {{ epochs = 0.1 }}

[[stages]]
name = "small"
start = "teacher"
methods = [{{ use = "student", layers = 1 }}]
"""

OVERRIDES = {
    "a key": ("seeed=1", "seeed: unknown key, did you mean 'seed'?"),
    "a type": ("stages.teacher.train.epochs=many", "stages.0.train.epochs: "),
    "an override": ("stages.tacher.train.epochs=1", "did you mean 'teacher'?"),
    "a method": ("stages.student.methods.logits.heat=1", "stages.1.methods.1.heat: unknown key"),
    "a reference": ("stages.small.start=nobody", "stages.2.start: 'nobody' is not an earlier stage"),
    "the meter": ("meter.place=Atlantis", "meter.place: "),
    "vectors": ("vectors=nowhere.txt", "vectors: nowhere.txt: is not there"),
}
SHAPES = {  # seen by the rehearsal, which needs a sound recipe and a model's config
    "a shape": ("stages.student.methods.student.layers=9", "stage 'student': student: layers 9 is more"),
    "another shape": ("stages.small.methods.student.layers=8", "stage 'small': student: layers 8 is more"),
}
FILES = {
    "no such rows": ("rows", lambda path: path.unlink(), "rows.csv: is not there"),
    "few rows": ("rows", lambda path: path.write_text("text,label\na b,x\nc d,y\n"), "2 rows are too few"),
    "one label": (
        "rows",
        lambda path: path.write_text(path.read_text().replace(",bad", ",good")),
        "at least 2 are needed",
    ),
    "no config": ("model", lambda path: (path / "config.json").unlink(), "has no config.json"),
    "a broken config": ("model", lambda path: (path / "config.json").write_text("{"), "config.json"),
    "cut weights": (
        "model",
        lambda path: (path / "model.safetensors").write_bytes(b"\0" * 20),
        "model.safetensors: cannot be read",
    ),
    "NaN": ("model", lambda path: spoil(path / "model.safetensors"), "infinite or NaN"),
    "another model": ("other", lambda path: (path / "config.json").unlink(), "stage 'small': "),
}
NO_SHAPES = {"no config", "a broken config", "another model"}  # without a config there is no dry run


def spoil(path):
    tensors = load_file(path)
    next(value for name, value in tensors.items() if "dense.weight" in name).view(-1)[:1].fill_(float("nan"))
    save_file(tensors, path)


@pytest.fixture
def faults_of(tmp_path, bert_folder, rows_csv):
    """Faults of a recipe with some of the mistakes above."""

    def build(*mistakes):
        places = {"rows": tmp_path / "rows.csv", "model": tmp_path / "model", "other": tmp_path / "other"}
        shutil.copyfile(rows_csv, places["rows"])
        for name in ("model", "other"):
            shutil.rmtree(places[name], ignore_errors=True)
            shutil.copytree(bert_folder, places[name])
        text = RECIPE.format(model=json.dumps(str(places["model"])), rows=json.dumps(str(places["rows"])))
        if "another model" in mistakes:
            text = text.replace('name = "small"\nstart = "teacher"', f'name = "small"\nmodel = "{places["other"]}"')
        (tmp_path / "recipe.toml").write_text(text)
        settings = []
        for mistake in mistakes:
            if mistake in FILES:
                place, spoiled, _ = FILES[mistake]
                spoiled(places[place])
            else:
                settings.append((OVERRIDES | SHAPES)[mistake][0])
        with pytest.raises(InputError) as caught:
            check(tmp_path / "recipe.toml", overrides=settings)
        return caught.value.faults

    return build


def words_of(mistake):
    return FILES[mistake][2] if mistake in FILES else (OVERRIDES | SHAPES)[mistake][1]


@pytest.mark.parametrize("mistake", [*OVERRIDES, *SHAPES, *FILES])
def test_one_mistake_is_one_fault(faults_of, mistake):
    faults = faults_of(mistake)
    assert len(faults) == 1 and words_of(mistake) in faults[0], faults


def apart(one, two):
    """Whether neither mistake can hide the other: the same file is not broken twice, and a rehearsal needs a sound recipe."""
    same_file = one in FILES and two in FILES and FILES[one][0] == FILES[two][0]
    no_dry_run = any(a in SHAPES and (b in OVERRIDES or b in NO_SHAPES) for a, b in ((one, two), (two, one)))
    same_stage = {one, two} == {"a reference", "another model"}
    return not same_file and not no_dry_run and not same_stage


PAIRS = [pair for pair in itertools.combinations([*OVERRIDES, *SHAPES, *FILES], 2) if apart(*pair)]


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_two_mistakes_are_two_faults(faults_of, one, two):
    faults = faults_of(one, two)
    assert len(faults) == 2, faults
    for mistake in (one, two):
        assert any(words_of(mistake) in fault for fault in faults), (mistake, faults)


def test_all_mistakes_at_once(faults_of):
    mistakes = [*OVERRIDES, "one label", "NaN"]
    faults = faults_of(*mistakes)
    assert len(faults) == len(mistakes)
    assert len(faults_of(*SHAPES, "few rows", "cut weights")) == 4


def test_a_run_reports_them_at_once_too(tmp_path, bert_folder):
    (tmp_path / "few.csv").write_text("text,label\na b,x\nc d,y\n")
    text = RECIPE.format(model='"minilmm"', rows=json.dumps(str(tmp_path / "few.csv")))
    (tmp_path / "recipe.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        run(tmp_path / "recipe.toml", out=tmp_path / "run")
    assert len(caught.value.faults) == 2
    with pytest.raises(InputError) as caught:
        run(data=tmp_path / "few.xlsx", out=tmp_path / "run", overrides=["model=minilmm", "seeed=1"])
    assert len(caught.value.faults) == 3


def test_rows_of_your_own_do_not_hide_a_recipe_that_is_not_there(tmp_path):
    with pytest.raises(InputError) as caught:
        check("ownn", data=tmp_path / "none.csv")
    assert len(caught.value.faults) == 2


def test_a_vocabulary_that_does_not_fit_is_a_warning(tmp_path, bert_folder, capsys):
    from niwaki.core import log

    rows = "".join(f"фильм номер {n} был очень {'хорош' if n % 2 else 'плох'},{n % 2}\n" for n in range(60))
    (tmp_path / "rows.csv").write_text(f"text,label\n{rows}")
    (tmp_path / "recipe.toml").write_text(
        RECIPE.format(model=json.dumps(str(bert_folder)), rows=json.dumps(str(tmp_path / "rows.csv")))
    )
    log.quiet(False)
    try:
        assert check(tmp_path / "recipe.toml")["stages"]
    finally:
        log.quiet()
    warnings = [line for line in capsys.readouterr().err.splitlines() if "vocabulary does not fit the texts" in line]
    assert len(warnings) == 1 and "(e.g. 'фильм', " in warnings[0]


def test_a_broken_tokenizer_is_found_before_any_work(tmp_path, bert_folder, rows_csv):
    shutil.copytree(bert_folder, tmp_path / "model")
    (tmp_path / "recipe.toml").write_text(
        RECIPE.format(model=json.dumps(str(tmp_path / "model")), rows=json.dumps(str(rows_csv)))
    )
    for content in ("{", '{"model": {}}', (bert_folder / "tokenizer.json").read_text()[:-200]):
        (tmp_path / "model" / "tokenizer.json").write_text(content)
        with pytest.raises(InputError, match=r"tokenizer\.json") as caught:
            check(tmp_path / "recipe.toml")
        assert len(caught.value.faults) == 1
