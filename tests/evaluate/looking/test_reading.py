import tiny
from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers.label import Label
from niwaki.answers.tags import Tags
from niwaki.evaluate.looking.reading import NO_WORD, reading_of


def reading(kind, given, most=60):
    tokenizer = tiny.tokenizer().backend_tokenizer
    encoded: EncodedInputs = kind.encode([given], tokenizer, most)
    return reading_of(kind, given, encoded, 0, tokenizer, most)


def test_tokens_belong_to_the_words_they_are_part_of():
    found = reading(Label(), "Good films, unreal")
    assert found.tokens == ["[CLS]", "Good", "film", "s", ",", "un", "r", "e", "a", "l", "[SEP]"]
    assert found.word_of == [NO_WORD, 0, 1, 1, 1, 2, 2, 2, 2, 2, NO_WORD]
    assert [word.text for word in found.words] == ["Good", "films,", "unreal"]


def test_pairs_lists_of_words_and_truncated_texts():
    pair = reading(Label(), ("a film", "a plot"))
    assert pair.word_of == [-1, 0, 1, -1, 2, 3, -1] and pair.tokens[4:6] == ["a", "plot"]
    assert reading(Tags(), ["a", "films"]).word_of == [-1, 0, 1, 1, -1]
    assert reading(Label(), "a film was a film", most=4).word_of == [-1, 0, 1, -1]


def test_an_input_of_another_kind_has_tokens_without_words():
    class Other(Label):
        def encode(self, inputs, tokenizer, max_tokens):
            return super().encode([text[::-1] for text in inputs], tokenizer, max_tokens)

    found = reading(Other(), "a film")
    assert found.words == [] and set(found.word_of) == {NO_WORD} and len(found.tokens) == len(found.ids)
