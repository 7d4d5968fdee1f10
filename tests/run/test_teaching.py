"""Stages that learn from teachers: several teachers, unlabelled texts, augmentation, the cache, and what is rejected."""

import hashlib
import shutil

import numpy as np
import pytest
from safetensors.torch import load_file

import tiny
from contracts import task_rows
from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.data.ragged import Ragged
from niwaki.engines.activation_runner import ActivationRunner
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.models.model import load_folder
from niwaki.run import runner
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.run.validation.same_tokens import check_same_tokens
from niwaki.tokenization import trimming

TRAIN = {"epochs": 1, "batch": 16, "lr": 1e-3, "precision": "fp32"}
LOGITS = {"use": "logits"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)


@pytest.fixture
def recipe(bert_folder, rows_csv):
    def build(*stages, cache=None, **more):
        teacher = {"name": "teacher", "train": TRAIN}
        return parse(
            {
                "model": str(bert_folder),
                "task": "classification",
                "data": {"path": str(rows_csv), "max_tokens": 24},
                "quantize": [],
                "stages": [teacher, *stages],
                "cache": {
                    "stages": False,
                    **(cache or {}),
                },  # every run trains its stages, so that they can be compared
                **more,
            }
        )

    return build


def run(recipe, folder):
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    plan, ledger = make_plan(recipe, "teaching"), Ledger(folder / "ledger.jsonl")
    for stage in plan.stages:
        run_stage(plan, stage, folder, ledger, lambda: False)
    return [folder / stage.folder for stage in plan.stages]


def weights(stage):
    return hashlib.sha256((stage / "model" / "model.safetensors").read_bytes()).hexdigest()


def learner(name="learner", methods=(LOGITS,), teacher="teacher", start="teacher", **train):
    return {"name": name, "start": start, "teacher": teacher, "methods": list(methods), "train": {**TRAIN, **train}}


def test_cached_and_recomputed_activations_give_the_same_weights(recipe, tmp_path):
    """A second run next to the first finds all activations in the cache."""
    stage = learner(methods=[{"use": "student", "layers": 2, "hidden": 16, "heads": 4}, {"use": "tinybert"}])
    *_, cached = run(recipe(stage), tmp_path / "one" / "run")
    blocks = sorted((tmp_path / "one" / ".teachers").glob("*/*"))
    assert blocks
    times = [path.stat().st_ctime_ns for path in blocks]
    *_, anew = run(recipe(stage, cache={"gigabytes": 0.0}), tmp_path / "two" / "run")
    assert not (tmp_path / "two" / ".teachers").exists()
    assert weights(cached) == weights(anew) and cached.name == anew.name
    *_, again = run(recipe(stage), tmp_path / "one" / "other")
    assert weights(again) == weights(cached)
    assert all(
        (block / "numbers.safetensors").stat().st_mtime_ns <= time for block, time in zip(blocks, times, strict=True)
    )
    assert sorted((tmp_path / "one" / ".teachers").glob("*/*")) == blocks


def test_logits_are_cached_whatever_the_size_limit(recipe, tmp_path):
    """Computed in the student's batches, the logits of a second or resumed run would differ in their last bits."""
    no_cache = recipe(learner(), cache={"gigabytes": 0.0})
    one, two = (run(no_cache, tmp_path / "runs" / name)[-1] for name in ("one", "two"))
    assert one.name == two.name and weights(one) == weights(two)


def test_a_student_may_be_another_pretrained_model(recipe, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    tiny.model("roberta", layers=2).save(other)
    stage = {"name": "learner", "model": str(other), "teacher": "teacher", "methods": [LOGITS], "train": TRAIN}
    *_, learner_folder = run(recipe(stage), tmp_path / "run")
    assert read_json(learner_folder / "model" / "config.json")["model_type"] == "roberta"
    own, before = (load_file(folder / "model.safetensors") for folder in (learner_folder / "model", other))
    name = "roberta.encoder.layer.0.output.dense.weight"
    assert not own[name].equal(before[name]) and own[name].sub(before[name]).abs().max() < 0.1  # it began there
    assert (tmp_path / ".teachers").exists()


def test_a_teacher_that_was_trained_elsewhere_teaches_as_it_is(recipe, tmp_path):
    first, taught = run(recipe(learner()), tmp_path / "one" / "run")
    elsewhere = {"name": "guest", "model": str(first / "model")}
    student = learner(teacher="guest", start="guest")
    _, guest, learner_folder = run(recipe(elsewhere, student), tmp_path / "two" / "run")
    assert weights(guest) == weights(first) and weights(learner_folder) == weights(taught)


def test_several_teachers_teach_and_both_count_in_the_key(recipe, tmp_path):
    other = {"name": "other", "start": "teacher", "train": {**TRAIN, "lr": 3e-3}}
    both = recipe(other, learner(teacher=["teacher", "other"]))
    one = recipe(other, learner(teacher="teacher"))
    *_, of_both = run(both, tmp_path / "run")
    *_, of_one = run(one, tmp_path / "run")
    assert of_both.name != of_one.name and weights(of_both) != weights(of_one)
    assert make_plan(both, "x").to_json()["stages"][2]["teachers"] == ["teacher", "other"]


def test_activations_of_several_teachers_are_rejected(recipe):
    with pytest.raises(InputError, match=r"follows the layers of one teacher, and stages.2.teacher names 2"):
        recipe({"name": "other"}, learner(methods=[{"use": "tinybert"}], teacher=["teacher", "other"]))


@pytest.mark.parametrize(
    ("train", "message"),
    [
        (
            {"unlabelled": 5, "unlabelled_path": "no/such/file.txt"},
            "train.unlabelled_path: no/such/file.txt: is not there",
        ),
        ({"labelled": False}, "labelled: is false, and there are no other texts"),
        ({"unlabelled_path": "README.md"}, "has no effect while `unlabelled` is 0"),
    ],
)
def test_impossible_train_settings_are_rejected(recipe, train, message):
    with pytest.raises(InputError, match=message):
        recipe(learner(**train))


def test_unlabelled_texts_need_a_teacher(recipe):
    for key in ("unlabelled", "augmentations"):
        with pytest.raises(InputError, match=f"train.{key}: unlabelled texts need a teacher"):
            recipe({"name": "alone", "train": {**TRAIN, key: 3}})


def test_texts_of_ones_own_and_copies_are_trained_on(recipe, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("".join(f"{text}\n" for text, _ in tiny.sentences(40, seed=9)))
    added = {"unlabelled": 32, "unlabelled_path": str(own)}
    rows, more, copied, only = (
        read_json(run(recipe(learner(**train)), tmp_path / "run")[-1] / "result.json")["training"]["steps"]
        for train in ({}, added, {"augmentations": 2}, {**added, "labelled": False})
    )
    assert only == 2 and more == pytest.approx(rows + 2, abs=1) and copied == pytest.approx(3 * rows, abs=2)


def test_evaluation_rows_are_excluded_from_unlabelled_texts(recipe, tmp_path, monkeypatch):
    """Whatever their case and spacing: training on them would inflate the score."""
    own, train = (
        tmp_path / "own.txt",
        {"unlabelled": 500, "unlabelled_path": str(tmp_path / "own.txt"), "labelled": False},
    )
    own.write_text("a film\n")
    task = make_plan(recipe(learner(**train)), "x").task
    evaluated = [task.inputs(task.splits()[part])[0] for part in ("validation", "test")]
    own.write_text("".join(f" {text.upper().replace(' ', '  ')}\n" for text in evaluated))
    with pytest.raises(
        InputError, match=r"stage 'learner': train.unlabelled_path: all 2 texts are validation or test rows"
    ):
        make_plan(recipe(learner(**train)), "x")
    with own.open("a") as file:
        file.writelines(f"a film {number}\n" for number in range(16))
    messages = []
    monkeypatch.setattr("niwaki.run.steps.training_data.info", messages.append)
    *_, stage_folder = run(recipe(learner(**train)), tmp_path / "run")
    assert read_json(stage_folder / "result.json")["training"]["steps"] == 1  # of 16 rows, not 18
    *_, few = run(recipe(learner(**{**train, "unlabelled": 3})), tmp_path / "few")  # none of them is sampled
    assert read_json(few / "result.json")["training"]["steps"] == 1
    assert "learner: 2 unlabelled texts are validation or test rows, and are excluded" in messages


def test_the_key_follows_the_texts(recipe, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("one\ntwo\n")
    two_texts = recipe(learner(unlabelled=2, unlabelled_path=str(own)))
    first = make_plan(two_texts, "x").stages[1].key
    own.rename(tmp_path / "moved.txt")
    assert (
        make_plan(recipe(learner(unlabelled=2, unlabelled_path=str(tmp_path / "moved.txt"))), "x").stages[1].key
        == first
    )
    (tmp_path / "moved.txt").write_text("one\nthree\n")
    assert (
        make_plan(recipe(learner(unlabelled=2, unlabelled_path=str(tmp_path / "moved.txt"))), "x").stages[1].key
        != first
    )


def test_rows_whose_words_bear_answers_are_not_augmented(bert_folder, tmp_path):
    from contracts import task_rows

    path = task_rows.write("tagging", tmp_path)
    stages = [{"name": "teacher"}, learner(augmentations=1)]
    tagging = parse(
        {"model": str(bert_folder), "task": "tagging", "data": {"path": str(path)}, "quantize": [], "stages": stages}
    )
    with pytest.raises(InputError, match="rows whose answers hang on single words cannot be augmented"):
        run(tagging, tmp_path / "run")


def test_layers_alone_are_trained_to_the_last_step(recipe, tmp_path):
    """Where answers are not trained, scores on the way say nothing: the last weights count, not the best."""
    methods = [{"use": "student", "layers": 2}, {"use": "tinybert", "prediction": 0.0}]
    *_, stage = run(recipe(learner(methods=methods, validations=4)), tmp_path / "run")
    training = read_json(stage / "result.json")["training"]
    assert training["best_step"] == training["steps"]


def test_general_distillation_on_plain_text_then_on_the_task(recipe, tmp_path):
    """The pretrained model teaches layers on plain text; the student then learns the task from the fine-tuned one."""
    own = tmp_path / "plain.txt"
    own.write_text("".join(f"{text}\n" for text, _ in tiny.sentences(64, seed=5)))
    layers = [{"use": "student", "layers": 2}, {"use": "tinybert", "prediction": 0.0}]
    general = learner(
        "general",
        layers,
        teacher="pretrained",
        start="pretrained",
        unlabelled=64,
        unlabelled_path=str(own),
        labelled=False,
    )
    stages = [{"name": "pretrained"}, general, learner("student", start="general")]
    small_recipe = parse(
        {
            **recipe().model_dump(),
            "stages": [*stages[:2], {"name": "teacher", "start": "pretrained", "train": TRAIN}, stages[2]],
        }
    )
    *_, student = run(small_recipe, tmp_path / "run")
    assert 0 <= read_json(student / "result.json")["score"]["value"] <= 1


def two_phases(**second):
    student = {"use": "student", "layers": 2, "hidden": 16, "heads": 4}
    first = learner("layers", [student, {"use": "tinybert", "prediction": 0.0}], augmentations=1)
    return first, learner("answers", start="layers", **{"augmentations": 1, **second})


def test_logits_that_were_cached_with_activations_are_reused(recipe, tmp_path, monkeypatch):
    """Without room in the cache they are computed in the same way, so that the weights are the same."""
    plan = make_plan(recipe(*two_phases()), "teaching")
    assert [stage.teacher_cached for stage in plan.stages] == [False, False, True]
    requested = []
    plain = ActivationRunner.__call__
    monkeypatch.setattr(
        ActivationRunner, "__call__", lambda self, *given: requested.append(self.names) or plain(self, *given)
    )
    monkeypatch.setattr("niwaki.train.teacher.logits_of", None)  # nobody may want batches
    *_, cached = run(recipe(*two_phases()), tmp_path / "one" / "run")
    assert requested and all(requested)  # for layers alone
    *_, anew = run(recipe(*two_phases(), cache={"gigabytes": 0.0}), tmp_path / "two" / "run")
    assert not requested[-1]
    assert weights(cached) == weights(anew) and cached.name == anew.name


@pytest.mark.parametrize("second", [{"augmentations": 2}, {"labelled": False}])
def test_of_other_texts_they_are(recipe, second):
    plan = make_plan(recipe(*two_phases(**second)), "teaching")
    assert not plan.stages[-1].teacher_cached


def test_the_key_tells_whether_layers_were_compared_before(recipe):
    """Also where the stage that compared them is neither its start nor its teacher."""
    first, _ = two_phases()
    last = learner("answers", augmentations=1)
    plans = [
        make_plan(recipe({**first, "methods": [first["methods"][0], one]}, last), "teaching")
        for one in (first["methods"][1], LOGITS)
    ]
    assert [plan.stages[-1].teacher_cached for plan in plans] == [True, False]
    assert len({plan.stages[-1].key for plan in plans}) == 2


@pytest.mark.parametrize("packed", [{"use": "magnitude"}, {"use": "rtn", "bits": 4}, {"use": "ternary"}])
def test_a_packed_teacher_shows_its_layers(recipe, tmp_path, packed):
    """Its graph holds operators that no engine knows until they are written out."""
    small = {"name": "packed", "methods": [packed], "train": TRAIN}
    stage = learner(methods=[{"use": "student", "layers": 2}, {"use": "tinybert"}], teacher="packed")
    *_, cached = run(recipe(small, stage), tmp_path / "one" / "run")
    *_, anew = run(recipe(small, stage, cache={"gigabytes": 0.0}), tmp_path / "two" / "run")
    assert weights(cached) == weights(anew)


def planned(recipe, **train):
    return make_plan(recipe(learner(**train)), "x")


def test_unlabelled_texts_that_a_task_cannot_use_are_rejected(recipe, tmp_path):
    blank, latin, pairs, other = (tmp_path / name for name in ("blank.txt", "latin.txt", "pairs.csv", "notes.md"))
    blank.write_text("\n \n")
    latin.write_bytes(b"one\n" * 500 + "caf\u00e9\n".encode("latin-1"))
    pairs.write_text("premise,hypothesis\nit rains,it is wet\n")
    other.write_text("one\n")
    for path, fault in (
        (blank, "has no texts"),
        (latin, "is not text in UTF-8"),
        (other, "is no file of texts"),
        (pairs, "holds pairs of texts, and task 'classification' is on single texts"),
    ):
        with pytest.raises(InputError, match=f"stage 'learner': .*{path.name}: {fault}"):
            planned(recipe, unlabelled=5, unlabelled_path=str(path))


def test_a_task_without_texts_of_its_own_says_that_none_are_added(recipe, monkeypatch):
    messages = []
    monkeypatch.setattr("niwaki.run.validation.unlabelled.info", messages.append)
    assert planned(recipe, unlabelled=5)
    assert messages == [
        "stage 'learner': train.unlabelled: task 'classification' brings no unlabelled texts, so none are added; name a file of them in train.unlabelled_path"
    ]
    with pytest.raises(InputError, match=r"brings no unlabelled texts, and train\.labelled is false; name a file"):
        planned(recipe, unlabelled=5, labelled=False)


def test_rows_that_cannot_be_augmented_are_rejected(bert_folder, tmp_path):
    rows = task_rows.write("tagging", tmp_path, count=40)
    stage = learner(augmentations=1)
    with pytest.raises(InputError, match="stage 'learner': task 'tagging': rows whose answers hang on single words"):
        make_plan(
            parse(
                {
                    "model": str(bert_folder),
                    "task": "tagging",
                    "data": {"path": str(rows)},
                    "quantize": [],
                    "stages": [{"name": "teacher", "train": TRAIN}, stage],
                }
            ),
            "x",
        )


def test_unlabelled_texts_for_multiple_choice_are_rejected(bert_folder, tmp_path):
    rows, own = task_rows.write("choice", tmp_path, count=40), tmp_path / "own.txt"
    own.write_text("a film\n")
    stages = [{"name": "teacher", "train": TRAIN}, learner(unlabelled=1, unlabelled_path=str(own))]
    with pytest.raises(
        InputError,
        match=r"stage 'learner': task 'choice': unlabelled texts cannot be added to it; set train\.unlabelled = 0",
    ):
        make_plan(
            parse(
                {
                    "model": str(bert_folder),
                    "task": "choice",
                    "data": {"path": str(rows)},
                    "quantize": [],
                    "stages": stages,
                }
            ),
            "x",
        )


def test_a_cache_folder_that_cannot_be_written_is_rejected(recipe, tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        with pytest.raises(InputError, match=r"cache\.folder: .*file: is a file, not a folder"):
            make_plan(recipe(learner(), cache={"folder": str(tmp_path / place)}), "x")
    with pytest.raises(InputError, match=r"cache\.gigabytes"):
        recipe(learner(), cache={"gigabytes": 1e300})
    default_cache = tmp_path / "runs" / ".teachers"
    (default_cache / ".lock").mkdir(parents=True)
    with pytest.raises(InputError, match=r"cache\.folder: .*\.lock: is a folder, where a file must be"):
        runner.execute(recipe(learner()), "x", tmp_path / "runs" / "one")
    shutil.rmtree(default_cache)
    default_cache.write_text("")
    with pytest.raises(InputError, match=r"cache\.folder: .*teachers: is a file, not a folder"):
        runner.execute(recipe(learner()), "x", tmp_path / "runs" / "one")
    assert not list((tmp_path / "runs" / "one").glob("stages/*"))


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (
            {"name": "small", "teacher": "teacher", "methods": [{"use": "int8"}]},
            r"stages\.1\.teacher: has no effect without a train block",
        ),
        (
            learner(methods=[{"use": "tinybert", "prediction": 0.0}], patience=2),
            r"stages\.1\.train\.patience: no method trains answers",
        ),
        (
            learner(methods=[{"use": "cosine"}], patience=2, labelled=False, augmentations=1),
            r"stages\.1\.train\.patience: no method trains answers",
        ),
    ],
)
def test_settings_without_effect_are_rejected(recipe, stage, message):
    with pytest.raises(InputError, match=message):
        recipe(stage)
    recipe(learner(patience=2))


def test_a_network_for_single_texts_is_rejected_for_pairs(tmp_path):
    rows = tmp_path / "pairs.csv"
    rows.write_text(
        "premise,hypothesis,label\n" + "".join(f"{text},{text},{label}\n" for text, label in tiny.sentences(80))
    )
    single, pairs = (
        guest(tmp_path / name, family="averaging", niwaki_texts=count) for name, count in (("single", 1), ("pairs", 2))
    )
    values = {
        "task": "classification",
        "data": {"path": str(rows)},
        "quantize": [],
        "stages": [{"name": "one", "train": TRAIN}],
    }
    make_plan(parse({"model": pairs, **values}), "x")
    with pytest.raises(InputError, match="single: was made for single texts, and task 'classification' is on several"):
        make_plan(parse({"model": single, **values}), "x")


@pytest.mark.parametrize("methods", [[], [{"use": "student", "layers": 2}]])
def test_a_teacher_that_no_method_uses_is_rejected(recipe, methods):
    with pytest.raises(InputError, match=r"stages\.1\.teacher: no method of the stage uses it"):
        recipe(learner(methods=methods))
    assert recipe(learner(methods=[{"use": "exits", "after": [1]}]))


def test_exits_follow_several_teachers(recipe, tmp_path):
    second = {"name": "second", "start": "teacher", "train": TRAIN}
    stage = learner(methods=[{"use": "exits", "after": [1]}, LOGITS], teacher=["teacher", "second"])
    *_, done = run(recipe(second, stage), tmp_path / "run")
    assert read_json(done / "model" / "config.json")["niwaki_exits"] == [1]


def guest(folder, **more):
    folder.mkdir()
    tiny.model(**more).save(folder)
    return str(folder)


def test_another_tokenizer_is_seen_before_any_work(recipe, tmp_path):
    """As soon as layers are compared; answers for whole texts may be given for any tokens."""
    stages = [split_otherwise(tmp_path / name, piece) for name, piece in (("one", "goo"), ("other", "##ood"))]
    for teacher, start in (("one", "teacher"), ("one", "other")):  # more tokens, and as many
        with pytest.raises(
            InputError, match="stage 'learner': student and teacher split the texts into different tokens"
        ):
            make_plan(recipe(*stages, learner(methods=[{"use": "tinybert"}], teacher=teacher, start=start)), "x")
        make_plan(recipe(*stages, learner(teacher=teacher, start=start)), "x")


def split_otherwise(folder, piece):
    """A stage that starts from a model that knows `piece` and not "good"."""
    stage = {"name": folder.name, "model": guest(folder), "train": TRAIN}
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace('"good"', f'"{piece}"'))
    return stage


def test_tokens_are_the_same_whatever_their_numbers(tmp_path):
    """Token ids differ between trimmed vocabularies; other tokens of the same number do not match."""
    text, folders = "a good film ", [tmp_path / name for name in ("one", "other")]
    for folder, piece in zip(folders, ("goo", "##ood"), strict=True):
        split_otherwise(folder, piece)
    whole, one, other = tiny.model(), *(load_folder(folder) for folder in folders)
    trimmed = tiny.model()
    used = [number for piece, number in whole.tokenizer.get_vocab().items() if piece != "fine"]
    trimmed.tokenizer = trimming.trimmed(whole.tokenizer, sorted(used))

    def rows(model, text, most=99):
        ids = Ragged.of([model.tokenizer(text)["input_ids"][:most]])
        return EncodedInputs({"input_ids": ids, "token_type_ids": ids}, np.arange(1), [])

    assert rows(whole, text).ids.values.tolist() != rows(trimmed, text).ids.values.tolist()
    check_same_tokens("x", rows(trimmed, text), rows(whole, text), trimmed, whole, layers=True)
    assert len(rows(one, text).ids.values) == len(rows(other, text).ids.values)
    with pytest.raises(InputError, match="different tokens, so their layers cannot be compared"):
        check_same_tokens("x", rows(one, text), rows(other, text), one, other, layers=True)
    with pytest.raises(InputError, match="different tokens, so their answers for each token"):
        check_same_tokens("x", rows(one, text), rows(whole, text), one, whole, layers=False)
    limit = whole.anatomy.max_tokens
    with pytest.raises(
        InputError, match=rf"reads 92 tokens of a long text and its teacher {limit}, .*; set data\.max_tokens = {limit}"
    ):
        check_same_tokens("x", rows(whole, 30 * text), rows(whole, 30 * text, limit), whole, whole, layers=True)


def test_an_untrained_teacher_is_rejected(recipe, tmp_path):
    """Its folder has a head for three labels, and nothing trains one for two; its layers may be followed all the same."""
    other = {"name": "other", "model": guest(tmp_path / "other", labels=["a", "b", "c"])}
    with pytest.raises(
        InputError, match=r"its teacher 'other' would answer by chance: .*other has no head for the task's 2 labels"
    ):
        make_plan(recipe(other, learner(teacher="other")), "x")
    make_plan(recipe({**other, "train": TRAIN}, learner(teacher="other")), "x")
    make_plan(recipe(other, learner(methods=[{"use": "tinybert", "prediction": 0.0}], teacher="other")), "x")


def test_a_teacher_with_labels_of_its_own_is_none(recipe, tmp_path):
    """A head for other labels of the same number does not count. Labels are compared without regard to case."""
    for number, labels in enumerate((["sports", "politics"], ["GOOD", "Bad"])):
        other_labels = recipe(
            {"name": "other", "model": guest(tmp_path / str(number), labels=labels)}, learner(teacher="other")
        )
        if number:
            make_plan(other_labels, "x")
        else:
            with pytest.raises(
                InputError, match=r"would answer by chance: .* has no head for the task's 2 labels \(bad, good\)"
            ):
                make_plan(other_labels, "x")


LAYERS = {"use": "tinybert", "prediction": 0.0}


@pytest.mark.parametrize(
    "stages, message",
    [
        ([learner(teacher="bare", methods=[{"use": "exits", "after": [1]}])], "has no head"),
        ([learner("layers", [LAYERS], "bare", "bare"), learner(teacher="layers")], "has no head"),
        (
            [
                learner("texts", [{"use": "cosine"}], "bare", "bare", labelled=False, augmentations=1),
                learner(teacher="texts"),
            ],
            "has no head",
        ),
        (
            [
                {"name": "fresh", "start": "teacher", "methods": [{"use": "student", "start": "fresh"}]},
                learner(teacher="fresh"),
            ],
            "its head is a new one",
        ),
        ([learner("net", [{"use": "bilstm"}, LOGITS], labelled=False, augmentations=1), learner(teacher="net")], ""),
        ([learner("layers", [LAYERS], "teacher", "teacher"), learner(teacher="layers")], ""),
    ],
)
def test_only_what_trains_answers_makes_a_teacher_of_them(recipe, tmp_path, stages, message):
    bare = {"name": "bare", "model": guest(tmp_path / "bare", labels=["a", "b", "c"])}
    tested = recipe(bare, *stages)
    if not message:
        make_plan(tested, "x")
        return
    with pytest.raises(InputError, match=f"would answer by chance: .*{message}"):
        make_plan(tested, "x")
