"""Names of a head's outputs: which are the same, in which order, and which say that the head answers another question."""

import pytest

from niwaki.models.head_labels import has_other_labels, label_order


def config(*names):
    return {"id2label": {str(number): name for number, name in enumerate(names)}}


@pytest.mark.parametrize(
    ("have", "wanted", "order", "otherwise"),
    [
        (("bad", "good"), ["bad", "good"], [], False),
        (("good", "bad"), ["bad", "good"], [1, 0], False),
        (("GOOD", "Bad"), ["bad", "good"], [1, 0], False),
        (("NEGATIVE", "POSITIVE"), ["negative", "positive"], [], False),
        (("us", "US"), ["US", "us"], [1, 0], False),  # where case is all that tells them apart, it does
        (("LABEL_0", "LABEL_1"), ["bad", "good"], [], False),
        (("0", "1"), ["bad", "good"], [], False),
        (("sports", "politics"), ["bad", "good"], [], True),
        (("bad", "good", "fair"), ["bad", "good"], [], False),  # of another size: there is no such head at all
        (("LABEL_1", "LABEL_0"), ["bad", "good"], [], True),
        (("score",), ["value"], [], False),
        ((), ["bad", "good"], [], False),
    ],
)
def test_names_are_compared_as_people_read_them(have, wanted, order, otherwise):
    assert label_order(config(*have), wanted) == order
    assert has_other_labels(config(*have), wanted) == otherwise
