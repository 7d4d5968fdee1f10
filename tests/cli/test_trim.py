"""`niwaki trim`: a model with the tokens of some texts."""

import json

import stock


def test_an_encoder_decoder_is_trimmed_and_predicts(niwaki, tmp_path):
    folder = stock.folder("bart", tmp_path / "bart")
    (tmp_path / "source.txt").write_text("one two\nONE\n")
    (tmp_path / "target.txt").write_text("four\n")
    given = ("trim", folder, tmp_path / "source.txt", "--out", tmp_path / "small")
    assert "--targets" in niwaki(*given).err
    result = niwaki(*given, "--targets", tmp_path / "target.txt", "--json")
    value = json.loads(result.out)
    assert value["tokens"] == [14, 8] and value["parameters"][1] < value["parameters"][0]
    assert niwaki("predict", tmp_path / "small", "one two", "--engine", "torch").code == 0
    assert niwaki(*given, "--targets", tmp_path / "target.txt").code == 3  # there is one already
    missing = niwaki("trim", folder, tmp_path / "none.txt", "--out", tmp_path / "other")
    assert missing.code == 3 and "none.txt: is not there" in missing.err
