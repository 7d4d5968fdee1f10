"""What a grammar lets through is well-formed, ends in time, and a file that is damaged is rejected in a line."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from tokenizers import Tokenizer

from niwaki.answers._beam_search import SearchSettings, beam_search
from niwaki.answers._grammar import END, UNREACHABLE, Grammar, nearest_ends, read, to_bytes
from niwaki.core.errors import InputError
from niwaki.tokenization.training import make

RULES = [
    [(["answer"], ["(", 1, ")", END])],
    [(["state", "city"], ["(", 1, ")"]), (["both"], ["(", 1, 2]), (["all"], [])],
    [([")"], []), ([","], [1, 2])],
]
WORDS = ["answer", "state", "city", "both", "all", "(", ")", ",", "other"]
VOCABULARY = {word: number for number, word in enumerate(["[PAD]", "[BOS]", END, "[UNK]", *WORDS])}
NAMES = {number: word for word, number in VOCABULARY.items()}
GRAMMAR = Grammar(RULES, VOCABULARY)


def well_formed(text):
    """Another way to say it: Python reads the text as a call of known names, each with the arguments it takes."""
    import ast

    def sound(node):
        if isinstance(node, ast.Name):
            return node.id == "all"
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
            return False
        counts = {"state": (1, 1), "city": (1, 1), "both": (1, 99)}
        least, most = counts.get(node.func.id, (1, 0))
        return least <= len(node.args) <= most and all(map(sound, node.args))

    tree = ast.parse(text, mode="eval").body
    return isinstance(tree, ast.Call) and tree.func.id == "answer" and len(tree.args) == 1 and sound(tree.args[0])


def walk(grammar, draw, room=None):
    """A text of random steps; towards its end those that lead there, where there is room for so many tokens alone."""
    state, found = grammar.start(), []
    while state is not None:
        allowed = np.flatnonzero(grammar.allowed(state, None if room is None else room - len(found)))
        assert len(allowed)
        found.append(int(draw.choice(allowed)))
        state = grammar.after(state, found[-1])
    assert found[-1] == VOCABULARY[END]
    return found[:-1]


@given(seed=some.integers(0, 100_000), room=some.integers(5, 30))
def test_every_walk_is_well_formed_and_keeps_to_its_room(seed, room):
    found = walk(GRAMMAR, random.Random(seed), room)
    assert len(found) + 1 <= room
    assert well_formed(" ".join(NAMES[token] for token in found)) and GRAMMAR.accepts(found)


def test_by_hand():
    state = GRAMMAR.start()
    assert GRAMMAR.least(state) == 5  # answer ( all ) and the end
    assert allowed(state) == {"answer"}
    for word, least, following in [
        ("answer", 4, {"("}),
        ("(", 3, {"state", "city", "both", "all"}),
        ("both", 5, {"("}),
        ("(", 4, {"state", "city", "both", "all"}),
        ("all", 3, {")", ","}),
        (",", 4, {"state", "city", "both", "all"}),
        ("all", 3, {")", ","}),
        (")", 2, {")"}),
        (")", 1, {END}),
    ]:
        state = GRAMMAR.after(state, VOCABULARY[word])
        assert (GRAMMAR.least(state), allowed(state)) == (least, following), word
    ended = GRAMMAR.after(state, VOCABULARY[END])
    assert GRAMMAR.least(ended) == 0 and allowed(ended) == {END}


def allowed(state, room=None):
    return {NAMES[token] for token in np.flatnonzero(GRAMMAR.allowed(state, room))}


def test_room_leaves_what_can_still_end():
    state = GRAMMAR.start()
    for word in ("answer", "("):
        state = GRAMMAR.after(state, VOCABULARY[word])
    assert allowed(state, 3) == {"all"}  # all ) and the end
    assert allowed(state, 6) == {"all", "state", "city", "both"}  # state ( all ) ) and the end
    assert allowed(state, 5) == {"all"}
    assert allowed(state, 2) == {"all", "state", "city", "both"}  # too late for any: none is never the answer


@pytest.mark.parametrize(
    "text",
    [
        "answer ( all",
        "answer ( all ) )",
        "answer ( state )",
        "state ( all )",
        "answer ( both ( all , ) )",
        "",
        "answer ( other )",
        "answer ( all , all )",
    ],
)
def test_malformed_formulas_are_rejected(text):
    assert not GRAMMAR.accepts([VOCABULARY[word] for word in text.split()])
    assert GRAMMAR.accepts(
        [
            VOCABULARY[word]
            for word in ["answer", "(", "both", "(", "all", ",", "city", "(", "all", ")", ",", "all", ")", ")"]
        ]
    )


def test_a_token_that_may_not_come_is_an_error():
    with pytest.raises(ValueError, match="may not come here"):
        GRAMMAR.after(GRAMMAR.start(), VOCABULARY["state"])


def test_what_is_allowed_is_worked_out_once_and_cannot_be_changed():
    first = GRAMMAR.allowed(GRAMMAR.start())
    assert GRAMMAR.allowed(GRAMMAR.start()) is first
    with pytest.raises(ValueError):
        first[0] = True


TARGET = Tokenizer.from_str(make([" ".join(WORDS)], "words", 100))


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("max_new_tokens", [6, 9, 25])
def test_a_search_generates_well_formed_texts_only(beam, max_new_tokens):
    """Whatever the model would rather write."""
    grammar, draw = read(to_bytes(RULES), TARGET), np.random.default_rng(max_new_tokens)
    subwords = TARGET.get_vocab_size()

    def step(tokens, parents, texts):
        return np.log(draw.dirichlet(np.full(subwords, 0.1), tokens.shape) + 1e-12)

    found = beam_search(step, 40, SearchSettings(beam, 1.0, max_new_tokens, grammar))
    texts = [TARGET.decode([int(one) for one in row[1:] if one >= 0]) for row in found]
    assert all(map(well_formed, texts)) and (len(set(texts)) > 1) == (max_new_tokens > 6)


def test_a_file_is_read_again_and_of_other_subwords_rejected():
    again = read(to_bytes(RULES), TARGET, "model")
    assert again.accepts(TARGET.encode("answer ( both ( all , all ) )").ids)
    other = Tokenizer.from_str(make(["answer ( state )"], "characters", 100))
    with pytest.raises(
        InputError, match=r"model.grammar\.json: '.+' is not one token of what is written .*data.split = 'words'"
    ):
        read(to_bytes(RULES), other, "model")


def predicted(**change):
    return {**json.loads(to_bytes(RULES)), **change}


DAMAGED = {
    "no JSON": b"{",
    "a list": b"[]",
    "another format": json.dumps(predicted(format=2)).encode(),
    "a key more": json.dumps(predicted(code="x")).encode(),
    "no rules": json.dumps(predicted(rules=[])).encode(),
    "rules that are none": json.dumps(predicted(rules=[[["a", "b"]]])).encode(),
    "a number first": json.dumps(predicted(rules=[[[[1], [END]]]])).encode(),
    "true for a rule": json.dumps(predicted(rules=[[[["all"], [True]]]])).encode(),
    "a rule that is not there": json.dumps(predicted(rules=[[[["all"], [7]]]])).encode(),
    "a rule below zero": json.dumps(predicted(rules=[[[["all"], [-1]]]])).encode(),
    "no alternatives": json.dumps(predicted(rules=[[]])).encode(),
    "two that begin alike": json.dumps(predicted(rules=[[[["all"], [END]], [["all"], [")", END]]]])).encode(),
    "never an end": json.dumps(predicted(rules=[[[["all"], [0]]]])).encode(),
    "an end too early": json.dumps(predicted(rules=[[[["all"], [END, "all"]]]])).encode(),
    "an end in the midst": json.dumps(predicted(rules=[[[["all"], [1, END]]], [[[END], []], [["("], []]]])).encode(),
    "two ends": json.dumps(predicted(rules=[[[["all"], [1, END]]], [[["("], [END]]]])).encode(),
    "text without an end": json.dumps(predicted(rules=[[[["all"], [")"]]]])).encode(),
    "an end for some alone": json.dumps(predicted(rules=[[[["all"], [END]], [["("], [")"]]]])).encode(),
    "an unknown symbol": json.dumps(predicted(rules=[[[["elsewhere"], [END]]]])).encode(),
    "a doubling without end": json.dumps(
        predicted(rules=[[[["all"], [n + 1, n + 1] if n < 60 else []]] for n in range(61)])
    ).encode(),
    "too many rules": json.dumps(predicted(rules=[[[["all"], [END]]]] * 5_000)).encode(),
    "half a file": to_bytes(RULES)[: len(to_bytes(RULES)) // 2],
    "not UTF-8": b"\xff\xfe" + to_bytes(RULES),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=list(DAMAGED))
def test_a_damaged_file_is_rejected_in_one_line(data):
    with pytest.raises(InputError) as rejected:
        read(data, TARGET, "model")
    assert (
        len(rejected.value.faults) == 1 and "grammar.json: " in str(rejected.value) and "\n" not in str(rejected.value)
    )


def by_trying(rules):
    """Fewest tokens of each rule, from those that are known to those that follow from them, until nothing changes."""
    nearest = [UNREACHABLE] * len(rules)
    for _ in range(len(rules) + 1):
        nearest = [
            min(
                min(UNREACHABLE, 1 + sum(nearest[one] if isinstance(one, int) else 1 for one in then))
                for _, then in rule
            )
            for rule in rules
        ]
    return nearest


@pytest.mark.parametrize("seed", range(30))
def test_how_near_the_end_is_equals_trying_all(seed):
    draw = random.Random(seed)
    count = draw.randint(1, 8)
    symbols = [*range(count), "a", "b"]
    rules = [
        [(["x"], draw.choices(symbols, k=draw.randint(0, 4))) for _ in range(draw.randint(1, 3))] for _ in range(count)
    ]
    assert nearest_ends(rules) == by_trying(rules)
