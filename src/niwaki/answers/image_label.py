"""One label of several, for an image."""

from niwaki.answers._images import ImageInputs
from niwaki.answers.label import Label


class ImageLabel(ImageInputs, Label):
    pass
