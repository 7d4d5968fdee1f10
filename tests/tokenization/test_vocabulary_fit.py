"""A vocabulary that does not fit the texts is noticed; one that does is not blamed."""

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

import tiny
from niwaki.tokenization.vocabulary_fit import MOST_POOR, fit, is_shattered, remark

ENGLISH = [
    "The committee met on Monday to discuss the new budget for public libraries.",
    "Several members argued that reading rooms should stay open in the evening.",
    "A decision is expected before the end of the month, the speaker announced.",
]
TEXTS = {
    "fi": "Kaupunginhallitus keskusteli maanantaina kirjastojen määrärahoista ja lukusalien aukioloajoista.",
    "tr": "Belediye meclisi pazartesi günü kütüphanelerin bütçesini ve okuma salonlarını görüştü.",
    "ru": "Городской совет обсудил в понедельник новый бюджет публичных библиотек.",
    "ar": "ناقش مجلس المدينة يوم الاثنين الميزانية الجديدة للمكتبات العامة",
    "el": "Το δημοτικό συμβούλιο συζήτησε τη Δευτέρα τον νέο προϋπολογισμό.",
    "zh": "市议会周一讨论了公共图书馆的新预算和阅览室的开放时间。",
    "ja": "市議会は月曜日に公共図書館の新しい予算について話し合いました。",
    "ko": "시의회는 월요일에 공공 도서관의 새 예산을 논의했습니다.",
    "th": "สภาเทศบาลหารือเกี่ยวกับงบประมาณใหม่ของห้องสมุดประชาชนเมื่อวันจันทร์",
}


def trained(texts, bytes_too=False):
    """A vocabulary made from the texts themselves, in two of the usual ways."""
    if bytes_too:
        trained = Tokenizer(models.BPE())
        trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=3000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
        )
    else:
        trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        trained.normalizer, trained.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=3000, special_tokens=["[UNK]"], show_progress=False)
    trained.train_from_iterator(texts, trainer)
    return trained


@pytest.fixture(scope="module")
def minilm():
    from niwaki.data.embedded import find_model
    from niwaki.models.skeleton import read_config
    from niwaki.models.tokenizer_loading import plain_tokenizer

    folder = find_model("minilm")
    if folder is None:
        pytest.skip("the embedded model is not installed")
    return plain_tokenizer(folder, read_config(folder))


@pytest.mark.parametrize("language", TEXTS)
def test_an_english_vocabulary_on_other_languages(minilm, language):
    text = remark(minilm, [TEXTS[language]], "minilm")
    assert "model 'minilm': its vocabulary does not fit the texts" in text and "\n" not in text


def test_an_english_vocabulary_on_english(minilm):
    assert fit(minilm, ENGLISH).share < 0.03 and remark(minilm, ENGLISH, "minilm") == ""


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("bytes_too", [False, True])
def test_a_vocabulary_trained_on_the_language_fits(language, bytes_too):
    assert fit(trained([TEXTS[language]] * 3, bytes_too), [TEXTS[language]]).share < MOST_POOR


@pytest.mark.parametrize("language", TEXTS)
def test_bytes_of_an_english_vocabulary_are_no_fit(language):
    assert fit(trained(ENGLISH, bytes_too=True), [TEXTS[language]]).share >= MOST_POOR


@pytest.mark.parametrize(
    ("word", "tokens", "expected"),
    [
        ("unbelievably", 3, False),  # fewer than four tokens
        ("unbelievable", 4, False),  # 3 characters each
        ("unbelievabl", 4, True),
        ("図書館", 4, True),  # bytes
        ("図書館員", 4, False),  # a character each
        ("도서관의", 9, True),  # parts of syllables
    ],
)
def test_small_tokens_are_recognized(word, tokens, expected):
    assert is_shattered(word, tokens) is expected


def test_unknown_tokens_count_and_no_text_is_no_fault():
    tokenizer = tiny.tokenizer().backend_tokenizer
    found = fit(tokenizer, ["the film was good", "映画"])
    assert found.poor == 2 and found.examples == ["映", "画"]
    assert fit(tokenizer, []).share == 0
