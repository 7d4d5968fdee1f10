"""Captions are generated texts, and their inputs are images."""

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers._beam_search import NO_TOKEN
from niwaki.answers.image_caption import ImageCaption
from niwaki.answers.text import TARGET
from niwaki.data.problems._problem import problem_of

WORDS = ["[PAD]", "[BOS]", "[EOS]", "[UNK]"]


def test_a_caption_is_verified_against_the_image():
    question, answer = problem_of("shape_captions").pair(0, 0)
    wrong = answer.replace("left", "LEFT").replace("right", "left").replace("LEFT", "right")
    words = [*WORDS, *sorted({*answer.split(), *wrong.split()})]
    target = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    target.pre_tokenizer = WhitespaceSplit()
    kind = ImageCaption(verifier="shape_captions", beam=2, max_new_tokens=20)
    kind = kind.with_files({TARGET: target.to_str().encode()})
    assert kind.architecture == "ConditionalGeneration" and kind.to_json()["kind"] == "image_caption"
    logits = np.full((1, 2, 21), NO_TOKEN, dtype=np.float32)
    for place, (text, score) in enumerate([(wrong, -0.1), (answer, -0.9)]):
        logits[0, place, : 1 + len(text.split())] = [score, *map(words.index, text.split())]
    rows = EncodedInputs({}, np.zeros(1, dtype=np.int64), [])
    (found,) = kind.answers(logits.reshape(1, -1), rows, [kind.check(question)], [])
    assert (found.text, found.verified, found.rank, found.candidates) == (answer, True, 2, 2)
