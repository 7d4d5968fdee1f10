"""Nearest sentences equal a search over all cosines, with and without stored embeddings."""

import numpy as np
import pytest

import tiny
from niwaki import api
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import InputError, UsageError
from niwaki.engines import nearest as module
from niwaki.engines import stream
from niwaki.engines.nearest import Corpus, most_similar, nearest

TEXTS = [text for text, _ in tiny.sentences(37, seed=4)]


@pytest.fixture(scope="module")
def encoder(encoder_folder):
    return api.load(encoder_folder, engine="torch")


@pytest.fixture
def corpus(encoder, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(["", *TEXTS[:20], " ", *TEXTS[20:]]) + "\n")
    return Corpus(encoder, path)


def test_blocks_are_merged_and_ties_go_to_the_first_line():
    generator = np.random.default_rng(0)
    vectors, targets = generator.normal(size=(101, 7)).round(1), generator.normal(size=(3, 7)).round(1)
    vectors[50:60] = vectors[0]  # equal lines
    cosines = targets @ vectors.T
    for size in (1, 10, 13, 200):
        blocks = [(np.arange(at, min(at + size, 101)), vectors[at : at + size]) for at in range(0, 101, size)]
        lines, values = most_similar(blocks, targets, 15)
        wanted = np.argsort(-cosines.round(9), axis=1, kind="stable")[:, :15]
        np.testing.assert_allclose(values, np.take_along_axis(cosines, wanted, axis=1))
        np.testing.assert_allclose(np.take_along_axis(cosines, lines, axis=1), values)
    assert most_similar(blocks, targets, 500)[0].shape == (3, 101)


@pytest.mark.parametrize("stored", [False, True])
def test_neighbours_are_those_of_all_cosines(corpus, tmp_path, monkeypatch, stored):
    monkeypatch.setattr(stream, "BATCH", 8)
    monkeypatch.setattr(module, "BLOCK_ROWS", 9)
    queries = ["a very good film", "the plot was dull"]
    cosines = corpus.predictor.encode(queries) @ corpus.predictor.encode(TEXTS).T
    found = nearest(corpus, queries, 4, tmp_path / "index" if stored else None)
    for row, neighbours in zip(cosines, found, strict=True):
        best = np.argsort(-row)[:4]
        assert [one.text for one in neighbours] == [TEXTS[at] for at in best]
        assert [one.similarity for one in neighbours] == pytest.approx(row[best].tolist(), abs=1e-5)
    lines = corpus.path.read_text().splitlines()
    assert all(lines[one.line - 1] == one.text for neighbours in found for one in neighbours)


def test_stored_embeddings_are_used_again_and_checked(corpus, tmp_path, monkeypatch):
    first = nearest(corpus, ["a film"], 3, tmp_path / "index")
    monkeypatch.setattr(Corpus, "blocks", lambda self: pytest.fail("embedded again"))
    assert nearest(corpus, ["a film"], 3, tmp_path / "index") == first
    with corpus.path.open("a") as file:
        file.write("another text\n")
    with pytest.raises(InputError, match="belongs to another model, engine or file"):
        nearest(corpus, ["a film"], 3, tmp_path / "index")
    (tmp_path / "index" / "lines.i64").write_bytes(b"damaged")
    with pytest.raises(InputError, match="remove the folder, it is then written anew"):
        nearest(corpus, ["a film"], 3, tmp_path / "index")


def test_files_without_texts_are_rejected(encoder, tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n")
    with pytest.raises(InputError, match="has no texts"):
        nearest(Corpus(encoder, tmp_path / "empty.txt"), ["a"], 1)
    with pytest.raises(InputError, match="is not a file"):
        nearest(Corpus(encoder, tmp_path), ["a"], 1)


def test_language_models_give_embeddings_without_their_head(tmp_path):
    answer = Likelihood(mask_token_id=tiny.tokenizer().mask_token_id).to_json()
    model = tiny.model("bert", head="MaskedLM", labels=[], niwaki_answer=answer)
    (tmp_path / "model").mkdir()
    model.save(tmp_path / "model")
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    encoder = api.load(tmp_path / "model", head="embedding")
    given = tiny.tokenizer()(TEXTS[0], return_tensors="pt")
    states = model.network.base_model(**given).last_hidden_state[0].mean(dim=0).detach().numpy()
    np.testing.assert_allclose(encoder.encode(TEXTS[0], normalize=False)[0], states, atol=1e-5)
    assert nearest(Corpus(encoder, tmp_path / "texts.txt"), [TEXTS[3]], 1)[0][0].line == 4
    with pytest.raises(UsageError, match="load it with head='embedding'"):
        nearest(Corpus(api.load(tmp_path / "model", engine="torch"), tmp_path / "texts.txt"), ["a"], 1)
