"""Server-sent events (section 9.2 of the HTML standard), for servers that end lines with LF or CR LF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ServerSentEvent:
    """id: None without one. retry: how long the server asks to wait before the next connection, in seconds."""

    id: str | None
    name: str
    data: str
    retry: float | None


def read_server_sent_events(lines: Iterable[bytes]) -> Iterator[ServerSentEvent]:
    """Parses events until the lines end. An event without its empty line at the end is dropped."""
    event_id: str | None = None
    name = ""
    retry: float | None = None
    data: list[str] = []
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line == "":
            if data:
                yield ServerSentEvent(event_id, name or "message", "\n".join(data), retry)
            event_id, name, data = None, "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            event_id = value
        elif field == "retry" and value.isascii() and value.isdigit() and len(value) < 10:
            retry = int(value) / 1_000
