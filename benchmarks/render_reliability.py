"""Fills the table of docs/reliability.md from the records in results/*.jsonl; `make results` calls it. No figure is typed in."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import records
import render_recommendations

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
MARKED = re.compile(r"(<!-- figures:begin -->\n).*?(<!-- figures:end -->)", re.DOTALL)
HEAD = ["| promise | command | figure | date, commit |", "|---|---|---|---|"]
CRASHES = {"recipe": "recipe", "blueprint": "blueprint", "config": "config", "predict": "text to predict"}
Record = dict[str, Any]


def main() -> None:
    lines = [*HEAD, *(line(*row) for row in ROWS)]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARKED.sub(lambda found: f"{found[1]}{chr(10).join(lines)}\n{found[2]}", text), encoding="utf-8")


def line(promise: str, command: str, name: str, wanted: Callable[[Record], bool], say: Callable[[Record], str]) -> str:
    found = [record for record in records.read(name) if wanted(record)]
    if not found:
        return f"| {promise} | `{command}` | not measured yet | |"
    newest = found[-1]
    return f"| {promise} | `{command}` | {say(newest)} | {newest['time'][:10]}, {newest['commit']} |"


def kills(record: Record) -> str:
    where = ", ".join(f"{count} {place}" for place, count in sorted(record["places"].items()))
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in record["outcomes"].items())
    return (
        f"{record['kills']} kills in {record['runs']} runs ({where}): {len(record['differing'])} files differ, {record['repeated_stages']} finished stages made "
        f"again, {len(record['ledger'])} faults in ledgers of {record['attempts']} attempts ({outcomes})"
    )


def endings(tally: dict[str, int]) -> str:
    """How many corruptions ended in each way, from counts by place, kind and ending."""
    ends = Counter()
    for key, count in tally.items():
        ends[key.rpartition(" ")[2]] += count
    return ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))


def read_by_verbs(record: Record) -> str:
    read, hit = record["read"], Counter()
    for key, count in record["read"]["tally"].items():
        hit[key.partition(", ")[0]] += count
    where = ", ".join(f"{kind} {count}" for kind, count in hit.items())
    return (
        f"{read['corruptions']} corruptions ({where}) read by load, predict, eval and report: {endings(read['tally']).replace('silent', 'silently changed')}; "
        f"{len(read['silent'])} silent changes"
    )


def corruptions(record: Record) -> str:
    return (
        f"{record['corruptions']} corruptions: {endings(record['tally'])}; {record['false_alarms']} false alarms in {record['clean_loads']} clean loads; {record['whole_runs']} runs with "
        f"{record['damaged_at_once']} damaged files each ended with {len(record['differing'])} differences"
    )


def faults(record: Record) -> str:
    tried = sum(sum(ends.values()) for ends in record["ends"].values())
    failed = sum(ends["failed"] for ends in record["ends"].values())
    disk = record["full_disk"]
    return (
        f"{tried} faults ({', '.join(record['errors'])}), {failed} ended the save: {len(record['wrong'])} times something was lost or said wrongly; "
        f"a disk filled up {disk['filled']} times in a run: exit codes {disk['exit_codes']}, {len(disk['differing'])} differences after going on"
    )


def fuzz(record: Record) -> str:
    return (
        f"{record['executions']:,} inputs in {record['cpu_minutes']:.1f} min of the processor ({record['minutes']:.0f} min), {record['first_edges']} to {record['edges']} "
        f"edges: {len(record['findings'])} findings, slowest {record['slowest_cpu_seconds']:.2f} s"
    )


def hostile(record: Record) -> str:
    """Time and memory beyond those of the same verb on sound files; in brackets of the whole process."""
    refused = record["files"] - len(record["not_as_promised"])
    return (
        f"{refused} of {record['files']} files in {record['families']} families refused in one line with exit code 3, at most {record['most_seconds']:.2f} s and "
        f"{record['most_megabytes']:.0f} MB more than sound files take (whole processes {record['most_whole_seconds']:.1f} s, {record['most_whole_megabytes']:.0f} MB; "
        f"asked: {record['asked_seconds']:.0f} s, {record['asked_megabytes']} MB); {record['made']} made a file, process or socket"
    )


def rejections(record: Record) -> str:
    return (
        f"{record['as_promised']} of {record['attempts']} processes ({len(record['cases'])} cases, files of {record['unpacked_megabytes']:.0f} MB before gzip) ended with exit "
        f"code 3 and one line, {record['signals']} cases by a signal, slowest {record['most_seconds']:.1f} s"
    )


def saving(record: Record) -> str:
    shares = {
        what: [value / (record["default_seconds"] + value) for value in record[what]["each"]]
        for what in ("processor", "clock")
    }
    told = {
        what: f"{record[what]['share']:.1%} ({min(found):.1%} to {max(found):.1%})" for what, found in shares.items()
    }
    others = f"; others took {record['others']:.0%} of the machine meanwhile" if record["others"] > 0.1 else ""
    return (
        f"one save of {record['state_bytes'] / 1e6:.0f} MB in {record['default_seconds']:.0f} s, {record['saves']} tried: {told['processor']} by the processor's time, "
        f"{told['clock']} by the clock (asked: under {record['asked']:.0%}){others}"
    )


def native_shapes(record: Record) -> str:
    skipped = f" ({', '.join(record['not_run_here'])} do not run here)" if record["not_run_here"] else ""
    return (
        f"{record['shapes']:,} random shapes × {record['histories']} call histories × {len(record['kernels'])} sets of kernels{skipped}: {len(record['faults'])} faults in "
        f"{record['calls']:,} calls; {1 - record['far_share']:.2%} of texts within {record['near']:g} of torch, the farthest {record['farthest']:.2g} of the largest logit"
    )


def verifying(record: Record) -> str:
    sizes = ", ".join(
        f"{one['megabytes']} MB in {one['seconds'] * 1000:.0f} ms ({one['low'] * 1000:.0f} to {one['high'] * 1000:.0f})"
        for one in record["sizes"]
    )
    load = record["load"]
    return f"{sizes}; loading MiniLM ({load['megabytes']:.0f} MB) in ONNX Runtime: {load['verified']:.2f} s, {load['unverified']:.2f} s without"


def recommendations(record: Record) -> str:
    return render_recommendations.promise(records.read("recommendations"))


def any_record(record: Record) -> bool:
    return True


ROWS = (
    (
        "kill -9 anywhere changes nothing",
        "python benchmarks/kills.py",
        "kills",
        lambda record: "places" in record,
        kills,
    ),
    (
        "reading a damaged run or model never changes an answer silently",
        "python benchmarks/corruptions.py",
        "corruptions",
        lambda record: "read" in record,
        read_by_verbs,
    ),
    ("`niwaki run` goes on from damage", "python benchmarks/corruptions.py", "corruptions", any_record, corruptions),
    ("a failing disk loses nothing saved", "python benchmarks/faults.py", "faults", any_record, faults),
    ("a hostile file is refused", "python benchmarks/untrusted_files.py", "hostile", any_record, hostile),
    ("a large bad data file is rejected", "python benchmarks/rejections.py", "rejections", any_record, rejections),
    *(
        (
            f"no {CRASHES[target]} crashes it",
            f"python benchmarks/fuzz.py {target} --minutes 15",
            "fuzz",
            lambda record, target=target: record["target"] == target and record["cpu_minutes"] >= 15,
            fuzz,
        )
        for target in CRASHES
    ),
    (
        "the native engine's answer depends on the text alone",
        "python benchmarks/native_shapes.py",
        "native_shapes",
        lambda record: record["shapes"] >= 1000,
        native_shapes,
    ),
    (
        "the recommended model is the right one",
        "python benchmarks/recommendations.py QUESTIONS",
        "recommendations",
        any_record,
        recommendations,
    ),
    ("saving is cheap", "python benchmarks/saving.py", "saving", any_record, saving),
    (
        "verifying a model when it is loaded is cheap",
        "python benchmarks/verifying.py",
        "verifying",
        any_record,
        verifying,
    ),
)

if __name__ == "__main__":
    main()
