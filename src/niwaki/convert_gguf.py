"""Turns a GGUF file of a decoder-only model into a checkpoint that niwaki and transformers load.

    python -m niwaki.convert_gguf model.gguf FOLDER

Low-bit codes become floats, which niwaki can prune, train and pack again. The file is only read; what it states is checked first.
"""

import argparse
import json
import sys
from pathlib import Path

from niwaki.core.errors import InputError, NiwakiError
from niwaki.core.files import commit_folder, write_json


def convert(source: Path, target: Path) -> int:
    """Writes config, weights and tokenizer into the new folder `target`; gives the number of tensors."""
    from safetensors.numpy import save_file

    from niwaki.models import gguf
    from niwaki.models.skeleton import checked_config
    from niwaki.tokenization.gguf_tokenizer import special_tokens, tokenizer_json
    from niwaki.tokenization.tokenizer_rules import check

    if target.exists():
        raise InputError(f"{target}: is there already; remove it first, or choose another name")
    config, tensors, metadata = gguf.read(source)
    config = checked_config(config, str(source))
    tokenizer = tokenizer_json(metadata, str(source))
    check(tokenizer, str(source))
    length = config.get("max_position_embeddings") or config.get("n_positions")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": length}
    with commit_folder(target) as folder:
        write_json(folder / "config.json", config)
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
        write_json(folder / "tokenizer_config.json", {**settings, **special_tokens(metadata, str(source))})
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return len(tensors)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m niwaki.convert_gguf", description="a GGUF file to a checkpoint")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args(arguments)
    try:
        count = convert(given.source, given.target)
    except NiwakiError as error:
        sys.stderr.write(f"niwaki: {error}\n")
        return error.exit_code
    sys.stdout.write(f"{given.target}: {count} tensors\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
