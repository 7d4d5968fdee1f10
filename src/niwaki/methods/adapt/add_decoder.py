"""Adds a decoder to an encoder, for tasks that generate text: translations, formulas. The network becomes an encoder–decoder.

The encoder is the start model's, or a new one of another shape; the decoder starts from random weights. Without decoder layers, the
encoder's layers also generate (prefix language model): source and target are one sequence, and each target token attends to the whole
source and to the target tokens before it.

Paper: Vaswani et al. 2017, Attention Is All You Need (arXiv 1706.03762); a pretrained encoder as in Rothe, Narayan, Severyn 2020,
Leveraging Pre-trained Checkpoints for Sequence Generation Tasks (arXiv 1907.12461); one stack as in Dong et al. 2019, Unified Language
Model Pre-training (arXiv 1905.03197).
Cost: none before training.
"""

from typing import TYPE_CHECKING, Literal

import torch
from tokenizers import Tokenizer

from niwaki.answers._beam_search import END, PAD, START, UNKNOWN
from niwaki.answers.text import TARGET
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.anatomy import Network, anatomy_of
from niwaki.models.family import is_always_causal
from niwaki.models.meta_device import on_meta_device
from niwaki.models.model import Model
from niwaki.models.sizes import config_sizes
from niwaki.models.skeleton import build

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

DRY_RUN_VOCABULARY = 64  # tokens of the target vocabulary, which is not known when the plan is checked


class AddDecoder(Method, Reshapes):
    layers: int = setting(3, "decoder layers; with 0 the encoder's layers generate too (prefix mask)", ge=0, le=200)
    heads: int | None = setting(None, "attention heads of a decoder layer; default: as in the encoder", ge=1)
    ffn_size: int | None = setting(None, "feed-forward size of a decoder layer; default: as in the encoder", ge=1)
    positions: Literal["learned", "sinusoidal"] = setting(
        "learned", "position embeddings of the decoder: a trained table, or sines and cosines"
    )
    encoder: Literal["pretrained", "fresh"] = setting(
        "pretrained", "the start model's, or random weights in the shape given below"
    )
    depth: int | None = setting(None, "layers of a fresh encoder; default: as in the start model", ge=1, le=200)
    hidden: int | None = setting(
        None, "hidden size of a fresh encoder, and of the decoder; default: as in the start model", ge=1
    )
    shared: bool = setting(False, "a fresh encoder uses the decoder's tokenizer and token table")

    requires = Requirements(training=True)

    @property
    def resets_head(self) -> bool:
        return True

    def prepare(self, model: Model, context: Context) -> Model:
        target = Tokenizer.from_str(model.sibling_files[TARGET].decode())
        config = self.config(model, target.get_vocab_size())
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(context.seed, "add_decoder"))
            network = build(config).eval()
        reject_narrow_table(network)
        network.config.architectures = [type(network).__name__]
        if self.encoder == "pretrained":
            own = network.encoder.state_dict()
            found = {name: value for name, value in model.anatomy.trunk.state_dict().items() if name in own}
            network.encoder.load_state_dict(found)
        return Model(network, as_source(target) if self.shared else model.tokenizer, sibling_files=model.sibling_files)

    def dry_prepare(self, model: Model) -> Model:
        with on_meta_device():
            network = build(self.config(model, DRY_RUN_VOCABULARY))
        reject_narrow_table(network)
        return Model(network, None)

    def config(self, model: Model, vocabulary_size: int) -> Json:
        anatomy = model.anatomy
        self._check(model)
        config = model.network.config.to_dict()
        width = self.hidden or anatomy.hidden_size
        heads, ffn_size = self.heads or anatomy.layers[0].heads, self.ffn_size or anatomy.layers[0].ffn_size
        if width % heads:
            raise InputError(f"add_decoder: hidden {width} is not a multiple of heads {heads}")
        fresh = config_sizes(anatomy, self.depth or len(anatomy.order), width, heads, ffn_size)
        shared = (
            {"vocab_size": vocabulary_size, "pad_token_id": PAD, "decoder_shares_embeddings": True}
            if self.shared
            else {}
        )
        return {
            **config,
            **(fresh if self.encoder == "fresh" else {}),
            **shared,
            "model_type": "encoder_decoder",
            "niwaki_encoder": config["model_type"],
            "architectures": ["AnyForConditionalGeneration"],
            "decoder_layers": self.layers,
            "decoder_heads": heads,
            "decoder_ffn_size": ffn_size,
            "decoder_vocabulary_size": vocabulary_size,
            "decoder_positions": max_answer_tokens(config) + 1,
            "decoder_sinusoids": self.positions == "sinusoidal",
        }

    def _check(self, model: Model) -> None:
        anatomy = model.anatomy
        anatomy.require_layers("add_decoder")
        faults = []
        if anatomy.is_seq2seq:
            faults.append("add_decoder: the model has a decoder already; leave 'add_decoder' out")
        if is_always_causal(anatomy.family):
            faults.append(
                f"add_decoder: family '{model.network.config.model_type}' reads no later tokens, so it is no encoder; take family 'bert'"
            )
        if model.blueprint.edits:
            faults.append("add_decoder: the encoder has been edited; put 'add_decoder' first, and edit its result")
        if self.shared and anatomy.family.inputs.reads == "images":
            faults.append(
                f"add_decoder: a model of family '{model.network.config.model_type}' reads images, so it has no tokens to share; set shared = false"
            )
        if not self.layers and anatomy.family.inputs.reads == "images":
            faults.append(
                f"add_decoder: a model of family '{model.network.config.model_type}' reads images, whose patches and generated tokens are no one sequence; set layers to 1 or more"
            )
        elif not self.layers and anatomy.family.relative:
            faults.append(
                f"add_decoder: a model of family '{model.network.config.model_type}' uses relative positions, which are undefined between source and target; set layers to 1 or more"
            )
        fresh_only = [name for name in ("depth", "hidden") if getattr(self, name)] + ["shared"] * self.shared
        if fresh_only and self.encoder == "pretrained":
            faults.append(
                f"add_decoder: {fresh_only[0]} is for a fresh encoder; set encoder = 'fresh', or leave it out"
            )
        if faults:
            raise InputError(faults)


def reject_narrow_table(network: Network) -> None:
    """A shared table must be as wide as the decoder's hidden states."""
    config, anatomy = network.config, anatomy_of(network)
    if config.decoder_shares_embeddings and (
        anatomy.inputs.projection or anatomy.tokens.embedding_dim != anatomy.hidden_size
    ):
        raise InputError(
            f"add_decoder: an encoder of family '{config.niwaki_encoder}' projects its token embeddings, so a decoder cannot share the table; set shared = false"
        )


def max_answer_tokens(config: Json) -> int:
    """The maximum number of tokens in an answer, from the config's answer type."""
    answer = config.get("niwaki_answer")
    return int(answer.get("max_new_tokens", 128)) if isinstance(answer, dict) else 128


def as_source(target: Tokenizer) -> "PreTrainedTokenizerFast":
    """The target tokenizer, as a transformers tokenizer for the source."""
    from transformers import PreTrainedTokenizerFast

    name = target.id_to_token
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(target.to_str()),
        pad_token=name(PAD),
        bos_token=name(START),
        eos_token=name(END),
        unk_token=name(UNKNOWN),
    )
