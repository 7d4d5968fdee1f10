"""Gives an encoder a decoder, so that it writes its answers: translations, formulas. The network is then an encoder–decoder.

The encoder stays what the start model is, or is one of another shape with random weights; the decoder begins at random. Without layers
of the decoder's own the encoder's write: what is read and what is written are one row of tokens, and each token reads the whole text
and what was written up to it.

Paper: Vaswani et al. 2017, Attention Is All You Need (arXiv 1706.03762); a pretrained encoder as in Rothe, Narayan, Severyn 2020,
Leveraging Pre-trained Checkpoints for Sequence Generation Tasks (arXiv 1907.12461); one stack as in Dong et al. 2019, Unified Language
Model Pre-training (arXiv 1905.03197).
Cost: none before training.
"""

from typing import Any, Literal

import torch
from tokenizers import Tokenizer

from niwaki.answers._beam_search import END, PAD, START, UNKNOWN
from niwaki.answers.text import TARGET
from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.anatomy import Network, anatomy_of
from niwaki.models.model import Model
from niwaki.models.sizes import config_sizes
from niwaki.models.skeleton import build

SOME = 64  # pieces of a vocabulary that is not known yet


class AddDecoder(Method, Reshapes):
    layers: int = setting(
        3, "layers of the decoder; 0 has none, and the encoder's layers write too (prefix mask)", ge=0, le=200
    )
    heads: int | None = setting(None, "attention heads of each; none takes as many as the encoder has", ge=1)
    ffn_size: int | None = setting(None, "of each feed-forward block; none takes as many as the encoder has", ge=1)
    positions: Literal["learned", "sinusoidal"] = setting(
        "learned", "of what is sequence_kd: a table, or sines and cosines"
    )
    encoder: Literal["pretrained", "fresh"] = setting(
        "pretrained", "the start model's, or random weights in the shape that follows"
    )
    depth: int | None = setting(None, "layers of a fresh encoder; none takes the start model's", ge=1, le=200)
    hidden: int | None = setting(
        None, "width of a fresh encoder, and of the decoder; none takes the start model's", ge=1
    )
    shared: bool = setting(False, "a fresh encoder reads the pieces that are written, and both use one table")

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
        with torch.device("meta"):
            network = build(self.config(model, SOME))
        reject_narrow_table(network)
        return Model(network, None)

    def config(self, model: Model, pieces: int) -> dict[str, Any]:
        anatomy = model.anatomy
        self._refuse(model)
        kept = model.network.config.to_dict()
        width = self.hidden or anatomy.hidden_size
        heads, ffn_size = self.heads or anatomy.layers[0].heads, self.ffn_size or anatomy.layers[0].ffn_size
        if width % heads:
            raise InputError(f"add_decoder: hidden {width} is not a multiple of heads {heads}")
        fresh = config_sizes(anatomy, self.depth or len(anatomy.order), width, heads, ffn_size)
        shared = {"vocab_size": pieces, "pad_token_id": PAD, "decoder_shares_embeddings": True} if self.shared else {}
        return {
            **kept,
            **(fresh if self.encoder == "fresh" else {}),
            **shared,
            "model_type": "encoder_decoder",
            "niwaki_encoder": kept["model_type"],
            "architectures": ["AnyForConditionalGeneration"],
            "decoder_layers": self.layers,
            "decoder_heads": heads,
            "decoder_ffn_size": ffn_size,
            "decoder_vocabulary_size": pieces,
            "decoder_positions": longest(kept) + 1,
            "decoder_sinusoids": self.positions == "sinusoidal",
        }

    def _refuse(self, model: Model) -> None:
        anatomy = model.anatomy
        anatomy.require_layers("add_decoder")
        faults = []
        if anatomy.is_seq2seq:
            faults.append("add_decoder: the model writes already; leave 'add_decoder' out")
        if model.blueprint.edits:
            faults.append(
                "add_decoder: an edited encoder is given no decoder; name 'add_decoder' first, and cut what it makes"
            )
        if not self.layers and anatomy.family.relative:
            faults.append(
                f"add_decoder: a model of family '{model.network.config.model_type}' reads by distance, which tokens of two texts have none of; give the decoder layers"
            )
        asked = [name for name in ("depth", "hidden") if getattr(self, name)] + ["shared"] * self.shared
        if asked and self.encoder == "pretrained":
            faults.append(f"add_decoder: {asked[0]} is for a fresh encoder; set encoder = 'fresh', or leave it out")
        if faults:
            raise InputError(faults)


def reject_narrow_table(network: Network) -> None:
    """A table that both use is as wide as the decoder."""
    config, anatomy = network.config, anatomy_of(network)
    if config.decoder_shares_embeddings and (
        anatomy.inputs.projection or anatomy.tokens.embedding_dim != anatomy.hidden_size
    ):
        raise InputError(
            f"add_decoder: an encoder of family '{config.niwaki_encoder}' widens what its table gives, so a decoder cannot share the table; set shared = false"
        )


def longest(config: dict[str, Any]) -> int:
    """Most tokens that the task's answers have, as its kind of answer says."""
    answer = config.get("niwaki_answer")
    return int(answer.get("max_new_tokens", 128)) if isinstance(answer, dict) else 128


def as_source(target: Tokenizer) -> Any:
    """The tokenizer of what is written, for what is read."""
    from transformers import PreTrainedTokenizerFast

    name = target.id_to_token
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(target.to_str()),
        pad_token=name(PAD),
        bos_token=name(START),
        eos_token=name(END),
        unk_token=name(UNKNOWN),
    )
