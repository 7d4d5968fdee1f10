"""y as classes or numbers. Messages name y."""

import numpy as np
import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.data.objects import to_table

MISSING = ("", "nan", "<na>", "none", "-1")  # texts that readers of rows take for a missing label


def check_labels(inputs: list[str] | list[tuple[str, str]], y: object) -> pa.DataType:
    """The type of one label for each text; InputError if labels are missing, mixed, or not one each."""
    if y is None:
        raise InputError("y: fit requires y to be passed, but the target y is None")
    kind = to_table(inputs, y).schema.field("label").type
    if pa.types.is_nested(kind):
        raise InputError("y: has several labels for a text; an estimator learns one for each")
    return kind


def classes_in(y: object) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes and the class number of each row."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    values = column_or_1d(y if hasattr(y, "shape") else np.asarray(y), warn=True)
    check_classification_targets(values)
    classes, codes = np.unique(np.asarray(values), return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"y: has one class ({classes[0]}); at least 2 classes are needed")
    return classes, codes


def label_names(classes: np.ndarray) -> list[str]:
    """The classes as the label names of the model; numbered names where the classes are no usable names."""
    names = [str(value) for value in classes.tolist()]
    usable = all(name == name.strip() and name.lower() not in MISSING for name in names)
    return names if usable and len(set(names)) == len(names) else [f"class {k}" for k in range(len(names))]
