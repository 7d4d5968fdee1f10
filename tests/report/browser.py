"""Chromium over its DevTools pipe: opens a page, sets width and theme, evaluates script, prints. Standard library only."""

import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--hide-scrollbars"),
]


def program(*names: str) -> str:
    """The path of an installed program; the test fails with what to install."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail(f"{names[0]} is not installed; the browser tests need chromium and poppler-utils (CONTRIBUTING.md)")
    return found


def _start(command: list[str], commands: int, answers: int) -> int:
    """The process, which reads commands from descriptor 3 and answers on 4, as the protocol has it."""
    moves = [(os.POSIX_SPAWN_DUP2, commands, 3), (os.POSIX_SPAWN_DUP2, answers, 4)]
    silent = [(os.POSIX_SPAWN_OPEN, end, os.devnull, os.O_RDWR, 0) for end in (0, 1, 2)]
    return os.posix_spawn(command[0], command, os.environ, file_actions=[*silent, *moves])


class Browser:
    """One tab. `call` is a method of the DevTools protocol; events in between are passed over."""

    def __init__(self, profile: Path) -> None:
        read_in, write_in = os.pipe()
        read_out, write_out = os.pipe()
        command = [program(*PROGRAMS), *QUIET, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self.process = _start(command, read_in, write_out)
        os.close(read_in)
        os.close(write_out)
        self.commands, self.answers = os.fdopen(write_in, "wb"), os.fdopen(read_out, "rb")
        self.number, self.session, self.rest = 0, "", b""
        pages = [target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def close(self) -> None:
        self.session = ""
        self.call("Browser.close")
        os.waitpid(self.process, 0)
        self.commands.close()
        self.answers.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        self.commands.write(
            json.dumps({**message, **({"sessionId": self.session} if self.session else {})}).encode() + b"\0"
        )
        self.commands.flush()
        while (answer := self._next()).get("id") != self.number:
            pass
        assert "error" not in answer, answer
        return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            got = os.read(self.answers.fileno(), 1 << 16)
            assert got, "chromium ended"
            self.rest += got
        answer, self.rest = self.rest.split(b"\0", 1)
        return dict(json.loads(answer))

    def open(self, page: Path) -> None:
        self.call("Page.navigate", url=page.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def show(self, width: int, height: int, theme: str = "light", media: str = "screen") -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def evaluate(self, script: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def print(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))
