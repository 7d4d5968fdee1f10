"""A new network of a given shape with random weights, and a tokenizer trained on the stage's texts: the start of pretraining.

Nothing of the start model is kept but the kind of its head. Weights follow from the seed, as the family initializes them. Split
`bytes` trains no tokenizer: its tokens are the 256 bytes (Xue et al. 2022, ByT5, arXiv 2105.13626).

Paper: Devlin et al. 2019, BERT (arXiv 1810.04805), whose initialization the families share.
Cost: training the tokenizer, seconds for some million words.
"""

from itertools import islice
from typing import TYPE_CHECKING, Literal

import torch
from tokenizers import Tokenizer

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.seeds import derive
from niwaki.core.settings import Settings, setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.adapt import _text_to_text
from niwaki.models.family import FAMILIES, Family, Network, family_of, is_known, model_type_of
from niwaki.models.meta_device import on_meta_device
from niwaki.models.model import Model
from niwaki.models.preprocessor import preprocessor_for
from niwaki.models.skeleton import IMAGE_CLASSIFICATION, build
from niwaki.tokenization.encoder_tokenizer import MASK, for_encoder
from niwaki.tokenization.text_to_text_tokenizer import for_text_to_text
from niwaki.tokenization.training import BOS, EOS, MAX_TOKENS, PAD, SPECIAL_TOKENS, UNK, make

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

MIN_BYTE_LEVEL = len(SPECIAL_TOKENS) + 256  # tokens of a byte-level vocabulary
HEAD_KEYS = ("id2label", "label2id", "problem_type", "niwaki_answer")  # of the config: they describe the head


class ImageShape(Settings):
    """Images and patches, which become tokens."""

    size: int = setting(32, "height and width of an image", ge=1, le=4096)
    patch: int = setting(4, "height and width of a patch", ge=1, le=4096)
    channels: Literal[1, 3] = setting(3, "1 for grey images, 3 for RGB")

    def config(self) -> Json:
        sizes = {"image_size": self.size, "patch_size": self.patch, "num_channels": self.channels}
        return {**sizes, "architectures": [f"AnyFor{IMAGE_CLASSIFICATION}"]}


class FromScratch(Method, Reshapes):
    family: str = setting(
        "bert",
        "model family, e.g. bert, albert, electra, distilbert or gpt2; lstm_lm or bilstm_lm; averaging for word vectors; t5 or bart for an "
        "encoder-decoder; vit for images",
    )
    layers: int = setting(6, "layers", ge=1, le=200)
    hidden_size: int = setting(256, "hidden size", ge=1, le=65_536)
    heads: int = setting(4, "attention heads of a layer; LSTMs have none", ge=1, le=4096)
    ffn_size: int = setting(
        1024, "feed-forward size; of LSTMs, the hidden layer of a head for a task", ge=1, le=262_144
    )
    embedding_size: int | None = setting(
        None,
        "size of token embeddings, for LSTMs and families that project them; default: the hidden size",
        ge=1,
        le=65_536,
    )
    positions: int = setting(512, "longest sequence that the network can read, in tokens", ge=8, le=100_000)
    split: Literal["bpe", "wordpiece", "words", "bytes", "characters"] = setting("bpe", "kind of tokenizer")
    vocab_size: int = setting(8000, "most tokens of the vocabulary", ge=len(SPECIAL_TOKENS) + 2, le=MAX_TOKENS)
    decoder_layers: int | None = setting(
        None, "decoder layers of an encoder-decoder; default: as many as the encoder has", ge=1, le=200
    )
    sentinels: int = setting(
        100,
        "sentinel tokens of an encoder-decoder, which stand for hidden spans; they count as vocabulary",
        ge=0,
        le=1000,
    )
    image: ImageShape = setting(ImageShape(), "what a network for images reads: { size, patch, channels }")
    texts: int = setting(200_000, "texts that the tokenizer is trained on, the first ones", ge=1)

    requires = Requirements(training=True)

    @property
    def resets_head(self) -> bool:
        return True

    def prepare(self, model: Model, context: Context) -> Model:
        if self._family(model).inputs.reads == "images":
            network = new_network(self.config(model, 0), context.seed)
            return Model(network, preprocessor_for(network.config.to_dict()), sibling_files=model.sibling_files)
        sentinels, decoder = self._sentinels(model), self._family(model).decoder
        trained = self.vocab_size - 1 - sentinels  # the mask token and the sentinels come on top
        content = make(islice(context.texts(), self.texts), self.split, trained)
        if decoder is None:
            tokenizer = for_encoder(content)
            whole = as_transformers(tokenizer)
        else:
            tokenizer = for_text_to_text(content, sentinels, decoder.begins_with_bos)
            whole = _text_to_text.as_transformers(tokenizer, sentinels, MASK)
        network = new_network(self.config(model, tokenizer.get_vocab_size()), context.seed)
        return Model(network, whole, sibling_files=model.sibling_files)

    def dry_prepare(self, model: Model) -> Model:
        with on_meta_device():
            return Model(build(self.config(model, self.vocab_size)), None)

    def config(self, model: Model, vocabulary_size: int) -> Json:
        family = self._family(model)
        sizes = {
            family.keys.depth: self.layers,
            family.keys.hidden_size: self.hidden_size,
            family.keys.heads: self.heads,
            family.keys.ffn_size: self.ffn_size,
        }
        sizes.pop("", None)  # of what the family does not have
        if family.keys.embedding_size:
            sizes[family.keys.embedding_size] = self.embedding_size or self.hidden_size
        own = model.network.config.to_dict()
        if family.inputs.reads == "images":
            head = {key: own[key] for key in HEAD_KEYS if own.get(key) is not None}
            return {**head, **sizes, "model_type": model_type_of(self.family), **self.image.config()}
        further = (
            {}
            if family.decoder is None
            else _text_to_text.decoder_config(family, sizes, self.decoder_layers or self.layers)
        )
        return {
            **{key: own[key] for key in HEAD_KEYS if own.get(key) is not None},
            **sizes,
            **family.keys.fresh,
            "model_type": model_type_of(self.family),
            "architectures": [f"AnyFor{model.anatomy.head.architecture}"],
            "vocab_size": vocabulary_size,
            **({family.keys.positions: self.positions} if family.inputs.limited else {}),
            "pad_token_id": SPECIAL_TOKENS.index(PAD),
            "bos_token_id": SPECIAL_TOKENS.index(BOS),
            "eos_token_id": SPECIAL_TOKENS.index(EOS),
            "cls_token_id": SPECIAL_TOKENS.index(BOS),
            "sep_token_id": SPECIAL_TOKENS.index(EOS),
            **further,
        }

    def _sentinels(self, model: Model) -> int:
        return 0 if self._family(model).decoder is None else self.sentinels

    def _family(self, model: Model) -> type[Family]:
        usable = [name for name in FAMILIES.names() if is_usable(family_of(name))]
        if not is_known(self.family) or not is_usable(family_of(self.family)):
            raise InputError(
                f"from_scratch: family '{self.family}' cannot be built so; take one of {', '.join(usable)}"
            )
        family = family_of(self.family)
        if family.decoder is not None:
            _text_to_text.reject_pairs_of_texts(model, self.family)
        elif model.anatomy.is_seq2seq:
            raise InputError(
                f"from_scratch: family '{self.family}' is an encoder, and the model generates text; take the family of an "
                "encoder-decoder, or use 'add_decoder' with 'fresh'"
            )
        if family.keys.heads and self.hidden_size % self.heads:
            raise InputError(
                f"from_scratch: hidden_size {self.hidden_size} is not a multiple of heads {self.heads}; change one of them"
            )
        if self.embedding_size and not family.keys.embedding_size:
            raise InputError(
                f"from_scratch: family '{self.family}' does not project embeddings; leave embedding_size out"
            )
        if self.decoder_layers and family.decoder is None:
            raise InputError(f"from_scratch: family '{self.family}' has no decoder; leave decoder_layers out")
        _check_inputs(model, family, self.family)
        least = MIN_BYTE_LEVEL if self.split == "bpe" else len(SPECIAL_TOKENS) + 1
        if family.decoder is not None and self.split != "bytes" and self.vocab_size <= least + self.sentinels:
            raise InputError(
                f"from_scratch: vocab_size {self.vocab_size} leaves too little besides {self.sentinels} sentinels; "
                f"take {least + self.sentinels + 1} or more, or fewer sentinels"
            )
        return family


def new_network(config: Json, seed: int) -> Network:
    """With random weights that follow from the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "from_scratch"))
        network = build(config).eval()
    network.config.architectures = [type(network).__name__]
    return network


def _check_inputs(model: Model, family: type[Family], name: str) -> None:
    """The kind of answer says what the task reads; it is set before the network is."""
    answer = getattr(model.network.config, "niwaki_answer", None) or {}
    needs = "images" if str(answer.get("kind")).startswith("image_") else "texts"
    if needs != family.inputs.reads:
        raise InputError(
            f"from_scratch: family '{name}' reads {family.inputs.reads}, and the task has {needs}; take a family that reads {needs}"
        )


def is_usable(family: type[Family]) -> bool:
    """Networks whose positions do not depend on the id of the padding token, which is 0 here: with attention, language models, or tables of
    word vectors; of encoder-decoders those that are pretrained as a whole."""
    reads = family.layer is not None or family.head.vocabulary is not None or family.head.embeds
    sized = family.layer is None or (family.layer.stack.kind == "plain" and bool(family.keys.ffn_size))
    pretrained = family.decoder is None or family.decoder.has_own_tokenizer
    return sized and pretrained and reads and not family.inputs.skipped_positions


def as_transformers(tokenizer: Tokenizer) -> "PreTrainedTokenizerFast":
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        cls_token=BOS,
        sep_token=EOS,
        unk_token=UNK,
        mask_token=MASK,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
