"""Tiny random models of every family with a tokenizer of their own, and rows that a tiny model can learn. No network."""

import ast
import random
from functools import cache
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece
from tokenizers.processors import TemplateProcessing
from transformers import CONFIG_MAPPING, PreTrainedTokenizerFast

from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers._beam_search import END
from niwaki.answers.label import Label
from niwaki.core.catalog import Catalog
from niwaki.core.files import sha256
from niwaki.data.image_preprocessor import ImagePreprocessor
from niwaki.data.pixels import PIXELS, Pixels
from niwaki.data.ragged import Ragged, RaggedWriter
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.models.family import family_of, is_always_causal
from niwaki.models.features import Features
from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model
from niwaki.models.preprocessor import preprocessor_for
from niwaki.models.skeleton import CONDITIONAL_GENERATION, IMAGE_CLASSIFICATION, build
from niwaki.train.collator import Collator

ABOUT = {name: family_of(name) for name in Catalog("niwaki.models.families", "model family", plugins=False).names()}
IMAGES = tuple(name for name, kind in ABOUT.items() if kind.inputs.reads == "images")
ENCODERS = [name for name, kind in ABOUT.items() if kind.decoder is None and name not in IMAGES]
ALIKE = tuple(  # the same but for names and tokenizers: their files of tests are enough
    name
    for name in ENCODERS
    if any(
        ABOUT[name] is not kind and issubclass(ABOUT[name], kind) and ABOUT[name].head is kind.head
        for kind in ABOUT.values()
    )
)
WITH_LAYERS = tuple(name for name in ENCODERS if ABOUT[name].layer is not None and name not in ALIKE)
FAMILIES = tuple(name for name in WITH_LAYERS if ABOUT[name].head.per_token)  # the others answer for whole texts
READERS = tuple(name for name in ENCODERS if ABOUT[name].layer is None)  # networks of our own, without attention layers
# each family without attention reads its own of these keys
ATTENTION_FREE_SIZES = {
    "lstm_units": 6,
    "filter_widths": [1, 2, 3],
    "num_filters": 6,
    "neighbours": 2,
    "num_products": 5,
}
SHARING = tuple(  # those whose masked-LM head reads the token table
    name for name in FAMILIES if ABOUT[name].head.vocabulary.shares_table
)
SIZED = tuple(  # those with layers of any size, whose parts can be replaced
    name for name in FAMILIES if ABOUT[name].layer.stack.kind == "plain" and ABOUT[name].keys.ffn_size
)
ENCODING = tuple(name for name in FAMILIES if not is_always_causal(ABOUT[name]))  # the others read earlier tokens alone
TYPES = {
    name: name.replace("_", "-")
    for name, kind in ABOUT.items()
    if kind.in_transformers and name.replace("_", "-") in CONFIG_MAPPING
}  # names that transformers writes with a hyphen
POSITIONS = 66
BERT_LIKE = tuple(
    name
    for name in ENCODING
    if ABOUT[name].layer.stack.mixer == "attention" and ABOUT[name].inputs.part == "token_embeddings"
)
NATIVE = tuple(name for name in ENCODING if ABOUT[name].layer.stack.mixer in ("attention", "rotary"))
LABELS = ["bad", "good"]
TARGET_TOKENS = 40  # vocabulary size of generated text
GOOD = ["good", "fine", "lovely", "superb", "bright", "warm", "clever", "moving", "fresh", "tender"]
BAD = ["bad", "dull", "awful", "weak", "bleak", "cold", "stupid", "boring", "stale", "clumsy"]
PLAIN = [
    "the",
    "a",
    "film",
    "movie",
    "plot",
    "actor",
    "scene",
    "story",
    "was",
    "is",
    "and",
    "very",
    "it",
    "with",
    "of",
    "an",
    "end",
    "start",
    "sound",
    "light",
]
SUBWORDS = ["##ly", "##ing", "##ed", "##s", "##er", "un", "re", "in"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def pad_is_one(family: str) -> bool:
    """Some families count positions from after the padding token."""
    return ABOUT[family].inputs.skipped_positions > 0


def tokenizer(pad_is_one: bool = False) -> PreTrainedTokenizerFast:
    special = (
        ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"] if pad_is_one else ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    )
    vocabulary_tokens = [
        *special,
        *GOOD,
        *LETTERS,
        *(f"##{letter}" for letter in LETTERS),
        *BAD,
        *PLAIN,
        *SUBWORDS,
        ".",
        ",",
    ]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(vocabulary_tokens))}
    inner = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(mark, vocabulary[mark]) for mark in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


@cache
def more_keys(family: str) -> dict:
    """Config keys of a tiny model beyond its sizes: `TINY` in the family's own test file."""
    path = Path(__file__).parent / f"models/families/test_{family}.py"
    lines = ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []
    found = [line for line in lines if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "TINY"]
    return ast.literal_eval(found[0].value) if found else {}


def config(family: str, layers: int, width: int, heads: int, ffn: int, labels: list[str], head: str) -> dict:
    own, about = tokenizer(pad_is_one(family)), family_of(family)
    if about.layer is not None:
        sizes = (layers, width, heads, ffn)
        keys = (about.keys.depth, about.keys.hidden_size, about.keys.heads, about.keys.ffn_size)
        shape = {**dict(zip(keys, sizes, strict=True)), about.keys.positions: POSITIONS}
        if len(about.inputs.other_tables) > 1 and about.inputs.uses_token_types:
            shape["type_vocab_size"] = 2
        if about.inputs.projection:
            shape[about.keys.embedding_size] = width // 2 + 4
        if about.keys.key_heads:
            shape[about.keys.key_heads] = heads // 2
        shape |= more_keys(family)
        head = IMAGE_CLASSIFICATION if family in IMAGES and head == "SequenceClassification" else head
    else:
        shape = {
            "num_hidden_layers": layers,
            "embedding_size": width,
            "hidden_size": ffn,
            "max_position_embeddings": 64,
            "sep_token_id": own.sep_token_id,
            "niwaki_texts": 2,
            **ATTENTION_FREE_SIZES,
        }
    special = {"pad_token_id": own.pad_token_id, "bos_token_id": None, "eos_token_id": None}
    names = {"id2label": dict(enumerate(labels)), "label2id": {name: number for number, name in enumerate(labels)}}
    if head == CONDITIONAL_GENERATION:
        decoder = {"layers": 2, "heads": heads, "ffn_size": ffn, "vocabulary_size": TARGET_TOKENS, "positions": 20}
        shape |= {
            "niwaki_encoder": TYPES.get(family, family),
            **{f"decoder_{key}": value for key, value in decoder.items()},
        }
        family = next(name for name, kind in ABOUT.items() if kind.decoder and not kind.in_transformers)
    return {
        "model_type": TYPES.get(family, family),
        "architectures": [f"TinyFor{head}"],
        "vocab_size": len(own),
        **shape,
        **special,
        **names,
    }


def model(
    family: str = "bert",
    layers: int = 3,
    width: int = 32,
    heads: int = 4,
    ffn: int = 64,
    seed: int = 0,
    labels: list[str] = LABELS,
    head: str = "SequenceClassification",
    **more: object,
) -> Model:
    """Every weight is random, biases and norms too, so that nothing can be left out unseen. `more` are further keys of the config."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = build({**config(family, layers, width, heads, ffn, labels, head), **more}).eval()
    network.config.architectures = [type(network).__name__]
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in filter(lambda one: one.requires_grad, network.parameters()):  # others are tables of sines
            noise = torch.randn(parameter.shape, generator=generator)
            size = 0.4 if family in READERS else 0.2  # what goes through few layers says little
            parameter.copy_(size * noise if parameter.ndim > 1 else parameter + 0.1 * noise)
        for table in filter(lambda one: isinstance(one, torch.nn.Embedding), network.modules()):
            if table.padding_idx is not None:  # as transformers begins; some families embed neighbours too
                table.weight[table.padding_idx] = 0
    return Model(network, reader(family, network.config.to_dict()))


def reader(family: str, config: dict) -> PreTrainedTokenizerFast | ImagePreprocessor:
    """What encodes the family's inputs."""
    return preprocessor_for(config) if family in IMAGES else tokenizer(pad_is_one(family))


def deployed(of: Model, folder: Path) -> Path:
    """The model saved as a stage saves it: for every engine that can run it."""
    with_graphs(of, folder)
    write_program(of, folder)
    return folder


def with_graphs(of: Model, folder: Path) -> Path:
    """The model saved with its ONNX graphs. Equal models are exported once: an export takes longer than most tests."""
    folder.mkdir(exist_ok=True)
    of.save(folder)
    saved = ("model.safetensors", "config.json", "blueprint.json")
    key = tuple(sha256(path) if (path := folder / name).exists() else "" for name in saved)
    if key not in _graphs:
        write_graph(of, folder)
        _graphs[key] = {path.name: path.read_bytes() for path in folder.glob("*.onnx")}
    for name, graph in _graphs[key].items():
        (folder / name).write_bytes(graph)
    return folder


_graphs: dict[tuple[str, ...], dict[str, bytes]] = {}  # digests of a saved model → its graphs


def sentences(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """(text, label): a sentence is good when it holds more good words than bad ones."""
    draw = random.Random(seed)
    rows: dict[str, str] = {}
    while len(rows) < count:
        label = LABELS[len(rows) % 2]
        words = draw.choices(GOOD if label == "good" else BAD, k=draw.randint(1, 2)) + draw.choices(
            PLAIN, k=draw.randint(1, 9)
        )
        draw.shuffle(words)
        rows.setdefault(" ".join(words) + ".", label)
    return list(rows.items())


def write_csv(path: Path, count: int = 160, seed: int = 0) -> Path:
    lines = ["text,label", *(f"{text},{label}" for text, label in sentences(count, seed))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_pairs_csv(path: Path, count: int = 160, seed: int = 0) -> Path:
    """Pairs of the same rows: "good" if both texts of a pair have the same label."""
    rows = sentences(count, seed)
    pairs = zip(rows, random.Random(seed).sample(rows, count), strict=True)
    lines = [f"{first[0]},{second[0]},{'good' if first[1] == second[1] else 'bad'}" for first, second in pairs]
    path.write_text("\n".join(["sentence1,sentence2,label", *lines]) + "\n", encoding="utf-8")
    return path


def batch(of: Model, count: int = 6, seed: int = 0, pairs: bool = False) -> Batch:
    """Texts of different lengths, so that there is padding."""
    if isinstance(of.tokenizer, ImagePreprocessor):
        return images(of, count, seed)
    rows = sentences(count, seed)
    texts = [(text, rows[number - 1][0]) if pairs else text for number, (text, _) in enumerate(rows)]
    targets = written(count, seed) if of.anatomy.is_seq2seq else np.array([LABELS.index(label) for _, label in rows])
    encoded = Label().encode(texts, of.tokenizer.backend_tokenizer, 60)
    collator = Collator(Features(encoded, targets), of, torch.device("cpu"))
    found = collator.batch(range(count))
    assert (found.mask == 0).any()
    return found


def images(of: Model, count: int = 6, seed: int = 0) -> Batch:
    """Random images of different brightness, all of one size."""
    draw, reads = np.random.default_rng(seed), of.tokenizer
    values = draw.integers(0, 256, (count, reads.channels, *reads.read_size)) * draw.uniform(0.2, 1, (count, 1, 1, 1))
    rows = EncodedInputs({PIXELS: Pixels(values.astype(np.uint8), reads.tokens, reads.scale)}, np.arange(count), [])
    targets = written(count, seed) if of.anatomy.is_seq2seq else np.arange(count) % len(LABELS)
    return Collator(Features(rows, targets), of, torch.device("cpu")).batch(range(count))


def written(count: int, seed: int = 0) -> Ragged:
    """Target tokens for as many texts: random tokens, of several lengths."""
    draw, ragged = random.Random(seed), RaggedWriter(np.int32)
    ragged.add([*(draw.randrange(4, TARGET_TOKENS) for _ in range(draw.randint(1, 5))), END] for _ in range(count))
    return ragged.done()


def real(values: torch.Tensor, given: Batch) -> torch.Tensor:
    """Logits with zeros for padding, where there are some for every token: what is computed there means nothing."""
    return values * given.mask[..., None] if values.shape[:2] == given.mask.shape else values


@torch.no_grad()
def logits(of: Model, given: Batch) -> torch.Tensor:
    """What transformers' own forward pass gives; it cannot run a network whose heads share keys unevenly."""
    network = of.network.eval()
    uneven = any(layer.has_attention and layer.mixer.key_heads is not None for layer in of.anatomy.layers)
    return forward(of.anatomy, given).logits if uneven else network(**given.inputs).logits
