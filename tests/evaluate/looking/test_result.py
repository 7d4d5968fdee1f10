import json

import numpy as np

from niwaki.evaluate.looking.look import look
from niwaki.evaluate.looking.result import MOST_WEIGHTS


def test_it_is_json_text_and_a_frame(subject):
    found = look(subject("a good <film>"))
    facts = json.loads(json.dumps(found.to_json()))
    assert facts["tokens"] == found.tokens and len(facts["attention"]["weights"]) == 3
    assert facts["integrated_gradients"]["words"] and facts["rank_correlation"] == found.explained.agreement
    text = found.summary()
    assert found.answer in text and "not shown: neighbours" in text and "layer 3" in text and "good" in text
    html = found._repr_html_()
    assert html.startswith("<iframe sandbox") and "<film>" not in html and "Content-Security-Policy" in html


def test_attention_of_long_texts_becomes_a_mean_and_is_cut(subject):
    found = look(subject())
    whole = np.random.default_rng(0).dirichlet(np.ones(300), (4, 300)).astype(np.float32)
    found.attention = [whole] * 3
    found.reading.tokens[:] = ["a"] * 300
    facts = found.to_json()["attention"]
    assert facts["mean_over_heads"] and facts["heads"] == [4, 4, 4] and facts["tokens"] == 300
    assert np.allclose(facts["weights"][0][0], whole.mean(axis=0), atol=1e-4)
    found.attention = [np.zeros((1, 900, 900), np.float32)] * 3
    found.reading.tokens[:] = ["a"] * 900
    facts = found.to_json()["attention"]
    assert 3 * facts["tokens"] ** 2 <= MOST_WEIGHTS < 3 * (facts["tokens"] + 1) ** 2
