"""`niwaki init` without a terminal."""

import json

import tiny


def test_flags_answer_the_three_questions(niwaki, tmp_path, encoder_folder):
    rows, out = tiny.write_csv(tmp_path / "rows.csv"), tmp_path / "recipe.toml"
    words = ["--data", str(rows), "--model", str(encoder_folder), "--goal", "small", "--out", str(out), "--json"]
    result = niwaki("init", *words)
    assert result.code == 0 and json.loads(result.out)["recipe"] == "thin" and out.is_file()


def test_a_missing_answer_is_named(niwaki, tmp_path):
    result = niwaki("init", "--data", "rows.csv", "--out", str(tmp_path / "recipe.toml"))
    assert result.code == 2 and "give --model" in result.err and not list(tmp_path.iterdir())
