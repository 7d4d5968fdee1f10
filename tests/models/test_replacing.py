"""Words replaced by others: which, how many, and by what."""

import pytest
import torch

import tiny
from niwaki.models import replacing
from niwaki.models.model import load_folder
from niwaki.models.replacing import InContext, Nearest, copies, masked_model, whole_words


def test_a_copy_keeps_all_but_the_words_that_are_replaced():
    def candidates(text):
        return [["X"] if word in ("film", "plot") else [] for word in replacing.WORD.findall(text)]

    texts = list(copies(["A film, 2 plots: the film's end; FILM film!"], 200, candidates, 0))
    assert all(
        text.startswith("A ") and ", 2 plots: the film's end; FILM " in text and text.endswith("!") for text in texts
    )
    replaced = sum(text.count("X") for text in texts) / 400  # two words that have candidates
    assert abs(replaced - replacing.SHARE) < 0.1


def test_copies_follow_seed_and_row_and_keep_capitals():
    candidates = lambda text: [["one", "two", "three"] for _ in replacing.WORD.findall(text)]  # noqa: E731
    first = list(copies(["Alpha beta gamma"] * 2, 3, candidates, 0))
    assert (
        first
        == list(copies(["Alpha beta gamma"] * 2, 3, candidates, 0))
        != list(copies(["Alpha beta gamma"] * 2, 3, candidates, 1))
    )
    assert first[:3] != first[3:] and len(first) == 6
    assert all(text[0].isupper() for text in first)


def test_both_texts_of_a_pair_are_replaced():
    texts = list(copies([("alpha beta", "gamma")], 20, lambda text: [["x"]] * len(text.split()), 0))
    assert all(isinstance(pair, tuple) and len(pair) == 2 for pair in texts)
    assert any("x" in pair[1] for pair in texts) and any("x" in pair[0] for pair in texts)


def test_the_nearest_are_those_of_the_table_by_hand():
    model = tiny.model("bert")
    number = whole_words(model.tokenizer.backend_tokenizer)
    assert set(tiny.GOOD) <= number.keys() and not any(word.startswith("##") or len(word) == 1 for word in number)
    with torch.no_grad():
        table = model.anatomy.tokens.weight
        table[number["fine"]] = 3 * table[number["good"]] + 0.01  # longer, in the same direction
    near = Nearest(model, ["a good film", "Good!"])
    found = near("Good films")
    assert found[0][0] == "fine" and "good" not in found[0] and len(found[0]) == replacing.CANDIDATES
    assert found[1] == []  # two tokens


def masked(tmp_path, family="bert"):
    """A folder with a head for masked words."""
    import transformers
    from safetensors.torch import save_file

    from niwaki.core.files import write_json
    from niwaki.models.saved_files import config_of

    own = tiny.model(family)
    network = transformers.AutoModelForMaskedLM.from_config(own.network.config)
    network.config.architectures = [type(network).__name__]
    state = {name: value.clone() for name, value in network.state_dict().items()}
    save_file(state, tmp_path / "model.safetensors", metadata={"format": "pt"})
    write_json(tmp_path / "config.json", config_of(network))
    own.tokenizer.save_pretrained(tmp_path)
    return network


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta", "mpnet", "albert"])
def test_a_head_for_masked_words_is_found_with_its_weights(tmp_path, family):
    network = masked(tmp_path, family).eval()
    found = masked_model(tmp_path).eval()
    ids = torch.tensor([[2, 7, 8, 3]])
    assert torch.equal(network(input_ids=ids).logits, found(input_ids=ids).logits)


def test_a_model_without_such_a_head_gives_none(bert_folder):
    assert masked_model(bert_folder) is None


def test_in_context_every_word_of_one_token_is_masked_in_its_place(tmp_path):
    masked(tmp_path)
    network, tokenizer = masked_model(tmp_path), load_folder(tmp_path, tiny_head()).tokenizer
    text = "the film was movielike."
    found = InContext(network, tokenizer)(text)
    assert [len(some) for some in found] == [replacing.CANDIDATES] * 3 + [0]
    ids = torch.tensor([tokenizer(text)["input_ids"]])
    ids[0, 2] = tokenizer.mask_token_id
    order = network.eval()(input_ids=ids).logits[0, 2].argsort(descending=True).tolist()
    words = {number: word for word, number in whole_words(tokenizer.backend_tokenizer).items()}
    assert found[1] == [words[number] for number in order if number in words][: replacing.CANDIDATES]


def tiny_head():
    from niwaki.models.head import Head

    return Head(tiny.LABELS)


def sentencepiece():
    """As ALBERT's: a piece that begins a word is marked."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    subwords = [
        "<pad>",
        "<unk>",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "▁the",
        "▁film",
        "▁sound",
        "▁warm",
        "able",
        "ing",
        "▁",
        *"abcdefghijklmnopqrstuvwxyz",
    ]
    inner = Tokenizer(models.Unigram([(piece, -1.0 - (len(piece) == 1) * 9) for piece in subwords], unk_id=1))
    inner.normalizer, inner.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", unk_token="<unk>", mask_token="[MASK]")


def test_words_of_sentencepiece_are_those_that_are_marked():
    assert list(whole_words(sentencepiece().backend_tokenizer)) == ["the", "film", "sound", "warm"]


def test_in_context_with_sentencepiece(tmp_path):
    """Where its offsets hold the blank before a word."""
    masked(tmp_path, "albert")
    found = InContext(masked_model(tmp_path), sentencepiece())("the warm film, walkable")
    assert [sorted(some) for some in found] == [["film", "sound", "the", "warm"]] * 3 + [[]]


def test_padding_and_cuts_of_a_tokenizer_s_file_do_not_count(tmp_path):
    masked(tmp_path)
    network, tokenizer = masked_model(tmp_path), load_folder(tmp_path, tiny_head()).tokenizer
    text = "the film was good and the plot was very weak"
    before = InContext(network, tokenizer)(text)
    tokenizer.backend_tokenizer.enable_padding(length=30)
    assert InContext(network, tokenizer)(text) == before
    tokenizer.backend_tokenizer.enable_truncation(5)
    assert InContext(network, tokenizer)(text) == before and all(before)


def test_words_at_the_end_of_the_longest_text_are_replaced_too(tmp_path):
    masked(tmp_path)
    network, tokenizer = masked_model(tmp_path), load_folder(tmp_path, tiny_head()).tokenizer
    longest = network.config.max_position_embeddings
    found = InContext(network, tokenizer)("film " * (longest + 1))
    assert [bool(some) for some in found] == [place < longest for place in range(1, longest + 2)]  # [CLS] comes first
