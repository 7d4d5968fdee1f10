import numpy as np

from niwaki.estimators import Regressor


def test_learns_numbers_of_any_scale(settings, rows, tmp_path):
    texts, labels = rows
    y = np.where(labels == "good", 400.0, 100.0)
    found = Regressor(**settings).fit(texts[:120], y[:120])
    assert found.score(texts[120:], y[120:]) > 0.5
    again = Regressor.from_pretrained(found.save_pretrained(tmp_path / "saved"))
    assert (again.predict(texts[:5]) == found.predict(texts[:5])).all()
