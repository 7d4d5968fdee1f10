"""`niwaki nearest MODEL FILE QUERY`."""

import json


def test_lines_and_json_name_the_same_neighbours(niwaki, encoder_folder, tmp_path):
    (tmp_path / "texts.txt").write_text("a good film\nthe plot was dull\n\nthe end\n")
    given = ("nearest", encoder_folder, tmp_path / "texts.txt", "the plot was dull", "--engine", "torch", "--top", "2")
    (found,) = json.loads(niwaki(*given, "--json", "--index", tmp_path / "index").out)
    lines = niwaki(*given, "--index", tmp_path / "index").out.splitlines()
    assert [line.split("\t")[1:] for line in lines] == [[str(one["line"]), one["text"]] for one in found["nearest"]]
    assert lines[0] == "1.0000\t2\tthe plot was dull" and len(lines) == 2


def test_what_is_no_encoder_or_file_is_rejected(rejected, encoder_folder, bert_folder, tmp_path):
    (tmp_path / "texts.txt").write_text("a\n")
    options = ("--engine", "torch")
    line = rejected("nearest", bert_folder, tmp_path / "texts.txt", "a", *options, code=2)
    assert "gives no sentence embeddings" in line
    assert "is not a file" in rejected("nearest", encoder_folder, tmp_path / "none.txt", "a", *options)
