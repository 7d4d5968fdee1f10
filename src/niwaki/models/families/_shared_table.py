"""What encoder-decoders of transformers share: one table of tokens for their input, their output and, mostly, their logits."""

from typing import ClassVar

from niwaki.core.errors import InputError
from niwaki.models.family import Config, Family, HeadPaths, Network

OUTPUT = "lm_head"


class SharedTable(Family):
    head = HeadPaths(per_token=False, final=OUTPUT)
    borrowers: ClassVar[tuple[str, ...]]  # where transformers has modules of their own around the table
    special_token_keys = (
        *("pad_token_id", "bos_token_id", "eos_token_id"),
        *("decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id"),
    )
    may_untie: ClassVar[bool] = False  # whether the output matrix may have numbers of its own

    @classmethod
    def check_config(cls, config: Config) -> None:
        assert cls.decoder is not None
        if config.get(cls.decoder.depth_key) == 0:
            raise InputError(
                f"config: {cls.decoder.depth_key} is 0; a {config['model_type']} writes with layers of its own, of which it needs one at least"
            )
        if config.get("tie_word_embeddings") is False and not cls.may_untie:
            raise InputError(
                f"config: a {config['model_type']} whose output has numbers of its own is not supported (tie_word_embeddings); take one that shares its table"
            )

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        from niwaki.models.tables import has_own_output, tie_table

        owner, _, name = cls.inputs.token_table.rpartition(".")
        table = network.get_submodule(cls.inputs.token_table)
        untied = cls.may_untie and has_own_output(network, OUTPUT, table)
        network.config.tie_word_embeddings = not untied
        paths = [path for path in cls.borrowers if not (untied and path == OUTPUT)]
        borrowers = {path: getattr(network.get_submodule(path), "embed_scale", 1.0) for path in paths}
        if not tie_table(network, network.get_submodule(owner), name, borrowers):
            raise InputError(
                "its encoder, decoder and output have tables of their own, which is not supported; take a model that shares one"
            )
