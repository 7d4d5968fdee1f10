"""Published checkpoints read by their language-model head: fill-mask as in transformers' pipeline."""

import pytest
from transformers import pipeline

import tiny
from niwaki import api
from niwaki.core.errors import InputError, UsageError


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A stock checkpoint for masked language modeling, as transformers saves it."""
    folder, model = tmp_path_factory.mktemp("albert"), tiny.model("albert", head="MaskedLM", labels=[])
    model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore")
def test_candidates_equal_those_of_the_pipeline(published):
    reference = pipeline("fill-mask", model=str(published), tokenizer=str(published), top_k=4)
    predictor = api.load(published, head="language_model")
    texts = ["the ___ was very dull", "a [MASK] with ___ and a scene ,", "___"]
    for text, found in zip(texts, predictor.fill(texts, top=4), strict=True):
        wanted = reference(text.replace("___", "[MASK]"))
        masks = wanted if isinstance(wanted[0], list) else [wanted]
        for ours, theirs in zip(found.masks, masks, strict=True):
            assert [one.id for one in ours] == [one["token"] for one in theirs]
            assert [one.token for one in ours] == [one["token_str"] for one in theirs]
            assert [one.probability for one in ours] == pytest.approx([one["score"] for one in theirs], abs=1e-5)
            if len(masks) == 1:
                assert [one.text for one in ours] == [one["sequence"] for one in theirs]


def test_a_model_that_predicts_no_tokens_is_rejected(bert_folder, encoder_folder):
    with pytest.raises(UsageError, match="is no language model"):
        api.load(bert_folder, engine="torch").fill("a ___")
    with pytest.raises(InputError, match="have no language-model head"):
        api.load(encoder_folder, head="language_model")


def test_a_published_checkpoint_scores_texts_too(published):
    (found,) = api.load_language_model(published).predict("the plot was dull")
    assert found.tokens == 4 and found.log_likelihood < 0
    assert api.load(published, engine="torch").answer_type.to_json()["kind"] == "embedding"  # as before


def test_the_head_runs_in_torch_only(published):
    with pytest.raises(UsageError, match="runs in torch; leave --engine out"):
        api.load(published, engine="onnx", head="language_model")
