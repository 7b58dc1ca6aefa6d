"""Uploads of files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

from .client import Client
from .errors import AtriumError
from .http import Body
from .types import DirectPartsPartsItem, DirectUpload, File, FileCreate

OnProgress = Callable[[int, int], None]


class _CountingReader(BufferedReader):
    """A file that reports how many of its bytes have been read."""

    def __init__(self, path: Path, size: int, on_progress: OnProgress) -> None:
        super().__init__(open(path, "rb", buffering=0))
        self._sent = 0
        self._total = size
        self._on_progress = on_progress

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(size)
        if chunk:
            self._sent += len(chunk)
            self._on_progress(self._sent, self._total)
        return chunk


class _PartReader(BufferedReader):
    """A part of a file, which reports how many bytes of the file have been read."""

    def __init__(self, path: Path, start: int, size: int, report: Callable[[int], None]) -> None:
        super().__init__(open(path, "rb", buffering=0))
        self.seek(start)
        self._left = size
        self._report = report

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        chunk = super().read(wanted) if wanted > 0 else b""
        self._left -= len(chunk)
        if chunk:
            self._report(self._left)
        return chunk


_URLS_AT_ONCE = 10


def _put_part(client: Client, file_id: str, part: DirectPartsPartsItem, body: Body) -> None:
    """Sends a part. If its URL has expired, the part gets another one."""
    headers = {"content-length": str(part["sizeBytes"])}
    try:
        client.put(part["url"], body, "application/octet-stream", headers)
    except AtriumError as error:
        if error.status not in (403, 404):
            raise
        numbers = {"numbers": [part["number"]]}
        (again,) = client.call("POST /files/:id/upload/parts", params={"id": file_id}, body=numbers)["parts"]
        client.put(again["url"], body, "application/octet-stream", headers)


def _send_parts(
    client: Client, file_id: str, upload: DirectUpload, content: bytes | Path, size: int, on_progress: OnProgress | None
) -> None:
    """Sends the parts that have not arrived to the object store."""
    received = set(upload.get("receivedParts", []))
    missing = [number for number in range(1, upload["partCount"] + 1) if number not in received]
    for at in range(0, len(missing), _URLS_AT_ONCE):
        numbers = missing[at : at + _URLS_AT_ONCE]
        answer = client.call("POST /files/:id/upload/parts", params={"id": file_id}, body={"numbers": numbers})
        for part in answer["parts"]:
            start, length = part["startByte"], part["sizeBytes"]

            def report(left: int, end: int = start + length) -> None:
                if on_progress is not None:
                    on_progress(end - left, size)

            body: Body
            if isinstance(content, bytes):
                body = content[start : start + length]
            else:
                path = content
                body = lambda start=start, length=length, report=report: _PartReader(  # type: ignore[misc]  # noqa: E731
                    path, start, length, report
                )
            _put_part(client, file_id, part, body)


def _upload_directly(
    client: Client, file_id: str, upload: DirectUpload, content: bytes | Path, size: int, on_progress: OnProgress | None
) -> File:
    """Sends the bytes to the object store and returns the stored file when they are verified."""
    try:
        _send_parts(client, file_id, upload, content, size, on_progress)
    except AtriumError as error:
        # An earlier attempt with the same idempotency key has completed the upload.
        if error.code != "CONFLICT":
            raise
        if client.call("GET /files/:id/upload", params={"id": file_id})["state"] == "open":
            raise
    state = client.call("POST /files/:id/upload/complete", params={"id": file_id})
    delay = 0.2
    while state["state"] == "verifying":
        time.sleep(delay)
        delay = min(delay * 2, 5)
        state = client.call("GET /files/:id/upload", params={"id": file_id})
    if state["state"] != "ready":
        raise AtriumError(state["error"] or "The upload has failed.", "BAD_REQUEST")
    return client.call("GET /files/:id", params={"id": file_id})


def upload_file(
    client: Client,
    content: bytes | os.PathLike[str],
    *,
    name: str | None = None,
    mime_type: str = "application/octet-stream",
    parent_id: str | None = None,
    project_id: str | None = None,
    on_progress: OnProgress | None = None,
    idempotency_key: str | None = None,
) -> File:
    """Uploads a file: creates it, sends its bytes to the signed URL and returns the stored file.

    When the server offers direct uploads, the bytes are sent to its object store, and it returns when they are verified.
    content: bytes, or the path of a file, which is read as it is sent. At most 100 MB, or as many bytes as the server
    allows in direct uploads.
    name: 1–255 characters. Default: the name of the path.
    mime_type: one of the media types that can be stored.
    on_progress: called with the number of bytes sent and in total, for paths; from 0 again after a retry.
    idempotency_key: stores the file once in 24 hours, also when your program repeats the upload after a restart.
    Both requests are retried, and the file is stored once. When it fails for good, the server deletes the incomplete
    file after 24 hours.
    """
    body: Body
    if isinstance(content, bytes):
        size, body = len(content), content
    else:
        path = Path(content)
        size, name = path.stat().st_size, name or path.name
        if on_progress is None:
            body = lambda: open(path, "rb")  # noqa: E731
        else:
            report = on_progress
            body = lambda: _CountingReader(path, size, report)  # noqa: E731
    if not name:
        raise ValueError("name is missing: only a path has a name")
    create: FileCreate = {"name": name, "mimeType": mime_type, "size": size}
    if parent_id is not None:
        create["parentId"] = parent_id
    if project_id is not None:
        create["projectId"] = project_id
    created = client.call("POST /files", body=create, idempotency_key=idempotency_key)
    file, upload_url = created["file"], created.get("uploadUrl")
    upload = created.get("upload")
    if upload is not None:
        source = content if isinstance(content, bytes) else Path(content)
        return _upload_directly(client, file["id"], upload, source, size, on_progress)
    if upload_url is None:
        raise ValueError("the server returned no uploadUrl")
    try:
        stored: File = client.put(upload_url, body, mime_type, {"content-length": str(size)})["file"]
        return stored
    except AtriumError as error:
        # An earlier attempt stored the bytes, and its response was lost.
        if error.code != "CONFLICT":
            raise
        found = client.call("GET /files/:id", params={"id": file["id"]})
        if found is None or found["status"] != "ready":
            raise
        return found
