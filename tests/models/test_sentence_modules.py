"""The files of sentence-transformers next to a checkpoint: what they mean, and which ones are rejected."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import tiny
from niwaki.core.errors import InputError
from niwaki.models.model import load_folder
from niwaki.models.sentence_modules import Pooling, published_pooling, with_published_pooling

BERT = {"model_type": "bert", "architectures": ["BertModel"], "max_position_embeddings": 512, "hidden_size": 32}


def publish(folder: Path, kinds: list[str], pooling: dict, dense: dict | None = None, **limits: int) -> Path:
    modules = [
        {"idx": n, "name": str(n), "path": f"{n}_{kind}" if n else "", "type": f"a.b.{kind}"}
        for n, kind in enumerate(kinds)
    ]
    files = {"modules.json": modules, "1_Pooling/config.json": pooling, "2_Dense/config.json": dense}
    files["sentence_bert_config.json"] = limits or None
    for name, value in files.items():
        if value is not None:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(json.dumps(value))
    return folder


@pytest.mark.parametrize(
    "kinds, pooling, wanted",
    [
        (["Transformer", "Pooling"], {}, Pooling(mode="mean")),
        (["Transformer", "Pooling", "Normalize"], {"pooling_mode_mean_tokens": True}, Pooling(normalize=True)),
        (["Transformer", "Pooling"], {"pooling_mode_cls_token": True}, Pooling(mode="cls")),
        (["Transformer", "Pooling"], {"pooling_mode": "max"}, Pooling(mode="max")),
        (["Transformer", "Pooling"], {"pooling_mode": ["cls"]}, Pooling(mode="cls")),
    ],
)
def test_both_formats_of_pooling_are_read(tmp_path, kinds, pooling, wanted):
    assert published_pooling(publish(tmp_path, kinds, pooling)) == wanted


def test_a_dense_layer_is_read_with_its_activation(tmp_path):
    dense = {
        "in_features": 32,
        "out_features": 8,
        "bias": False,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    found = published_pooling(publish(tmp_path, ["Transformer", "Pooling", "Dense", "Normalize"], {}, dense))
    assert found == Pooling(dense=8, bias=False, activation="tanh", normalize=True)


@pytest.mark.parametrize(
    "kinds, pooling, message",
    [
        (["Transformer", "Pooling", "LSTM"], {}, "lists Transformer, Pooling, LSTM; niwaki runs"),
        (["Transformer"], {}, "lists Transformer; niwaki runs"),
        (["Transformer", "Pooling"], {"pooling_mode": "weightedmean"}, "pools by ['weightedmean']"),
        (
            ["Transformer", "Pooling"],
            {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True},
            "pools by ['cls', 'max']",
        ),
    ],
)
def test_other_modules_are_rejected_by_name(tmp_path, kinds, pooling, message):
    with pytest.raises(InputError) as caught:
        published_pooling(publish(tmp_path, kinds, pooling))
    assert message in str(caught.value)


def test_the_maximum_length_is_that_of_sentence_transformers(tmp_path):
    folder = publish(tmp_path, ["Transformer", "Pooling"], {}, max_seq_length=128)
    assert with_published_pooling(folder, BERT)["niwaki_max_tokens"] == 128
    assert "niwaki_max_tokens" not in with_published_pooling(
        folder, {**BERT, "architectures": ["BertForTokenClassification"]}
    )


def test_what_niwaki_saved_counts_more_than_the_files(tmp_path):
    own = {**BERT, "niwaki_pooling": {"mode": "max"}}
    assert with_published_pooling(publish(tmp_path, ["Transformer", "Pooling"], {}), own) == own


@pytest.mark.parametrize("dense", [0, 8])
@pytest.mark.parametrize("mode", ["mean", "cls", "max", "mean_sqrt_len_tokens"])
def test_a_saved_encoder_gives_the_same_embeddings_in_sentence_transformers(tmp_path, mode, dense):
    """And niwaki reads the dense layer from the files of sentence-transformers where its own file lacks it."""
    from sentence_transformers import SentenceTransformer

    from niwaki.engines.predictor import Predictor

    pooling = {"mode": mode, "normalize": True, "dense": dense, "activation": "tanh" if dense else "none"}
    model = tiny.model(head="FeatureExtraction", niwaki_pooling=pooling, niwaki_max_tokens=12)
    model.network.config.architectures = ["BertModel"]
    model.save(tmp_path)
    texts = [text for text, _ in tiny.sentences(6)] + ["film " * 40]
    theirs = SentenceTransformer(str(tmp_path), device="cpu").encode(texts)
    ours = Predictor(tmp_path).encode(texts)
    assert ours.shape == (7, dense or 32)
    torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs), atol=1e-5, rtol=0)
    bare = {
        name.removeprefix("bert."): x.clone() for name, x in model.network.state_dict().items() if name[:6] != "dense."
    }
    save_file(bare, tmp_path / "model.safetensors", metadata={"format": "pt"})
    torch.testing.assert_close(torch.tensor(Predictor(tmp_path).encode(texts)), torch.tensor(ours))


def test_a_missing_dense_layer_is_rejected(tmp_path):
    publish(tmp_path, ["Transformer", "Pooling", "Dense"], {}, {"out_features": 8})
    model = tiny.model(head="FeatureExtraction")
    model.network.config.architectures = ["BertModel"]
    (tmp_path / "saved").mkdir()
    model.save(tmp_path / "saved")
    for path in (tmp_path / "saved").iterdir():
        if path.is_file() and path.name != "modules.json":
            path.rename(tmp_path / path.name)
    with pytest.raises(
        InputError, match=r"2_Dense/model.safetensors: is missing; save the model with sentence-transformers"
    ):
        load_folder(tmp_path)
