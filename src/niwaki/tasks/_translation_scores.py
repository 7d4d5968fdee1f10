"""BLEU and chrF of a corpus from numbers of its rows, so that rows can be drawn again and again without a look at texts.

Both are sacreBLEU's (Post 2018), to the last digit: its tokenization, its n-grams, its formulas, through the same methods
that its own bootstrap uses. Scores are shares here, as all metrics of the project are: BLEU 38.37 is 0.3837.

Papers: Papineni et al. 2002 (BLEU), Popović 2015 (chrF), Post 2018 (sacreBLEU). Cost: some 2,000 rows a second.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

WORDS, CHARACTERS = 4, 6  # the longest n-grams
OF_BLEU = 2 + 2 * WORDS  # generated words, reference words; matching n-grams, generated n-grams
RIGHT = slice(2, 2 + WORDS)  # columns of BLEU's n-grams that are right
OF_CHRF = 3 * CHARACTERS  # generated, reference and matching n-grams of each length
NUMBERS = OF_BLEU + OF_CHRF


@cache
def metrics() -> tuple[BLEU, CHRF]:
    """As sacreBLEU has them without options: 13a, mixed case, exponential smoothing; characters up to 6, no words, β 2."""
    return BLEU(tokenize="13a", max_ngram_order=WORDS, force=True), CHRF(char_order=CHARACTERS)


def counts(generated: Sequence[str], gold: Sequence[str]) -> np.ndarray:
    """(rows, NUMBERS): what both scores are made of, of each row; one reference each."""
    if len(generated) != len(gold):
        raise ValueError(f"{len(generated)} texts for {len(gold)} references")
    if not gold:
        return np.zeros((0, NUMBERS), dtype=np.int64)
    found = [metric._extract_corpus_statistics(generated, [gold]) for metric in metrics()]
    return np.hstack([np.array(one, dtype=np.int64) for one in found])


def bleu(summed: np.ndarray) -> float:
    """From the sum over the rows."""
    words_generated, words_gold, *grams = map(int, summed[:OF_BLEU])
    found = BLEU.compute_bleu(grams[:WORDS], grams[WORDS:], words_generated, words_gold, smooth_method="exp")
    return float(found.score / 100)


def chrf(summed: np.ndarray) -> float:
    """From the sum over the rows."""
    return float(metrics()[1]._compute_f_score([int(number) for number in summed[OF_BLEU:NUMBERS]]) / 100)


def signature() -> str:
    """What others need to know to compare: as sacreBLEU prints it."""
    generated = []
    for metric in metrics():
        metric.num_refs = 1
        generated.append(f"{'chrF2' if metric is metrics()[1] else 'BLEU'} {metric.get_signature()}")
    return ", ".join(generated)
