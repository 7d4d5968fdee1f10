"""What `import niwaki` offers, one file per idea. The command line calls the same functions.

Heavy libraries are imported inside the functions that need them.
"""

from niwaki.api.ablation import sensitivity
from niwaki.api.aligning import align, word_vectors
from niwaki.api.benchmarking import bench
from niwaki.api.cascading import cascade
from niwaki.api.cloze_tasks import cloze
from niwaki.api.comparing import compare
from niwaki.api.compressing import compress
from niwaki.api.costs import cost
from niwaki.api.distilling import distill
from niwaki.api.evaluation import evaluate
from niwaki.api.exporting import export, pack, write_peft
from niwaki.api.heads import head_name, load_heads
from niwaki.api.loading import load, load_language_model
from niwaki.api.looking import look
from niwaki.api.merging import merge
from niwaki.api.neighbours import nearest
from niwaki.api.prediction import predict_file
from niwaki.api.probing import probe
from niwaki.api.searching import search
from niwaki.api.tokenizer_training import tokenizer
from niwaki.api.trimming import trim
from niwaki.engines.encoder_cache import EncoderCache
from niwaki.run.add_head import add_head
from niwaki.run.start import RUNS, check, run

__all__ = [
    "RUNS",
    "EncoderCache",
    "add_head",
    "align",
    "bench",
    "cascade",
    "check",
    "cloze",
    "compare",
    "compress",
    "cost",
    "distill",
    "evaluate",
    "export",
    "head_name",
    "load",
    "load_heads",
    "load_language_model",
    "look",
    "merge",
    "nearest",
    "pack",
    "predict_file",
    "probe",
    "run",
    "search",
    "sensitivity",
    "tokenizer",
    "trim",
    "word_vectors",
    "write_peft",
]
