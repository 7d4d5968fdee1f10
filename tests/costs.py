"""`--costs=N` ends a run with the processor seconds of every folder and of the N dearest files and tests.

Processor time of the process and of the children that it waited for, because wall time says little while two workers and
other programs share the cores. A process that a test forks from the server of `run/small.py` is not a child: the second
column, wall time, shows it.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from time import monotonic

import pytest

Cost = tuple[float, float]  # processor seconds, wall seconds
BUDGET_MINUTES = 8  # of wall time on two quiet cores, for all tests that are not slow (CONTRIBUTING.md)
_began: dict[str, Cost] = {}


def clock() -> Cost:
    """Processor time of this process and of its finished children, and the time on the wall."""
    return sum(os.times()[:4]), monotonic()


def by_file(costs: dict[str, Cost]) -> dict[str, Cost]:
    return added((node.partition("::")[0], cost) for node, cost in costs.items())


def by_folder(costs: dict[str, Cost]) -> dict[str, Cost]:
    """Folders directly below tests; files there count as their own folder."""
    return added(("/".join(file.split("/")[:2]), cost) for file, cost in by_file(costs).items())


def added(items: Iterable[tuple[str, Cost]]) -> dict[str, Cost]:
    """The sum for each name, dearest first."""
    sums: dict[str, Cost] = defaultdict(lambda: (0.0, 0.0))
    for name, (processor, wall) in items:
        sums[name] = sums[name][0] + processor, sums[name][1] + wall
    return dict(sorted(sums.items(), key=lambda item: -item[1][0]))


def table(costs: dict[str, Cost], dearest: int) -> Iterator[str]:
    """Lines of the summary: all folders, and the dearest files and tests."""
    total = added(("sum", cost) for cost in costs.values())
    tests = added(costs.items())
    for part, limit in ((total, 1), (by_folder(costs), len(costs)), (by_file(costs), dearest), (tests, dearest)):
        for name, (processor, wall) in list(part.items())[:limit]:
            yield f"{processor:8.1f} {wall:8.1f}  {name}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", type=int, metavar="N", help="processor seconds by folder and of the N dearest tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid: str) -> None:
    _began["now"] = clock()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Each phase of a test is charged with what was spent since the phase before ended."""
    report = yield
    began, _began["now"] = _began.get("now", clock()), clock()
    report.cost = tuple(after - before for before, after in zip(began, _began["now"], strict=True))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    dearest = config.getoption("costs")
    if dearest is None:
        return
    reports = [report for group in terminalreporter.stats.values() for report in group if hasattr(report, "cost")]
    costs = added((report.nodeid, tuple(report.cost)) for report in reports)
    terminalreporter.section("processor and wall seconds")
    for line in table(costs, dearest):
        terminalreporter.write_line(line)
