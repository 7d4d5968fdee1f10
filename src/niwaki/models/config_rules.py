"""A config.json by allow-list: the keys that describe a shape are checked one by one, all others never reach transformers.

transformers takes any key of a config for an attribute, and some steer what is loaded: `auto_map` and
`trust_remote_code` name code (CVE-2026-5241 was a nested read of the latter), `attn_implementation` and its underscored
forms name a kernel on the hub (CVE-2026-4372), `transformers_weights` another file, `quantization_config` and
`fusion_config` other classes. A key that looks as if it were for that is rejected, so that its owner learns of it; what
is merely unknown (training notes of older versions) is left out. No torch here: deployments read configs too.
"""

import re
from pathlib import Path

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.family import Family, family_of, is_known
from niwaki.models.value_rules import (
    ACTIVATIONS,
    MAX_LABELS,
    MOST_LAYERS,
    MOST_POSITIONS,
    MOST_TOKENS,
    NO_POSITIONS,
    PROBLEMS,
    WIDEST,
    Rule,
    answer,
    exits,
    filter_widths,
    flag,
    head_order,
    label_numbers,
    labels,
    mark,
    names,
    one_of,
    share,
    tokenizer_class,
    whole,
)

CONFIG, MAX_BYTES = "config.json", 8 << 20
# in configs of edited models: transformers rejects the value as a file name and prints it (`saved_files`)
HINT_KEY, HINT = "transformers_weights", "this model was compressed by niwaki; load it with niwaki.load(folder)"
width, layers = whole(WIDEST, 1), whole(MOST_LAYERS, 1)
ALLOWED: dict[str, Rule] = {
    "model_type": lambda value: isinstance(value, str),
    "architectures": names,
    "transformers_version": lambda value: isinstance(value, str) and len(value) < 60,
    **dict.fromkeys(("hidden_size", "intermediate_size", "embedding_size", "dim", "hidden_dim"), width),
    **dict.fromkeys(("num_attention_heads", "n_heads"), whole(4096, 1)),
    **dict.fromkeys(("num_hidden_layers", "n_layers", "num_hidden_groups", "inner_group_num"), layers),
    **dict.fromkeys(("lstm_units", "num_filters", "num_products"), width),
    "neighbours": whole(100),
    "filter_widths": filter_widths,
    "niwaki_encoder": lambda value: (
        isinstance(value, str) and value.replace("-", "_").isidentifier() and value != "encoder_decoder"
    ),
    "decoder_layers": whole(MOST_LAYERS),
    "decoder_heads": whole(4096, 1),
    "decoder_ffn_size": width,
    "decoder_vocabulary_size": whole(MOST_TOKENS, 4),
    "decoder_positions": whole(MOST_POSITIONS, 1),
    **dict.fromkeys(("decoder_sinusoids", "decoder_shares_embeddings"), flag),
    **dict.fromkeys(("d_model", "d_kv", "d_ff", "encoder_ffn_dim", "decoder_ffn_dim"), width),
    **dict.fromkeys(("encoder_layers", "num_layers", "num_decoder_layers"), layers),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads", "num_heads"), whole(4096, 1)),
    "decoder_vocab_size": whole(MOST_TOKENS, 1),
    "relative_attention_max_distance": whole(MOST_POSITIONS, 1),
    "feed_forward_proj": lambda value: isinstance(value, str) and value.removeprefix("gated-") in ACTIVATIONS,
    "normalize_before": lambda value: value is False,  # of BART: norms before each block would be another network
    **dict.fromkeys(("scale_embedding", "share_encoder_decoder_embeddings", "force_bos_token_to_be_generated"), flag),
    "niwaki_texts": whole(2, 1),
    "vocab_size": whole(MOST_TOKENS, 1),
    "max_position_embeddings": whole(MOST_POSITIONS, 1),
    "niwaki_max_tokens": whole(MOST_POSITIONS, 1),
    "type_vocab_size": whole(1000),
    "relative_attention_num_buckets": whole(10_000, 1),
    "chunk_size_feed_forward": whole(MOST_POSITIONS),
    "num_labels": whole(MAX_LABELS),
    **dict.fromkeys(
        (
            "pad_token_id",
            "bos_token_id",
            "eos_token_id",
            "sep_token_id",
            "cls_token_id",
            "decoder_start_token_id",
            "forced_bos_token_id",
            "forced_eos_token_id",
        ),
        mark,
    ),
    **dict.fromkeys(
        (
            "attention_probs_dropout_prob",
            "hidden_dropout_prob",
            "classifier_dropout",
            "classifier_dropout_prob",
            "dropout",
            "attention_dropout",
            "qa_dropout",
            "seq_classif_dropout",
            "summary_last_dropout",
            "layer_norm_eps",
            "activation_dropout",
            "encoder_layerdrop",
            "decoder_layerdrop",
            "dropout_rate",
            "layer_norm_epsilon",
        ),
        share,
    ),
    **dict.fromkeys(
        ("initializer_range", "initializer_factor", "init_std"),
        lambda value: isinstance(value, int | float) and 0 <= value <= 1000,
    ),
    **dict.fromkeys(("hidden_act", "activation", "activation_function"), one_of(*ACTIVATIONS)),
    "summary_activation": one_of(*ACTIVATIONS, ""),
    "summary_type": one_of("first", "last", "mean", "cls_index", "attn"),
    "position_embedding_type": one_of("absolute", "relative_key", "relative_key_query"),
    "problem_type": one_of(*PROBLEMS),
    "tokenizer_class": tokenizer_class,
    **dict.fromkeys(("dtype", "torch_dtype"), one_of("float32", "float16", "bfloat16", "float64", "auto")),
    **dict.fromkeys(
        (
            "add_cross_attention",
            "is_decoder",
            "is_encoder_decoder",
            "output_attentions",
            "output_hidden_states",
            "return_dict",
            "sinusoidal_pos_embds",
            "summary_use_proj",
            "tie_word_embeddings",
            "use_cache",
        ),
        flag,
    ),
    "id2label": labels,
    "label2id": label_numbers,
    "niwaki_answer": answer,
    "niwaki_pooling": answer,
    "niwaki_exits": exits,
    "niwaki_head_order": head_order,
}
PROVENANCE = {
    "_name_or_path",
    "name_or_path",
    "_commit_hash",
    "_num_labels",
    "_attn_implementation_autoset",
    "finetuning_task",
    "language",
    "license",
    "tags",
    "task_specific_params",
    "sentence_transformers",
    "transformers.js_config",
    "bad_words_ids",
}  # left out, whatever they say
PLAIN_ATTENTION = {"eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention"}
STEERING = re.compile(
    r"auto_?map|remote|custom|_code|code_|kernel|implementation|quantiz|fusion|adapter|peft|lora|plugin|module|import"
    r"|script|pipeline|generate|processor|_file|_path|_class|_weights|subfolder|revision|^token$|template|proxies|cache_dir|distributed"
    r"|device|offload|gguf|init_inputs|_config$|backend|url|repo"
)
LEADS_OUT = re.compile(r"://|^[/~\\]|\.\.[/\\]|^[A-Za-z]:[/\\]|[\w.-]+/[\w.-]+|\\\\")


def read(folder: Path) -> Json:
    """The entries of a folder's config.json, checked so. Whether its family is known is for who builds a network."""
    where = folder / CONFIG
    return checked(strict_json.load(where, MAX_BYTES), str(where))


def readable_tokens(config: Json) -> int:
    """What the model was trained on where niwaki wrote it down, else what its positions allow."""
    return int(config.get("niwaki_max_tokens") or text_positions(config))


def text_positions(config: Json) -> int:
    """The longest text that there are positions for."""
    kind = config.get("model_type")
    skipped = family_of(str(kind)).inputs.skipped_positions if is_known(kind) else 0
    return (stated_positions(config) or NO_POSITIONS) - skipped


def stated_positions(config: Json) -> int:
    """Rows of the table of positions, as the config says; 0 where it says nothing."""
    kind = config.get("model_type")
    family = family_of(str(kind)) if is_known(kind) else Family
    return int(config.get(family.keys.positions) or 0)


def checked(values: object, where: str) -> Json:
    """The entries of a config that describe the network, each of its form; InputError for one that is not, or that controls what is loaded."""
    if not isinstance(values, dict):
        raise InputError(f"{where}: must be a table, not {type(values).__name__}")
    checked_values: Json = {}
    kinds = filter(is_known, (values.get("model_type"), values.get("niwaki_encoder")))
    own = {key: rule for kind in kinds for key, rule in family_of(str(kind)).config_rules.items()}
    for key, value in values.items():
        rule = own.get(key) or ALLOWED.get(key)
        if rule is None:
            check_not_steering(key, value, where)
        elif value is None:
            checked_values[key] = None
        elif rule(plain_dtype(key, value)):
            checked_values[key] = plain_dtype(key, value)
        else:
            raise InputError(f"{where}: '{key}' is {shown(value)}, which no model of these families has")
    groups, inner = (
        checked_values.get(key) or 1 for key in ("num_hidden_groups", "inner_group_num")
    )  # null stands for the default
    if groups * inner > MOST_LAYERS:
        raise InputError(f"{where}: num_hidden_groups times inner_group_num is more than {MOST_LAYERS} layers")
    read = checked_values.get("niwaki_max_tokens")
    if read and stated_positions(checked_values) and read > text_positions(checked_values):
        raise InputError(
            f"{where}: niwaki_max_tokens is {read}, and the model has positions for {text_positions(checked_values)}; write fewer"
        )
    return checked_values


def check_not_steering(key: str, value: object, where: str) -> None:
    """What is not on the list is left out; loudly, where it would make a less careful reader load something."""
    if key == HINT_KEY and value == HINT:
        return
    if key in PROVENANCE or key.endswith("name_or_path") or value in (None, False, [], {}, ""):
        return
    if key in ("attn_implementation", "_attn_implementation") and isinstance(value, str) and value in PLAIN_ATTENTION:
        return  # niwaki chooses its own
    if key.startswith("_") or STEERING.search(key.lower()):
        raise InputError(f"{where}: '{key}' asks for code, files or formats that niwaki never loads; remove the key")
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value)):
        raise InputError(f"{where}: '{key}' is a table, which no config of these families has; remove the key")
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and (LEADS_OUT.search(text) or len(text) > 1000):
            raise InputError(f"{where}: '{key}' is {shown(text)}, which leads out of the folder; remove the key")


def plain_dtype(key: str, value: object) -> object:
    return value.removeprefix("torch.") if key in ("dtype", "torch_dtype") and isinstance(value, str) else value


def shown(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**18:
        return "a number beyond 10^18"
    text = repr(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}…"
