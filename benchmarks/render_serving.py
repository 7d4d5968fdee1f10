"""Renders the page on the HTTP server under load."""

import records
from results_page import Page, Record, Records, Section

HEAD = "| offered load | requests/s | answered (200) | rejected (429) | others | goodput/s | p50, ms | p95, ms | p99, ms |\n|---|---|---|---|---|---|---|---|---|"


def serving(rows: Records) -> str:
    row = rows[-1]
    memory = " to ".join(f"{value / 1e6:.0f}" for value in row["memory_bytes"])
    seconds, threads = row["seconds"], row["threads"]
    return "\n".join(
        [
            "Command: `python benchmarks/serve.py SECONDS THREADS`. MiniLM-L6 in 8 bits in the native engine answers movie reviews. Requests arrive at a constant rate, whatever the server does, and latency counts from "
            f"the moment at which a request was due; {seconds:.0f} s for each rate, {threads} thread{'s' * (threads > 1)} for the model. The capacity, {row['capacity']:.0f} requests/s, is the rate that closed-loop clients reached. Client and "
            f"server shared two cores (load average {row['load_average']:.0f} at the end), so the figures show behaviour under overload, not the speed of a quiet machine.",
            "",
            HEAD,
            *(line(load) for load in row["loads"]),
            "",
            f"Memory of the server: {memory} MB from the first load to the last, and {row['worker_memory_bytes'] / 1e6:.0f} MB of the worker. After a killed worker, the next answer came after "
            f"{row['restart_seconds']:.1f} s. Energy: {row['joules_per_text']:.4f} J per text (estimated).",
        ]
    )


def line(load: Record) -> str:
    statuses = dict(load["statuses"])
    answered, rejected = statuses.pop("200", 0), statuses.pop("429", 0)
    latency = [f"{load['latency_ms'][name]:.0f}" if load["latency_ms"] else "" for name in ("p50", "p95", "p99")]
    cells = [
        f"{load['factor']}×",
        f"{load['rate']:.0f}",
        f"{answered:,}",
        f"{rejected:,}",
        f"{sum(statuses.values()):,}",
        f"{load['goodput']:.0f}",
        *latency,
    ]
    return f"| {' | '.join(cells)} |"


def headline() -> str:
    loads = records.read("serve")[-1]["loads"]
    others = sum(count for load in loads for status, count in load["statuses"].items() if status not in ("200", "429"))
    goodput = [load["goodput"] for load in loads]
    return (
        f"At {loads[-1]['factor']} times its capacity, the server answers {100 * goodput[-1] / max(goodput):.0f}% of the requests/s of its best rate and rejects the rest with 429; "
        f"{others} requests ended otherwise."
    )


PAGE = Page(
    "serving",
    "Serving",
    "Speed",
    headline,
    (Section("serve", "Open-loop load", serving),),
)
