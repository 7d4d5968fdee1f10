"""`niwaki look MODEL TEXT`."""

import json


def test_text_json_and_page(niwaki, bert_folder, tmp_path):
    page = tmp_path / "page.html"
    given = ("look", bert_folder, "a good film")
    facts = json.loads(niwaki(*given, "--json", "--out", page).out)
    assert "</html>" in page.read_text() and facts["words"] == ["a", "good", "film"]
    assert facts["answer"] in niwaki(*given).out
    assert niwaki(*given, "--out", page).code == 3 and niwaki(*given, "--out", page, "--force").code == 0


def test_faults_are_one_line(rejected, bert_folder, tmp_path):
    assert "neither an embedded model" in rejected("look", tmp_path / "none", "a")
    assert "is not a file" in rejected("look", bert_folder, "a", "--data", tmp_path / "none.csv")
