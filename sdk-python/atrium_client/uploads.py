"""Uploads of files."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

from .client import Client
from .errors import AtriumError
from .http import Body
from .types import File, FileCreate

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

    content: bytes, or the path of a file, which is read as it is sent. At most 100 MB.
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
