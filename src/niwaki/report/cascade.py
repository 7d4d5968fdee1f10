"""The cascade of a run: what it keeps and gains, and whether `niwaki.load` opens it instead of a stage.

It is used if the validation rows showed that it keeps the share, and if it is faster than its last model alone.
"""

from niwaki.core.json_types import Json
from niwaki.report import formatting
from niwaki.report.run_files import mapping, number


def cascade(document: Json) -> Json:
    """The facts of cascade.json, with a sentence for people."""
    listed = document.get("stages")
    stages = [str(name) for name in listed] if isinstance(listed, list) and listed else ["unknown"]
    test, ratio = mapping(document.get("test")), mapping(mapping(document.get("speed")).get("cascade"))
    faster = number(mapping(ratio.get("ratio")).get("value"))
    found = {
        "stages": stages,
        "keep": number(document.get("keep")),
        "level": number(document.get("level")),
        "score": number(test.get("score")),
        "kept": number(test.get("kept")),
        "faster": faster,
        "faster_low": number(mapping(ratio.get("ratio")).get("low")),
        "faster_high": number(mapping(ratio.get("ratio")).get("high")),
        "missed": None if document.get("missed") is None else str(document["missed"]),
    }
    found["used"] = found["missed"] is None and faster is not None and faster > 1
    return {**found, "sentence": _sentence(found)}


def _sentence(found: Json) -> str:
    last = found["stages"][-1]
    if found["missed"] is not None:
        return f"There is no cascade: {found['missed']}."
    named = f"The cascade of {' and '.join(found['stages'])}"
    kept = "" if found["kept"] is None else f" keeps {formatting.share(found['kept'])} of the test score of {last} and"
    if found["faster"] is None:
        return f"{named}{kept} was not timed, so niwaki.load opens the stage."
    ends = formatting.ratio_range(found["faster_low"], found["faster_high"])
    speed = f"{kept} runs at {formatting.ratio(found['faster'])}{f' ({ends})' if ends else ''} its speed"
    if found["used"]:
        return f"{named}{speed}; niwaki.load opens it, and niwaki.load(run, stage=...) a single stage."
    return f"{named}{speed}, so it saves no time and niwaki.load opens the stage; see docs/cascade.md."
