"""The blocks of docs/scikit_learn.md run in their order, with a tiny model in the place of the default one."""

import re
from pathlib import Path

import pytest

import tiny

PAGE = Path(__file__).parents[2] / "docs" / "scikit_learn.md"
RECIPE = 'task = "classification"\n[[stages]]\nname = "tuned"\ntrain = { epochs = 1, lr = 1e-3 }\n'


@pytest.mark.filterwarnings("ignore")
def test_blocks_run_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = tiny.model(layers=1)
    (tmp_path / "model").mkdir()
    found.save(tmp_path / "model")
    found.network.bert.save_pretrained(tmp_path / "encoder")
    found.tokenizer.save_pretrained(tmp_path / "encoder")
    (tmp_path / "quick.toml").write_text(RECIPE)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        block = block.replace("Classifier()", "Classifier('model', 'quick.toml')").replace(
            "Encoder()", "Encoder('encoder')"
        )
        exec(block, names)
    assert len(blocks) == 5 and (tmp_path / "reviews" / "MANIFEST").is_file()
    assert "X: " in capsys.readouterr().out
    assert (names["same"].predict(names["texts"]) == names["again"].predict(names["texts"])).all()
