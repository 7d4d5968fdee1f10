"""Scikit-learn estimators for texts: they fit by running the stages of a recipe."""

from niwaki.estimators.classifier import Classifier
from niwaki.estimators.regressor import Regressor

__all__ = ["Classifier", "Regressor"]
