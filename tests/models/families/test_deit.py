"""DeiT: two special tokens before the patches. What holds for all families of images: test_vit.py."""

import numpy as np
import torch
from transformers import DeiTConfig, DeiTForImageClassificationWithTeacher
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil

import tiny
from niwaki.answers.image_label import ImageLabel
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.forward import Batch, forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder

TINY = {"image_size": [10, 8], "patch_size": 4, "num_channels": 1}


def test_a_second_special_token_comes_before_the_patches():
    model = tiny.model("deit")
    batch = tiny.batch(model, count=2)
    assert model.anatomy.inputs.max_tokens == 2 + 2 * 2 == model.tokenizer.tokens
    assert model.anatomy.inputs.forward(batch.inputs).shape == (2, 6, 32)
    assert batch.inputs["pixel_values"].shape == (2, 1, 10, 8)


def published(folder):
    """As facebook/deit-base-distilled-patch16-224: two classifiers, resized, then cropped in the middle."""
    torch.manual_seed(4)
    labels = {"id2label": dict(enumerate("abc")), "label2id": {name: number for number, name in enumerate("abc")}}
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
    network = DeiTForImageClassificationWithTeacher(DeiTConfig(**sizes, image_size=20, patch_size=5, **labels)).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape) / 5)
    network.save_pretrained(folder)
    both = {side: {"height": size, "width": size} for side, size in (("size", 26), ("crop_size", 20))}
    processor = DeiTImageProcessorPil(**both, resample=3)
    processor.save_pretrained(folder)
    return network, processor


@torch.no_grad()
def test_two_classifiers_answer_with_their_mean(tmp_path):
    network, processor = published(tmp_path)
    images = [np.random.default_rng(n).integers(0, 256, (33, 19 + n, 3), dtype=np.uint8) for n in range(3)]
    wanted = network(**processor(images, return_tensors="pt")).logits.numpy()
    model = load_folder(tmp_path)
    (tmp_path / "again").mkdir()
    model.save(tmp_path / "again")
    write_graph(model, tmp_path / "again")
    for folder, engine in ((tmp_path, "torch"), (tmp_path / "again", "onnx"), (tmp_path / "again", "openvino")):
        predictor = Predictor(folder, engine)
        np.testing.assert_allclose(predictor.logits(predictor.tokenize(predictor.check(images))), wanted, atol=1e-5)
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "again").iterdir()}
    assert sizes["model.onnx"] < 0.8 * sizes["model.safetensors"]  # the graph has no weights of its own
    assert wanted.std() > 0.1 and predictor.predict(images)[0].label in "abc"
    stored = DeiTForImageClassificationWithTeacher.from_pretrained(tmp_path / "again").state_dict()
    assert all(torch.equal(value, stored[name]) for name, value in network.state_dict().items())


@torch.no_grad()
def test_both_classifiers_are_cut_and_a_task_gets_one(tmp_path):
    published(tmp_path)
    model = load_folder(tmp_path)
    model.apply_edit(HiddenSize(keep=15))
    (tmp_path / "cut").mkdir()
    model.save(tmp_path / "cut")
    pixels = {"pixel_values": torch.randn(2, 3, 20, 20)}
    found = forward(model.anatomy, Batch(pixels, None, None)).logits
    assert torch.equal(forward(load_folder(tmp_path / "cut").anatomy, Batch(pixels, None, None)).logits, found)
    head = Head(["x", "y"], "ImageClassification", ImageLabel().to_json())
    tuned = load_folder(tmp_path, head)
    assert tuned.anatomy.head.architecture == "ImageClassification" and tuned.labels == ["x", "y"]
