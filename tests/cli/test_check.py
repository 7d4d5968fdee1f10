"""The line that `niwaki check` ends with."""

import json
import re

import pytest

from niwaki.api import check
from niwaki.cli.check import noise_text, span, summary

TOTAL = {
    "cpu_seconds_range": [300, 768],
    "seconds_range": [150, 384],
    "cores": 2,
    "load": 0.1,
    "megabytes": 965.0,
    "teachers_megabytes": 0.0,
}


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (2, 5, "2 to 5 s"),
        (40, 90, "40 to 90 s"),
        (100, 250, "1.7 to 4.2 min"),
        (300, 768, "5 to 13 min"),
        (9000, 23000, "2.5 to 6.4 h"),
    ],
)
def test_time_range_is_printed_in_a_readable_unit(low, high, text):
    assert span(low, high) == text


def test_busy_machine_is_mentioned():
    assert (
        summary(TOTAL) == "fine; 5 to 13 min of CPU time with baselines and race, so 2.5 to 6.4 min on 2 cores; 965 MB"
    )
    assert "on 2 cores, which are busy now (load 3.0)" in summary({**TOTAL, "load": 3.0})
    assert "on 1 core;" in summary({**TOTAL, "cores": 1})
    assert "at most 12 MB more" in summary({**TOTAL, "teachers_megabytes": 12.0})


def test_suspicious_labels_are_listed_below_the_estimate():
    found = {
        "rows": 80,
        "noise": 0.125,
        "model": {"features": "TF-IDF", "accuracy": 0.9, "majority": 0.5},
        "reliable": True,
        "suspects": [
            {"input": "x" * 70, "label": "a", "suggested": "b", "probability": 0.987},
            {"input": ["one\n\x1btext", "another"], "label": "b", "suggested": "a", "probability": 0.6},
        ],
    }
    first, *others = noise_text(found).splitlines()
    assert first == (
        "estimated label noise: 12.5 % of 80 train rows (linear model on TF-IDF: accuracy 0.900, majority class 0.500)"
    )
    assert others[0] == "2 rows probably have another label (--json lists all), first:"
    assert any("0.99" in line and f"{'x' * 60}…" in line for line in others)
    assert any("one text | another" in line for line in others)
    assert (
        "too little for a reliable estimate" in noise_text({**found, "reliable": False, "suspects": []}).splitlines()[0]
    )


def test_check_with_labels_adds_the_estimate(rows_csv, bert_folder):
    overrides = [f"model={bert_folder}"]
    plain, found = (
        check("finetune", overrides=overrides, data=str(rows_csv), labels=labels) for labels in (False, True)
    )
    assert "label_noise" not in plain and found["label_noise"]["rows"] == found["task"]["rows"]["train"]


def test_missing_or_unsupported_data_files_are_rejected(rejected, tmp_path):
    assert "is not there" in rejected("check", "--data", tmp_path / "none.csv")
    (tmp_path / "rows.xlsx").write_text("x")
    assert "is a spreadsheet, which is not read; export the sheet as CSV" in rejected(
        "check", "--data", tmp_path / "rows.xlsx"
    )
    (tmp_path / "rows.doc").write_text("x")
    assert "give .csv, .tsv, .jsonl, .parquet" in rejected("check", "--data", tmp_path / "rows.doc")
    (tmp_path / "folder").mkdir()
    assert "has no train file" in rejected("check", "--data", tmp_path / "folder")


def test_data_path_is_rejected_for_a_task_with_its_own_rows(rejected, rows_csv):
    line = rejected("check", "--set", f"data.path={rows_csv}")
    assert "task 'rotten_tomatoes' has rows of its own; take task 'classification'" in line


def test_many_rows_and_labels_are_read(niwaki, write_recipe, tmp_path):
    text = "word " * 40
    (tmp_path / "many.csv").write_text(
        "text,label\n" + "".join(f'"{text}{k}, ""quoted""\n",{k % 50}\n' for k in range(20_000))
    )
    plan = json.loads(niwaki("check", write_recipe(rows=tmp_path / "many.csv"), "--json").out)
    assert sum(plan["task"]["rows"].values()) == 20_000 and len(plan["task"]["labels"]) == 50


def test_steps_and_time_are_estimated(niwaki, recipe_file):
    plan = json.loads(niwaki("check", recipe_file, "--json").out)
    assert plan["estimate"]["stages"][0]["steps"] == 4  # half of 120 rows in batches of 16
    assert niwaki("check", recipe_file).out.splitlines()[-1].startswith("fine; ")
    assert re.search(
        r"fine; \d+ to \d+ s of CPU time .* so [\d.]+ to [\d.]+ (s|min) on \d+ core", niwaki("check", recipe_file).out
    )
