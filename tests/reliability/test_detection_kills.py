"""Twenty kill -9 while a discriminator is pretrained with its generator: weights, histories and results end the same to the bit."""

import json
import random
from itertools import islice
from pathlib import Path

import pytest

import tiny
from reliability import aimed
from reliability.same import differences, ledger_faults

PLACES = {"save": 5, "border": 1, "recovery": 2, "random": 2}  # relative frequencies
RECIPE = """\
model = {model}
task = "language_modeling"
data = {{ path = {corpus}, max_tokens = 24, validation = 0.1, test = 0.1, cache = {tokens} }}
quantize = []
baselines = false
race = "short"
cache = {{ stages = false }}

[[stages]]
name = "electra"
methods = [{{ use = "from_scratch", family = "electra", layers = 2, hidden_size = 32, heads = 4, ffn_size = 48, embedding_size = 24, vocab_size = 300 }}]
train = {{ objective = "replaced_token_detection", epochs = 2, lr = 2e-3, batch = 16, validations = 2, dropout = 0.1, save_seconds = 0.001 }}
"""


@pytest.fixture
def recipe(tmp_path: Path, bert_folder: Path) -> Path:
    rows = [text for text, _ in tiny.sentences(240)]
    texts = [" ".join(rows[number : number + 2]) for number in range(0, len(rows), 2)]
    (tmp_path / "corpus.txt").write_text("\n\n".join(texts))
    paths = {"model": bert_folder, "corpus": tmp_path / "corpus.txt", "tokens": tmp_path / "tokens"}
    path = tmp_path / "electra.toml"
    path.write_text(RECIPE.format(**{name: json.dumps(str(value)) for name, value in paths.items()}))
    return path


@pytest.mark.slow
def test_twenty_kills_while_a_discriminator_is_pretrained(tmp_path, recipe):
    whole, alone, places = aimed.run_alone(recipe, tmp_path / "alone", tmp_path / "log"), tmp_path / "alone", []
    for number in range(20):
        aims = aimed.drawn_aims(random.Random(number), whole, PLACES)
        killed = aimed.kill_often(recipe, tmp_path / str(number), tmp_path / "log", islice(aims, 20 - len(places)))
        assert differences(tmp_path / str(number), alone) == []
        assert ledger_faults(tmp_path / str(number), killed.open_attempts) == [] and not killed.repeated
        places += killed.places
        if len(places) == 20:
            break
    assert len(places) == 20 and "save" in places
