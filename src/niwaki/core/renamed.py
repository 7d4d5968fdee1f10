"""Names that recipes used before, with the names that replaced them. They raise an error that names the new one."""

from collections.abc import Collection

RENAMED: dict[str, tuple[str, ...]] = {  # old name → new names; which one depends on where it was used
    # settings
    "augment": ("augmentations",),
    "longest": ("max_new_tokens",),
    "neurons": ("ffn_size",),
    "penalty": ("length_penalty", "penalty_weight"),
    "pieces": ("vocab_size",),
    "smoothing": ("label_smoothing",),
    "texts": ("unlabelled_path",),
    "transfer": ("unlabelled",),
    # tasks
    "answering": ("question_answering",),
    "writing": ("generation",),
    # methods
    "aware": ("qat",),
    "decoded": ("decoder_kd",),
    "lowbit": ("rtn",),
    "patient": ("pkd",),
    "relations": ("attention_relations",),
    "width": ("hidden_size",),
    "writer": ("add_decoder",),
    "written": ("sequence_kd",),
    # recipes
    "own": ("own_data",),
    "pairs": ("seq2seq",),
}


def new_name(old: str, known: Collection[str]) -> str | None:
    """What `old` is called now, if that is one of the `known` names."""
    return next((name for name in RENAMED.get(old, ()) if name in known), None)
