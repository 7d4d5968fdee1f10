"""Renders the page on packed models and ARM kernels."""

from statistics import median
from typing import Any

import records
from results_page import Page, Section

Record = dict[str, Any]
PRODUCERS = {"neon": "`neon`", "neon_dot": "`neon_dot`", "neon_i8mm": "`neon_i8mm`", "plain": "`plain` (compiled C)"}


def body(rows: list[Record]) -> str:
    row = rows[-1]
    return "\n\n".join(
        [
            f"Command: `python benchmarks/portable.py FOLDER`, with an int8 student of {row['weights_bytes'] / 1e6:.1f} MB. Its packed file has {row['packed_bytes'] / 1e6:.1f} MB, the wheel of "
            f"`niwaki-predict` {row['wheel_bytes'] / 1e6:.2f} MB. The load average was {row['load']:.1f} when the run ended: other jobs ran on this machine.",
            "### From the start of a process to its end, with one answer",
            table(
                ("program", "median ms", "slowest ms"),
                [(name, f"{median(found):.0f}", f"{max(found):.0f}") for name, found in row["start_ms"].items()],
            ),
            "### Single requests, text to answer, one thread",
            table(
                ("neighbours", "p50 ms", "p99 ms", "ratio"),
                [
                    (name, f"{found['p50']:.2f}", f"{found['p99']:.2f}", f"{found['p99'] / found['p50']:.1f}")
                    for name, found in row["latency_ms"].items()
                ],
            ),
            *(
                [
                    "### Instructions of the ARM kernels",
                    ARM,
                    table(("kernels", "instructions", "products of bytes", "for each instruction"), arm(row["arm"])),
                ]
                if row["arm"]
                else []
            ),
        ]
    )


ARM = (
    "The loop of the product of bytes that does most for each instruction, as GCC compiles it. Instructions were counted in the compiled code, not measured: no ARM processor was at hand. "
    "Loops of plain C that GCC did not turn into multiplications of bytes are counted by their single multiplications."
)


def arm(loops: dict[str, Record]) -> list[tuple[str, ...]]:
    return [
        (
            PRODUCERS[name],
            f"{loop['instructions']}",
            f"{loop['products']}",
            f"{loop['products'] / loop['instructions']:.2f}",
        )
        for name, loop in loops.items()
        if loop
    ]


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def headline() -> str:
    row = records.read("portable")[-1]
    start = {name: median(found) for name, found in row["start_ms"].items()}
    return (
        f"A packed student of {row['packed_bytes'] / 1e6:.0f} MB answers {start['C program']:.0f} ms after its process starts in C and {start['niwaki-predict']:.0f} ms in Python; "
        f"`niwaki predict` takes {start['niwaki predict']:.0f} ms."
    )


PAGE = Page(
    "portable", "Packed models and ARM", "Speed", headline, (Section("portable", "Start-up, size, latency", body),)
)
