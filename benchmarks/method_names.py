"""Current names of methods that older records store under retired names."""

import re

RENAMED = {
    "aware": "qat",
    "lowbit": "rtn",
    "relations": "attention_relations",
    "patient": "pkd",
    "written": "sequence_kd",
    "decoded": "decoder_kd",
    "writer": "add_decoder",
    "width": "hidden_size",
}


def current(name: str) -> str:
    """A stored name, such as `slim+lowbit-4`, with current method names."""
    return re.sub(r"[a-z]+", lambda word: RENAMED.get(word[0], word[0]), name)
