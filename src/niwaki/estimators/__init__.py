"""Scikit-learn estimators for texts. Classifier and Regressor fit by running the stages of a recipe; Encoder trains nothing."""

from niwaki.estimators.classifier import Classifier
from niwaki.estimators.encoder import Encoder
from niwaki.estimators.regressor import Regressor

__all__ = ["Classifier", "Encoder", "Regressor"]
