"""The train block of a stage."""

from typing import Literal

from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.train.auto_settings import AutoSettings
from niwaki.train.schedules import Schedule


class TrainSettings(AutoSettings):
    objective: str | Json = setting(
        "supervised",
        "what is minimized and how it is scored: a name, or { use = name, setting = value … }; see `niwaki list objectives`",
    )
    optimizer: Literal["adamw", "muon"] = setting(
        "adamw", "muon orthogonalizes the updates of the layers' matrices, for pretraining; other parameters use adamw"
    )
    schedule: Schedule = setting(
        "linear", "how the learning rate falls after the warm-up; wsd holds it until the last fifth of the steps"
    )
    warmup: float = setting(0.1, "share of all steps in which the learning rate rises; then it decays to 0", ge=0, lt=1)
    batch_growth: Literal[1, 2, 4, 8, 16, 32] = setting(
        1,
        "into how many parts a batch is cut at first, one for each step; parts double in size until half of the rows are read",
    )
    short_tokens: int = setting(
        0, "tokens to which sequences of plain texts are cut at first; 0 cuts none", ge=0, le=100_000
    )
    short_share: float = setting(0.9, "share of the steps in which `short_tokens` holds", gt=0, lt=1)
    micro_shards: int = setting(
        1,
        "into how many micro-shards a batch is cut, whose gradients are added in a fixed order: up to as many processes can train together "
        "(torchrun), with the same result for any number of them",
        ge=1,
        le=4096,
    )
    weight_decay: float = setting(0.01, "weight decay of all matrices, not of norms and biases", ge=0)
    clip: float = setting(1.0, "maximum gradient norm", gt=0)
    dropout: float | None = setting(None, "share of activations dropped; none keeps the model's own value", ge=0, lt=1)
    patience: int = setting(0, "validations without improvement after which training stops; 0 never stops early", ge=0)
    validations: int = setting(1, "validations per epoch; 0 validates once, at the end", ge=0)
    keep: Literal["best", "last"] = setting(
        "best",
        "which weights to keep: the best on the validation rows, or the last, e.g. if there are few validation rows",
    )
    unlabelled: int = setting(0, "unlabelled texts to add, sampled with the seed; needs a teacher", ge=0)
    unlabelled_path: str = setting(
        "", "file or folder that `unlabelled` samples from; none takes the texts of the task"
    )
    augmentations: int = setting(0, "copies of every row to add, with words replaced; needs a teacher", ge=0, le=1000)
    labelled: bool = setting(True, "whether to train on the task's train rows; false trains on unlabelled texts only")
    precision: Literal["auto", "bf16", "fp32"] = setting(
        "auto", "number format; auto takes bf16 where the hardware has it"
    )
    save_seconds: float = setting(60.0, "seconds between checkpoints: the most work that a kill can lose", gt=0)
