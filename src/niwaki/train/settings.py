"""The train block of a stage."""

from typing import Literal

from niwaki.core.settings import Settings, setting


class TrainSettings(Settings):
    epochs: float = setting(3.0, "passes over the training rows; may be a part, like 0.5", gt=0, le=10_000)
    lr: float = setting(5e-5, "highest learning rate, reached after the warm-up", gt=0, lt=1)
    batch: int = setting(32, "rows a step", ge=1, le=65_536)
    warmup: float = setting(
        0.1, "share of all steps in which the learning rate rises; then it falls to 0 in a line", ge=0, lt=1
    )
    weight_decay: float = setting(0.01, "of all matrices, not of norms and biases", ge=0)
    clip: float = setting(1.0, "longest gradient", gt=0)
    dropout: float | None = setting(None, "share of activations dropped; none keeps what the model says", ge=0, lt=1)
    patience: int = setting(0, "validations without improvement after which training stops; 0 never stops early", ge=0)
    validations: int = setting(1, "how often an epoch the model is validated", ge=1)
    keep: Literal["best", "last"] = setting(
        "best", "which weights are kept: the best on the validation rows, or the last, where these are few"
    )
    unlabelled: int = setting(0, "unlabelled texts to add, drawn by the seed; only a teacher can teach on them", ge=0)
    unlabelled_path: str = setting(
        "", "file or folder that `unlabelled` draws from; none takes those that the task brings"
    )
    augmentations: int = setting(
        0, "copies of every row to add, with words replaced; only a teacher can teach on them", ge=0, le=1000
    )
    labelled: bool = setting(True, "whether the task's train rows are trained on; false takes unlabelled texts alone")
    precision: Literal["auto", "bf16", "fp32"] = setting(
        "auto", "number format; auto takes bf16 where the hardware has it"
    )
    save_seconds: float = setting(60.0, "at most this much work is lost to a kill", gt=0)
