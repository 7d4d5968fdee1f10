"""Twenty kill -9 while encoder-decoders are pretrained: weights, histories and results end the same to the bit."""

import json
import random
from itertools import islice

import pytest

import tiny
from reliability import aimed
from reliability.same import differences, ledger_faults

WEIGHTS = {"save": 5, "border": 1, "recovery": 2, "random": 2}
RECIPE = """\
model = {model}
task = "denoising"
data = {{ path = {corpus}, max_tokens = 24, validation = 0.1, test = 0.1, cache = {tokens} }}
quantize = []
baselines = false

[[stages]]
name = "spans"
methods = [{{ use = "from_scratch", family = "t5", layers = 1, hidden_size = 24, heads = 2, ffn_size = 48, vocab_size = 300, sentinels = 20 }}]
train = {{ objective = "span_corruption", epochs = 1, lr = 2e-3, batch = 16, validations = 2, dropout = 0.1, save_seconds = 0.001 }}

[[stages]]
name = "texts"
train = {{ objective = "text_denoising", epochs = 0.5, lr = 1e-3, batch = 16, dropout = 0.1, save_seconds = 0.001 }}
"""


@pytest.fixture
def recipe(tmp_path, bert_folder):
    texts = [
        f"{text} . {other}" for (text, _), (other, _) in zip(tiny.sentences(80), tiny.sentences(80, 1), strict=True)
    ]
    (tmp_path / "corpus.txt").write_text("\n\n".join(dict.fromkeys(texts)))
    paths = {"model": bert_folder, "corpus": tmp_path / "corpus.txt", "tokens": tmp_path / "tokens"}
    path = tmp_path / "pretrain.toml"
    path.write_text(RECIPE.format(**{name: json.dumps(str(value)) for name, value in paths.items()}))
    return path


@pytest.mark.slow
def test_twenty_kills_while_pretraining(tmp_path, recipe):
    """Each run has a folder of its own, because runs next to each other share finished stages."""
    alone = tmp_path / "alone" / "run"
    alone.parent.mkdir()
    whole = aimed.run_alone(recipe, alone, tmp_path / "log")
    places: list[str] = []
    for number in range(20):
        run, aims = tmp_path / str(number) / "run", aimed.drawn_aims(random.Random(number), whole, WEIGHTS)
        run.parent.mkdir()
        killed = aimed.kill_often(recipe, run, tmp_path / "log", islice(aims, 20 - len(places)))
        assert differences(run, alone) == []
        assert ledger_faults(run, killed.open_attempts) == [] and killed.repeated == 0
        places += killed.places
        if len(places) == 20:
            break
    assert len(places) == 20 and "save" in places
