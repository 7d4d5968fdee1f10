"""Regular expressions of a tokenizer: which are well known, and which are accepted.

The engine behind them backtracks, so the time of a pattern is only known by running it. Published patterns are listed here
and cost nothing. Other patterns are tried out on texts that make backtracking engines slow, within one second of processor time
for all patterns of a file (`pattern_probe.py`), and a model that has one is tokenized under a time limit from then on (`tokenizing.py`).
"""

import re

LONGEST, MAX_REPEATS = 1000, 1000
COUNTED = re.compile(r"(?<!\\)\{(\d*),?(\d*)\}")
REFERENCES = re.compile(r"\\(?:[1-9]|k[<'{]|g[<'{])|\(\?(?:R|P>|P=|&|\d|\(|\{|C)")
CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
WORD, SPACES = r" ?[^\s\p{L}\p{N}]+", r"\s*[\r\n]+|\s+(?!\S)|\s+"
PUBLISHED = {
    " {2,}": "ALBERT, T5, XLM-R",
    r"\s+": "CLIP",
    rf"{CONTRACTIONS}| ?\p{{L}}+| ?\p{{N}}+|{WORD}|\s+(?!\S)|\s+": "GPT-2, RoBERTa",
    rf"{CONTRACTIONS}|[\p{{L}}]+|[\p{{N}}]|[^\s\p{{L}}\p{{N}}]+": "CLIP",
    rf"(?i:{CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{WORD}[\r\n]*|{SPACES}": "GPT-4, Llama 3",
    rf"(?i:{CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{WORD}[\r\n]*|{SPACES}": "Qwen 2",
    r" ?[^(\s|[.,!?…。，、।۔،])]+": "BLOOM",
    "[0-9][0-9][0-9]": "Falcon",
    r"\p{N}{1,3}": "DeepSeek",
    r"\[(?=(?:PAD|BOS|EOS|UNK)\])": "niwaki tokenizer",
    r"\[(?=(?:PAD|BOS|EOS|UNK)\])|#(?=#)": "niwaki tokenizer",
}


def is_published(pattern: str) -> bool:
    return pattern in PUBLISHED


def fault_in_pattern(pattern: str) -> str | None:
    """Why the pattern is rejected before it is tried out, or None: these limit what the engine builds, not how long it runs."""
    if len(pattern) > LONGEST:
        return f"has more than {LONGEST} characters"
    if REFERENCES.search(pattern):
        return "refers back to its own groups, which no tokenizer needs"
    if any(int(number) > MAX_REPEATS for counts in COUNTED.findall(pattern) for number in counts if number):
        return f"repeats more than {MAX_REPEATS} times"
    return None
