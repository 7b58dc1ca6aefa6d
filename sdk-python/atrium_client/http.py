"""One HTTP request by the standard library."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from types import TracebackType
from typing import BinaryIO, TypeAlias
from urllib.parse import urljoin, urlsplit

from .errors import AtriumError, error_of

# Bytes, or a function that opens a file and is called for each attempt.
Body: TypeAlias = bytes | Callable[[], BinaryIO] | None

_MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Headers that may reach another origin.
_PUBLIC_HEADERS = frozenset({"accept", "range"})


class Response:
    """A successful response whose body has not been read. Close it, or use it in a `with` statement."""

    def __init__(self, raw: http.client.HTTPResponse, connection: http.client.HTTPConnection) -> None:
        self._raw = raw
        self._connection = connection
        self.status = raw.status
        # By lower-case names.
        self.headers = {name.lower(): value for name, value in raw.getheaders()}

    def read(self, size: int | None = None) -> bytes:
        """Reads the body, or up to `size` bytes of it. Raises an AtriumError when the connection is lost."""
        with mapped_errors():
            return self._raw.read() if size is None else self._raw.read(size)

    def lines(self) -> Iterator[bytes]:
        """The lines of the body with their ends, as they arrive. Raises an AtriumError when the connection is lost."""
        while True:
            with mapped_errors():
                line = self._raw.readline()
            if line == b"":
                return
            yield line

    def close(self) -> None:
        self._raw.close()
        self._connection.close()

    def __enter__(self) -> Response:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class mapped_errors:  # noqa: N801 -- a context manager, used like a function
    """Raises the errors of a connection as AtriumError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, TimeoutError):
            raise AtriumError("The server did not respond within the time limit.", "TIMEOUT") from error
        if isinstance(error, (OSError, http.client.HTTPException)):
            raise AtriumError("The server cannot be reached.", "NETWORK") from error


def origin_of(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of a URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.hostname is None:
        raise ValueError(f"not an HTTP URL: {url}")
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _connect(url: str, timeout: float | None, context: ssl.SSLContext | None) -> http.client.HTTPConnection:
    scheme, host, port = origin_of(url)
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=timeout)
    return http.client.HTTPSConnection(host, port, timeout=timeout, context=context or ssl.create_default_context())


def send(
    method: str,
    url: str,
    body: Body,
    headers: Mapping[str, str],
    *,
    timeout: float | None,
    context: ssl.SSLContext | None,
) -> Response:
    """Sends a request and returns the successful response. Raises an AtriumError for every other outcome.

    timeout: limit of each wait for the network, in seconds. None: no limit.
    Redirects of GET are followed. Another origin receives neither the API key nor the workspace or other headers.
    """
    sent = dict(headers)
    for _ in range(_MAX_REDIRECTS):
        connection = _connect(url, timeout, context)
        try:
            parts = urlsplit(url)
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            # An error of opening the file is none of the connection.
            with nullcontext(body) if body is None or isinstance(body, bytes) else body() as content, mapped_errors():
                # A server that rejects a body responds before it has read all of it, and closes the connection.
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, target, body=content, headers=sent)
                response = Response(connection.getresponse(), connection)
            if 200 <= response.status < 300:
                return response
            location = response.headers.get("location")
            if method != "GET" or response.status not in _REDIRECTS or location is None:
                raise error_of(response.status, response.headers, response.read())
        except BaseException:
            connection.close()
            raise
        response.close()
        following = urljoin(url, location)
        if origin_of(following) != origin_of(url):
            sent = {name: value for name, value in sent.items() if name in _PUBLIC_HEADERS}
        url = following
    raise AtriumError("The server redirects too often.", "INVALID_RESPONSE")
