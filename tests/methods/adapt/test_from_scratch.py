"""A network from a shape: sizes as stated, weights from the seed, a tokenizer from the texts."""

import pytest
import torch

import tiny
from niwaki.answers.image_label import ImageLabel
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.adapt.from_scratch import FromScratch, is_usable
from niwaki.models.family import FAMILIES, family_of
from niwaki.models.model import load_folder

TEXTS = [text for text, _ in tiny.sentences(200)]
SHAPE = {"layers": 2, "hidden_size": 24, "heads": 3, "ffn_size": 40, "vocab_size": 300, "positions": 48}


def context(seed=0, texts=TEXTS):
    return Context(seed, None, None, lambda *_: [], lambda *_: None, lambda *_: None, lambda: texts)


def from_scratch(seed=0, texts=TEXTS, head="MaskedLM", **settings):
    start = tiny.model("bert", layers=1, head=head)
    return FromScratch(**{**SHAPE, **settings}).prepare(start, context(seed, texts))


USABLE = [name for name in FAMILIES.names() if is_usable(family_of(name))]
ENCODERS = [
    name
    for name in USABLE
    if family_of(name).decoder is None and family_of(name).layer is not None and name not in tiny.IMAGES
]


@pytest.mark.parametrize("family", ENCODERS)
def test_the_network_has_the_sizes_that_were_stated(family):
    model = from_scratch(family=family)
    anatomy = model.anatomy
    assert (len(anatomy.order), anatomy.hidden_size, anatomy.max_tokens) == (2, 24, 48)
    assert {(layer.heads, layer.ffn_size) for layer in anatomy.layers} == {(3, 40)}
    assert anatomy.tokens.num_embeddings == len(model.tokenizer) == 300
    assert anatomy.head.architecture == "MaskedLM"


@pytest.mark.parametrize("family", tiny.IMAGES)
def test_a_network_for_images_has_a_preprocessor_in_place_of_a_tokenizer(family, tmp_path):
    start = tiny.model("bert", layers=1, niwaki_answer=ImageLabel().to_json())
    shape = {name: value for name, value in SHAPE.items() if name not in ("vocab_size", "positions")}
    method = FromScratch(family=family, image={"size": 9, "patch": 4, "channels": 1}, **shape)
    model = method.prepare(start, context())
    special = len(model.anatomy.inputs.small_tables) - 1
    assert model.anatomy.inputs.max_tokens == model.tokenizer.tokens == special + 2 * 2
    assert model.tokenizer.read_size == (9, 9) and model.labels == start.labels
    assert {(layer.heads, layer.ffn_size) for layer in model.anatomy.layers} == {(3, 40)}
    model.save(tmp_path)
    assert load_folder(tmp_path).tokenizer == model.tokenizer
    with pytest.raises(InputError, match="family 'bert' reads texts, and the task has images"):
        FromScratch(**SHAPE).prepare(start, context())
    with pytest.raises(InputError, match=f"family '{family}' reads images, and the task has texts"):
        from_scratch(family=family)


def test_weights_follow_from_the_seed_alone():
    torch.manual_seed(1)
    first = from_scratch(seed=5).network.state_dict()
    torch.manual_seed(2)
    second, other = from_scratch(seed=5).network.state_dict(), from_scratch(seed=6).network.state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(
        first["bert.embeddings.word_embeddings.weight"], other["bert.embeddings.word_embeddings.weight"]
    )


def test_initial_weights_are_as_the_family_draws_them():
    network = from_scratch(hidden_size=64, heads=4, ffn_size=256, layers=3).network
    weight = network.bert.encoder.layer[0].intermediate.dense.weight
    assert weight.std().item() == pytest.approx(0.02, rel=0.05) and abs(weight.mean().item()) < 1e-3
    assert not network.cls.predictions.bias.any()


def test_the_tokenizer_knows_the_texts_and_the_special_tokens():
    tokenizer = from_scratch().tokenizer
    assert (
        tokenizer.decode(tokenizer("the film was good")["input_ids"], skip_special_tokens=True) == "the film was good"
    )
    cls, *_, sep = tokenizer("the film")["input_ids"]
    assert (cls, sep) == (tokenizer.cls_token_id, tokenizer.sep_token_id) == (1, 2)
    assert tokenizer("the film", "it was")["token_type_ids"][-1] == 1
    assert tokenizer.mask_token_id == len(tokenizer) - 1 and tokenizer.pad_token_id == 0


def test_only_the_first_texts_train_the_tokenizer():
    texts = [*TEXTS[:3], "zebra " * 50]
    assert "Ġzebra" in from_scratch(texts=texts, vocab_size=400).tokenizer.get_vocab()
    first = FromScratch(**{**SHAPE, "vocab_size": 400, "texts": 3}).prepare(
        tiny.model("bert", layers=1), context(texts=texts)
    )
    assert "Ġzebra" not in first.tokenizer.get_vocab()


def test_a_model_for_a_task_keeps_its_labels(tmp_path):
    model = from_scratch(head="SequenceClassification")
    assert model.labels == tiny.LABELS and model.anatomy.head.architecture == "SequenceClassification"
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert again.labels == tiny.LABELS and again.tokenizer("film")["input_ids"] == model.tokenizer("film")["input_ids"]


@pytest.mark.parametrize(
    "settings, problem",
    [
        (
            {"family": "roberta"},
            f"family 'roberta' cannot be built so; take one of {', '.join(USABLE)}",
        ),
        ({"decoder_layers": 2}, "family 'bert' has no decoder; leave decoder_layers out"),
        ({"family": "t5"}, "vocab_size 300 leaves too little besides 100 sentinels; take 361 or more"),
        ({"family": "encoder_decoder"}, "family 'encoder_decoder' cannot be built so"),
        ({"family": "gpt9"}, "family 'gpt9' cannot be built so"),
        ({"heads": 5}, "hidden_size 24 is not a multiple of heads 5"),
        ({"embedding_size": 8}, "family 'bert' does not project embeddings"),
    ],
)
def test_shapes_that_cannot_be_built_are_rejected_before_any_work(settings, problem):
    with pytest.raises(InputError, match=problem):
        FromScratch(**{**SHAPE, **settings}).dry_prepare(tiny.model("bert", layers=1))


def test_a_dry_run_has_the_shape_of_the_network():
    dry = FromScratch(**SHAPE).dry_prepare(tiny.model("bert", layers=1, head="MaskedLM")).network.state_dict()
    real = from_scratch().network.state_dict()
    assert {name: value.shape for name, value in dry.items()} == {name: value.shape for name, value in real.items()}
