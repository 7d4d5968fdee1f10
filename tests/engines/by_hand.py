"""Answers of every type by transformers' tokenizer and network, one text at a time and decoded by hand."""

import numpy as np
import torch

import tiny
from engines.kinds import SENSES, sense_inventory
from niwaki.answers.senses import Sentence, Target


@torch.no_grad()
def by_transformers(model, *texts, **how):
    """One text, or pair: the encoding, and the network's own outputs for each of its sequences."""
    given = model.tokenizer(*texts, truncation=how.pop("truncation", True), max_length=tiny.POSITIONS, **how)
    rows = given["input_ids"] if isinstance(given["input_ids"][0], list) else [given["input_ids"]]
    types = given["token_type_ids"] if isinstance(given["input_ids"][0], list) else [given["token_type_ids"]]
    return given, [
        model.network(input_ids=torch.tensor([row]), token_type_ids=torch.tensor([kind]))
        for row, kind in zip(rows, types, strict=True)
    ]


def of_text(model, given):
    _, (out,) = by_transformers(model, *([given] if isinstance(given, str) else given))
    return out.logits[0].double().numpy()


def label(model, given):
    return model.labels[of_text(model, given).argmax()]


def labels(model, given):
    chances = 1 / (1 + np.exp(-of_text(model, given)))
    return [name for name, chance in zip(model.labels, chances, strict=True) if chance >= 0.4]


def number(model, given):
    return 30.0 + 12.5 * of_text(model, given)[0]


def choice(model, given):
    beginning, endings = given
    return int(np.argmax([of_text(model, (beginning, ending))[0] for ending in endings]))


def tags(model, words, among=slice(None)):
    """A sentence that fits is read at once; of a longer one, this reads as many words as fit, then the rest."""
    given, (out,) = by_transformers(model, words, is_split_into_words=True)
    first = [given.word_ids().index(word) for word in range(len(words)) if word in given.word_ids()]
    found = [model.labels[among][place] for place in out.logits[0, first][:, among].argmax(dim=1).tolist()]
    return found if len(found) == len(words) else [*found, *tags(model, words[len(found) :], among)]


def roles(model, given):
    """Without a predicate, the better of O and P. With one, its mark is put in by hand and every valid path is walked."""
    if not isinstance(given, tuple):
        return tags(model, given, slice(0, 2))
    words, at = given
    before, own, after = (
        model.tokenizer(some, is_split_into_words=True, add_special_tokens=False)
        for some in (words[:at], [words[at]], words[at + 1 :])
    )
    parts = [["[CLS]"], before.tokens(), ["[SEP]"], own.tokens(), ["[SEP]"], after.tokens(), ["[SEP]"]]
    types = [kind for kind, part in zip([0, 0, 1, 1, 1, 0, 0], parts, strict=True) for _ in part]
    ids = model.tokenizer.convert_tokens_to_ids([token for part in parts for token in part])
    logits = (
        model.network(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits[0].double().detach()
    )
    starts = np.cumsum([0, *map(len, parts)])
    places = [
        starts[place] + encoding.word_ids().index(word)
        for place, encoding in ((1, before), (3, own), (5, after))
        for word in range(max([-1, *encoding.word_ids()]) + 1)
    ]
    senses = {"film": ["S-01"]}.get(words[at], ["S-01", "S-02"])
    allowed = [senses if word == at else ["O", "B-A0", "I-A0"] for word in range(len(words))]
    paths = {"": (0.0, [])}  # by the last tag, the best way to it
    for place, some in zip(places, allowed, strict=True):
        ways = [
            (score + float(logits[place, model.labels.index(tag)]), [*path, tag])
            for last, (score, path) in paths.items()
            for tag in some
            if tag != "I-A0" or last in ("B-A0", "I-A0")
        ]
        paths = {tag: max((way for way in ways if way[1][-1] == tag), default=(-np.inf, [])) for tag in some}
    return max(paths.values())[1]


def span(model, given):
    """Every stretch of at most 6 tokens in every window, one after the other."""
    question, text = given
    found, outs = by_transformers(
        model,
        question,
        text,
        truncation="only_second",
        stride=8,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    best = (-np.inf, "")
    for window, out in enumerate(outs):
        places = [place for place, part in enumerate(found.sequence_ids(window)) if part == 1]
        offsets = found["offset_mapping"][window]
        for first in places:
            for last in [place for place in places if first <= place < first + 6]:
                score = float(out.start_logits[0, first] + out.end_logits[0, last])
                best = max(best, (score, text[offsets[first][0] : offsets[last][1]]))
    return best[1]


def senses(model, given):
    """The vectors written out, of which a sense's is 6 numbers of its gloss, a 1 among 45 files, and 3 of how common it is."""
    known = sense_inventory()
    found, (out,) = by_transformers(model, given.words, is_split_into_words=True)
    values = []
    for target in given.targets:
        if target.word not in found.word_ids():  # cut off: what is left is read by itself
            start = max(word for word in found.word_ids() if word is not None) + 1
            rest = [Target(one.word - start, one.lemma, one.pos) for one in given.targets if one.word >= start]
            return [*values, *senses(model, Sentence(given.words[start:], rest))]
        v = out.logits[0, found.word_ids().index(target.word)].double().numpy()
        total = sum(range(1, SENSES[target.lemma] + 1)) + 0.5 * SENSES[target.lemma]
        keys = [f"{target.lemma}%1:0{n}:00::" for n in range(1, SENSES[target.lemma] + 1)]
        scores = []
        for n in range(1, len(keys) + 1):
            place = known.synsets.column("synset").to_pylist().index(f"{target.lemma}{n}-n")
            file = np.eye(45)[place]
            prior = [np.log((n + 0.5) / total), n == 1, 1 / n]
            code = known.vectors.codes[known.vectors.rows[place]] * float(known.vectors.scale[0])
            scores.append(v @ np.concatenate([code, file, prior]))
        values.append(keys[int(np.argmax(scores))])
    return values


def embedding(model, given):
    _, (out,) = by_transformers(model, given)
    mean = out.last_hidden_state[0].double().mean(dim=0)
    return (mean / mean.norm()).tolist()


def by_pixels(model, image):
    """An image that has the size of the network's, with numbers from -1 to 1."""
    pixels = torch.from_numpy(image).permute(2, 0, 1)[None] / 127.5 - 1
    return model.network(pixel_values=pixels)


@torch.no_grad()
def image_label(model, image):
    return model.labels[by_pixels(model, image).logits[0].argmax()]


@torch.no_grad()
def image_embedding(model, image):
    first = by_pixels(model, image).last_hidden_state[0, 0].double()
    return (first / first.norm()).tolist()


def likelihood(model, given):
    """For each text: the sum of the log-probabilities of its tokens, each masked alone, their number and that of characters."""
    values = []
    for text in [given] if isinstance(given, str) else given:
        ids = torch.tensor(model.tokenizer([text])["input_ids"])
        places, total = range(1, ids.shape[1] - 1), 0.0
        for place in places:
            masked = ids.clone()
            masked[0, place] = model.tokenizer.mask_token_id
            logits = model.network(input_ids=masked).logits[0, place].detach().double()
            total += float(logits.log_softmax(-1)[ids[0, place]])
        values.append([total, len(places), len(text)])
    return values


def numbers(values):
    """All numbers of nested lists in their order."""
    return np.hstack([numbers(value) for value in values]) if isinstance(values, list) else np.array([values])


BY_HAND = {
    "likelihood": likelihood,
    "image_label": image_label,
    "image_embedding": image_embedding,
    "embedding": embedding,
    "label": label,
    "labels": labels,
    "number": number,
    "choice": choice,
    "tags": tags,
    "span": span,
    "senses": senses,
    "roles": roles,
}
