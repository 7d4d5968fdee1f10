"""SentencePiece models and lists of shards that are damaged, never end, or lead elsewhere."""

import json

import spm
from hostile.sound import TEXT


def _with(sound, folder, data, name="spiece.model"):
    model = sound.copy("model", folder)
    (model / "tokenizer.json").unlink()
    (model / name).write_bytes(data)
    return ["predict", str(model), TEXT]


def noise_in_place_of_a_model(sound, folder):
    return _with(sound, folder, bytes(range(256)) * 40)


def a_token_that_claims_a_gigabyte(sound, folder):
    return _with(sound, folder, spm.varint(1 << 3 | 2) + spm.varint(1 << 30) + b"a")


def groups_nested_without_end(sound, folder):
    return _with(sound, folder, spm.varint(9 << 3 | 3) * 100_000)


def a_million_empty_tokens(sound, folder):
    return _with(sound, folder, spm.field(1, b"") * 1_000_001, "tokenizer.model")


def a_score_that_is_no_number(sound, folder):
    return _with(sound, folder, spm.model([("a", float("nan"), spm.NORMAL)]), "sentencepiece.bpe.model")


def a_table_of_replacements_that_points_outside(sound, folder):
    return _with(sound, folder, spm.model(normalizer=spm.field(2, b"\xff\xff\xff\x7f" + bytes(64))))


def a_link_to_a_file_outside(sound, folder):
    arguments = _with(sound, folder, b"")
    outside = folder / "outside.model"
    outside.write_bytes(spm.model())
    path = folder / "model" / "spiece.model"
    path.unlink()
    path.symlink_to(outside)
    return arguments


def two_models_with_ids_beyond_the_table(sound, folder):
    arguments = _with(sound, folder, spm.model(), "source.spm")
    (folder / "model" / "target.spm").write_bytes(spm.model())
    (folder / "model" / "vocab.json").write_text(json.dumps({"</s>": 0, "<unk>": 4_000_000_000}))
    return arguments


def _sharded(sound, folder, weight_map):
    model = sound.copy("model", folder)
    (model / "model.safetensors").rename(model / "model-00001-of-00001.safetensors")
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return ["predict", str(model), TEXT]


def a_shard_outside_the_folder(sound, folder):
    return _sharded(sound, folder, {"a": "../../secret.safetensors"})


def a_shard_with_tensors_that_nobody_lists(sound, folder):
    return _sharded(sound, folder, {"a": "model-00001-of-00001.safetensors"})
