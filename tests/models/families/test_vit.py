"""ViT: images as transformers reads them, patches as its convolution computes them, edits that cut them."""

import numpy as np
import pytest
import torch
from transformers import ViTConfig, ViTForImageClassification, ViTModel
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import tiny
from niwaki.answers.image_embedding import ImageEmbedding
from niwaki.core.errors import InputError
from niwaki.data.image_bytes import encode_array
from niwaki.engines.predictor import Predictor
from niwaki.methods import METHODS
from niwaki.methods._method import Bakes, Method, Reshapes
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.forward import Batch, forward
from niwaki.models.model import load_folder
from niwaki.models.skeleton import build

TINY = {"image_size": [9, 13], "patch_size": [4, 3], "num_channels": 3}


@pytest.mark.parametrize("family", tiny.IMAGES)
def test_logits_and_gradients_equal_transformers(family):
    like = tiny.model(family).network.config
    torch.manual_seed(3)
    kind = type(tiny.model(family).network)
    reference = kind(like).eval()
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(torch.randn(parameter.shape) / 5)
    model = tiny.model(family)
    state, own = dict(reference.named_parameters()), model.network
    own.load_state_dict({name: as_ours(name, state, own) for name in own.state_dict()})
    batch = tiny.batch(model, count=5)
    weights = torch.randn(5, 2, generator=torch.Generator().manual_seed(1))
    found = forward(model.anatomy, batch).logits
    wanted = reference(batch.inputs["pixel_values"]).logits
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    assert wanted.std() > 0.1
    for logits in (found, wanted):
        (logits * weights).sum().backward()
    for name, value in own.named_parameters():
        theirs = state.get(name, state.get(name.removesuffix(".weight"))).grad
        torch.testing.assert_close(value.grad, theirs.reshape(value.shape), atol=1e-4, rtol=1e-4, msg=name)


def as_ours(name, state, own):
    found = state.get(name, state.get(name.removesuffix(".weight")))
    return found.detach().reshape(own.state_dict()[name].shape)


def published(folder, kind=ViTForImageClassification, crop=False, **more):
    torch.manual_seed(7)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
    labels = {"id2label": dict(enumerate("abc")), "label2id": {name: number for number, name in enumerate("abc")}}
    network = kind(ViTConfig(**sizes, image_size=20, patch_size=5, **labels)).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape) / 5)
    network.save_pretrained(folder)
    processor = ViTImageProcessorPil(
        size={"height": 20, "width": 20}, image_mean=[0.4, 0.5, 0.6], image_std=[0.2, 0.3, 0.25], **more
    )
    processor.save_pretrained(folder)
    return network, processor


def test_a_published_folder_answers_as_transformers_does(tmp_path):
    """Images of other sizes than the network's, through transformers' own processor."""
    network, processor = published(tmp_path, resample=3)
    images = [np.random.default_rng(n).integers(0, 256, (17 + 9 * n, 31 - 4 * n, 3), dtype=np.uint8) for n in range(3)]
    given = processor(images, return_tensors="pt")
    with torch.no_grad():
        wanted = network(**given).logits
    predictor = Predictor(tmp_path, "torch")
    encoded = predictor.tokenize(predictor.check(images))
    assert predictor.labels == ["a", "b", "c"]
    np.testing.assert_allclose(
        encoded.padded(np.arange(3), 0)["pixel_values"], given["pixel_values"].numpy(), atol=1e-6
    )
    np.testing.assert_allclose(predictor.logits(encoded), wanted.numpy(), atol=1e-5)
    again = tmp_path / "again"
    again.mkdir()
    load_folder(tmp_path).save(again)
    stored = ViTForImageClassification.from_pretrained(again).state_dict()
    assert all(torch.equal(value, stored[name]) for name, value in network.state_dict().items())
    assert type(ViTImageProcessorPil.from_pretrained(again)) is ViTImageProcessorPil


def test_an_encoder_without_a_head_gives_embeddings(tmp_path):
    network, processor = published(tmp_path, ViTModel)
    image = np.random.default_rng(1).integers(0, 256, (20, 20, 3), dtype=np.uint8)
    with torch.no_grad():
        wanted = network(**processor([image], return_tensors="pt")).last_hidden_state[:, 0]
    predictor = Predictor(tmp_path, "torch")
    assert isinstance(predictor.answer_type, ImageEmbedding)
    np.testing.assert_allclose(predictor.encode([encode_array(image)], normalize=False), wanted.numpy(), atol=1e-5)


@torch.no_grad()
def test_hidden_sizes_are_cut_from_patches_tables_and_layers():
    """Where the dimensions that go are zero everywhere, norms aside, the others see the same patches."""
    model = tiny.model("vit", width=32)
    pixels = tiny.batch(model).inputs["pixel_values"]
    keep = [0, 3, 4, 9, *range(16, 28)]
    before = model.anatomy.inputs.forward({"pixel_values": pixels})
    model.apply_edit(HiddenSize(keep=keep))
    after = model.anatomy.inputs.forward({"pixel_values": pixels})
    torch.testing.assert_close(after, before[..., keep])
    assert model.network.config.hidden_size == len(keep)
    assert forward(model.anatomy, Batch({"pixel_values": pixels}, None, None)).logits.shape == (6, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patch_size": 30}, "patch_size .30, 30. is larger than image_size"),
        (
            {"architectures": ["BertForSequenceClassification"]},
            "reads images, and the head SequenceClassification is for texts",
        ),
        ({"image_size": "large"}, "'image_size' is 'large'"),
    ],
    ids=str,
)
def test_impossible_configs_are_rejected(change, message):
    values = {**tiny.model("vit").network.config.to_dict(), "architectures": ["AnyForImageClassification"]}
    with pytest.raises(InputError, match=message):
        build({**{key: value for key, value in values.items() if not key.startswith("_")}, **change})


REJECTED = {
    *("averaging", "bilstm", "class_weights", "cnn", "decoder", "embeddings", "exits", "extend_positions"),
    *("from_scratch", "linear_head", "pair_head", "prompt_tuning", "vocabulary", "weighted_layers"),
}


@pytest.mark.slow
def test_every_method_reshapes_the_network_or_is_rejected_with_a_reason():
    rejected = {}
    for name in METHODS.names():
        method, model = METHODS.load(name, Method)(), tiny.model("vit", layers=4)
        try:
            model = method.dry_prepare(model) if isinstance(method, Reshapes) else model
            model = method.dry_finish(model) if isinstance(method, Bakes) else model
        except InputError as error:
            rejected[name] = str(error)
    assert set(rejected) == REJECTED and all(rejected.values())
