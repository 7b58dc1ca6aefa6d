"""Streams of events and turns, which reconnect without a gap and without a repetition."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .client import Client
from .errors import AtriumError
from .http import Response
from .retry import backoff, is_temporary
from .sse import ServerSentEvent, read_server_sent_events
from .types import Event, Turn, TurnCreate

# The server sends a comment every 15 s.
_SILENCE = 45.0


def _reconnecting(connect: Callable[[], Response | None]) -> Iterator[ServerSentEvent]:
    """The events of one connection after another, until `connect` returns None.

    Raises when the first connection fails, and errors that are not temporary; otherwise it reconnects without a limit.
    """
    is_connected = False
    failures = 0
    while True:
        asked = 0.0
        try:
            response = connect()
            if response is None:
                return
            is_connected = True
            with response:
                for event in read_server_sent_events(response.lines()):
                    failures = 0
                    asked = event.retry or 0.0
                    yield event
        except AtriumError as error:
            if not is_connected or not is_temporary(error):
                raise
            asked = error.retry_after or 0.0
        time.sleep(max(asked, backoff(failures, 0.5, 30.0)))
        failures += 1


def stream_events(
    client: Client,
    *,
    types: Sequence[str] = (),
    after: int | str | None = None,
    silence: float = _SILENCE,
    on_open: Callable[[int, bool], None] | None = None,
) -> Iterator[Event]:
    """The events of the org as they happen.

    types: such as ["agent.*"], at most 50. Default: all.
    after: continue after this position, such as that of the last event that you processed. 0: the first event that is
        kept. Default: now.
    silence: seconds without a byte after which a connection is considered lost.
    on_open: called with the position at which a connection begins, and whether that is not where the last one ended:
        the log has been restored from a backup.
    Raises an AtriumError when the caller loses access.
    """
    position = None if after is None else str(after)

    def connect() -> Response:
        headers = {"accept": "text/event-stream"}
        if position is not None:
            headers["last-event-id"] = position
        query = {"types": ",".join(types) or None}
        return client.send("GET /events/stream", query=query, headers=headers, timeout=silence)

    for event in _reconnecting(connect):
        # `end`: the server stops. `error`: the caller lost access, and the next connection fails with the reason.
        if event.id is None:
            continue
        is_gap = position is not None and position != event.id
        position = event.id
        if event.name == "open":
            if on_open is not None:
                on_open(int(event.id), is_gap)
        elif event.name == "message":
            yield json.loads(event.data)


@dataclass(frozen=True)
class TurnEvent:
    """A part of a turn's stream: a part of the AI SDK's UI message stream, version 1.

    number: number of the part in the turn, from 1. `stream_turn` with `after` continues behind it.
    part: its `type` is `text-delta`, `tool-input-available`, `finish` and others; ignore types that you do not know.
    """

    turn_id: str
    number: int
    part: dict[str, Any]


def _read_turn(connect: Callable[[int], Response], after: int) -> Iterator[tuple[int, dict[str, Any]]]:
    number = after

    def connect_next() -> Response | None:
        response = connect(number)
        if response.status != 204:
            return response
        response.close()
        return None

    for event in _reconnecting(connect_next):
        if event.data == "[DONE]":
            return
        # Without an ID: the caller lost access, and the next connection fails with the reason.
        if event.id is None:
            continue
        number = int(event.id)
        yield number, json.loads(event.data)


def _connect_to(client: Client, turn_id: str, after: int, silence: float) -> Response:
    headers = {"accept": "text/event-stream"}
    return client.send(
        "GET /turns/:id/stream", params={"id": turn_id}, query={"after": after}, headers=headers, timeout=silence
    )


def stream_turn(client: Client, turn_id: str, *, after: int = 0, silence: float = _SILENCE) -> Iterator[TurnEvent]:
    """The stream of a turn. Ends when the turn ends or waits for an action: `finish` has the status."""
    for number, part in _read_turn(lambda number: _connect_to(client, turn_id, number, silence), after):
        yield TurnEvent(turn_id, number, part)


def stream_reply(
    client: Client,
    session_id: str,
    message: TurnCreate,
    *,
    idempotency_key: str | None = None,
    silence: float = _SILENCE,
) -> Iterator[TurnEvent]:
    """Sends a message to a session and returns the stream of its turn.

    The message is sent once, although a lost request is repeated. The turn goes on when the iteration stops.
    """
    key = idempotency_key or uuid.uuid4().hex
    turn_id: str | None = None

    def connect(number: int) -> Response:
        nonlocal turn_id
        if turn_id is None:
            response = client.send(
                "POST /sessions/:id/messages",
                params={"id": session_id},
                body=message,
                idempotency_key=key,
                headers={"accept": "text/event-stream"},
                timeout=silence,
            )
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                return response
            # The message was sent before, and the connection was lost: the response to a repeated request is the turn.
            with response:
                turn_id = json.loads(response.read())["data"]["turn"]["id"]
        assert turn_id is not None
        return _connect_to(client, turn_id, number, silence)

    for number, part in _read_turn(connect, 0):
        if part["type"] == "start":
            turn_id = part["messageMetadata"]["turnId"]
        if turn_id is not None:
            yield TurnEvent(turn_id, number, part)


def wait_for_turn(client: Client, turn_id: str, *, timeout: float | None = None) -> Turn:
    """Waits until a turn has ended or waits for an action (`requires_action`), and returns it.

    timeout: seconds; then an AtriumError with the code TIMEOUT is raised, and the turn continues. None: no limit.
    A failed turn does not raise: see `status` and `error`.
    """
    ends_at = None if timeout is None else time.monotonic() + timeout
    pause = 0.25
    while True:
        turn = client.call("GET /turns/:id", params={"id": turn_id})
        if turn["status"] not in ("queued", "running"):
            return turn
        left = None if ends_at is None else ends_at - time.monotonic()
        if left is not None and left <= 0:
            raise AtriumError(f"The turn did not end within {timeout} s.", "TIMEOUT")
        time.sleep(pause if left is None else min(pause, left))
        pause = min(pause * 1.5, 3.0)


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, without reasoning, tool calls and files."""
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")
