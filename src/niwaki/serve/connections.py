"""Connections of slow clients: headers that trickle in, and answers that nobody reads, end after a while.

uvicorn limits neither. Bodies have their limit in the gate.
"""

import asyncio

from uvicorn.protocols.http.auto import AutoHTTPProtocol


def patient_protocol(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol, which closes a connection on which nothing moved between two looks, `seconds` apart."""

    class Patient(AutoHTTPProtocol):  # type: ignore[misc,valid-type,unused-ignore]
        _seen: tuple[object, ...] = ()

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self.loop.call_later(seconds, self._look)

        def _look(self) -> None:
            if self.transport.is_closing():
                if self.transport.get_write_buffer_size():
                    self.transport.abort()
                return
            unread = self.transport.get_write_buffer_size()
            is_idle = self.cycle is None or self.cycle.response_complete
            waits_for_headers = is_idle and self.timeout_keep_alive_task is None
            state = (id(self.cycle), unread) if unread or waits_for_headers else ()
            if state and state == self._seen:
                self.transport.abort()
                return
            self._seen = state
            self.loop.call_later(seconds, self._look)

    return Patient
