"""The dry run on a model without weights rejects impossible plans before anything is loaded."""

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.models import model as models
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse

TRAIN = {"epochs": 0.5, "batch": 16}


def plan(bert_folder, rows_csv, *stages, **more):
    recipe = {
        "model": str(bert_folder),
        "task": "classification",
        "data": {"path": str(rows_csv)},
        "quantize": [],
        "stages": [*stages],
    }
    return make_plan(parse({**recipe, **more}), "dry run")


def stage(name, *methods, **more):
    return {"name": name, "methods": [*methods], **more}


@pytest.mark.parametrize(
    "methods, message",
    [
        ([[{"use": "student", "layers": 4}]], "stage 'made0': student: layers 4 is more than the start model's 3"),
        (
            [[{"use": "student", "layers": 2}], [{"use": "student", "layers": 3}]],
            "stage 'made1': student: layers 3 is more",
        ),
        ([[{"use": "student", "layers": 1}], [{"use": "freeze", "layers": 2}]], "stage 'made1': freeze: layers is 2"),
        (
            [[{"use": "averaging"}], [{"use": "heads"}]],
            "stage 'made1': heads: a model of family 'averaging' has no attention",
        ),
        (
            [[{"use": "int8"}], [{"use": "bilstm"}], [{"use": "student"}]],
            "stage 'made2': student: a model of family 'bilstm'",
        ),
    ],
)
def test_an_impossible_shape_is_rejected_with_its_stage(bert_folder, rows_csv, monkeypatch, methods, message):
    monkeypatch.setattr(models, "load_folder", None)  # nothing is loaded for it
    stages = [stage(f"made{number}", *some, train=TRAIN) for number, some in enumerate(methods)]
    with pytest.raises(InputError, match=message) as caught:
        plan(bert_folder, rows_csv, *stages)
    assert len(caught.value.faults) == 1 and len(str(caught.value)) < 300


def test_a_start_from_an_earlier_stage_is_rehearsed_from_there(bert_folder, rows_csv):
    first, second = stage("small", {"use": "student", "layers": 1}), stage("large", {"use": "student", "layers": 3})
    assert plan(bert_folder, rows_csv, stage("whole"), first, {**second, "start": "whole"})
    with pytest.raises(InputError, match="stage 'large'"):
        plan(bert_folder, rows_csv, stage("whole"), first, second)


def test_what_a_method_packs_at_the_end_is_not_packed_for_the_others_of_its_stage(bert_folder, rows_csv):
    """All prepare before any finishes, as in the stage itself."""
    movement = {"use": "movement", "sparsity": 0.5}
    assert plan(bert_folder, rows_csv, stage("both", {"use": "int8"}, movement, train=TRAIN))
    with pytest.raises(InputError, match="stage 'then': movement: the weights are packed"):
        plan(bert_folder, rows_csv, stage("packed", {"use": "int8"}), stage("then", movement, train=TRAIN))


def test_a_method_that_reads_another_stage_must_name_one_that_comes_before(bert_folder, rows_csv):
    ticket = {"use": "lottery", "sparsity": 0.5, "rewind": "early"}
    with pytest.raises(InputError, match="'early' is not an earlier stage"):
        plan(bert_folder, rows_csv, stage("ticket", ticket, train=TRAIN))
    one, two = (
        plan(
            bert_folder,
            rows_csv,
            stage("early", train={**TRAIN, "epochs": epochs}),
            stage("ticket", ticket, train=TRAIN),
        )
        for epochs in (0.5, 1.0)
    )
    assert one.stage("ticket").key != two.stage("ticket").key


def test_an_averaging_network_for_a_token_task_is_rejected(bert_folder, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f'{{"tokens": ["a", "film{n}"], "tags": ["O", "B-X"]}}\n' for n in range(40)))
    with pytest.raises(InputError, match="averaging: predicts for whole texts"):
        plan(bert_folder, rows, stage("averaged", {"use": "averaging"}, train=TRAIN), task="tagging")


@pytest.mark.parametrize(
    "methods, message",
    [
        ([{"use": "magnitude"}, {"use": "heads"}], "stage 'combined': magnitude: a method named after it cuts"),
        ([{"use": "l0"}, {"use": "layers", "count": 2}], "stage 'combined': l0: a method named after it cuts"),
        ([{"use": "ternary"}, {"use": "qat"}], "stage 'combined': qat: 'ternary' rounds the same matrices"),
        (
            [{"use": "attention_relations", "layer": 9}],
            "stage 'combined': attention_relations: layer 9 is more than the teacher's 3",
        ),
        (
            [{"use": "tinybert"}, {"use": "hidden_size", "keep": 0.5}],
            "stage 'combined': tinybert: a method named after it changes the layers",
        ),
        (
            [{"use": "heads"}, {"use": "lottery"}],
            "stage 'combined': lottery: the weights of the recipe's model do not fit",
        ),
        (
            [{"use": "vocabulary"}, {"use": "lottery"}],
            "stage 'combined': lottery: the weights of the recipe's model do not fit",
        ),
    ],
)
def test_incompatible_methods_of_one_stage_are_rejected(bert_folder, rows_csv, methods, message):
    heard = {"teacher": "whole"} if methods[0]["use"] in ("attention_relations", "tinybert") else {}
    combined = stage("combined", *methods, train=TRAIN, **heard)
    with pytest.raises(InputError, match=message):
        plan(bert_folder, rows_csv, stage("whole"), combined)
    other_way = {**combined, "methods": methods[::-1]}
    if len(methods) > 1 and methods[1]["use"] not in ("lottery", "qat"):
        assert plan(bert_folder, rows_csv, stage("whole"), other_way)


def test_a_ticket_of_a_stage_that_gates_will_cut_is_rejected(bert_folder, rows_csv):
    gated = stage("gated", {"use": "l0", "target": 0.6}, train=TRAIN)
    with pytest.raises(InputError, match="stage 'ticket': lottery: the weights of the recipe's model do not fit"):
        plan(bert_folder, rows_csv, gated, stage("ticket", {"use": "lottery"}, train=TRAIN))


def test_rounding_in_one_stage_and_again_in_the_next_of_a_new_student_is_fine(bert_folder, rows_csv):
    fresh = {"use": "student", "layers": 1, "start": "fresh"}
    assert plan(
        bert_folder,
        rows_csv,
        stage("one", {"use": "qat"}, train=TRAIN),
        stage("two", fresh, {"use": "ternary"}, train=TRAIN),
    )


def test_what_a_task_has_and_what_a_model_reads_must_agree(bert_folder, tmp_path):
    """Texts and images, with a decoder behind the encoder."""
    (tmp_path / "vit").mkdir()
    tiny.model("vit", layers=1).save(tmp_path / "vit")
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"text": "a cat {n}", "target": "b{n} c"}}\n' for n in range(40)))
    decoder = stage("made", {"use": "add_decoder", "layers": 1}, train=TRAIN)
    captions = {"task": "shape_captions", "data": {"pairs": 100, "evaluation_pairs": 20}}
    texts = {"task": "generation", "data": {"path": str(tmp_path / "rows.jsonl"), "text": "text", "target": "target"}}
    assert plan(tmp_path / "vit", "", decoder, **captions)
    with pytest.raises(InputError, match="task 'shape_captions' has images, and the model reads texts"):
        plan(bert_folder, "", decoder, **captions)
    with pytest.raises(InputError, match="task 'generation' has texts, and the model reads images"):
        plan(tmp_path / "vit", "", decoder, **texts)
