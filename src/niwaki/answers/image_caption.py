"""A generated caption of an image that a verifier has checked."""

from typing import ClassVar

from niwaki.answers._images import ImageInputs
from niwaki.answers.verified import Verified


class ImageCaption(ImageInputs, Verified):
    architecture: ClassVar[str] = Verified.architecture
