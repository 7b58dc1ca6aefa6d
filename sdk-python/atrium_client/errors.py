"""The error of all calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast

from .types import ErrorCode


class AtriumError(Exception):
    """A failed request: the server rejected it, or there was no usable response.

    code: a stable code of the API; or NETWORK (the connection failed), TIMEOUT (no response within the limit) or
        INVALID_RESPONSE (a successful response that is not JSON of Atrium).
    status: HTTP status; 0 when there was no response.
    request_id: identifies the request in the server's log and in the audit log.
    retry_after: how long the server asks to wait before the next attempt, in seconds.
    """

    def __init__(
        self,
        message: str,
        code: ErrorCode,
        status: int = 0,
        *,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after

    def __repr__(self) -> str:
        return f"AtriumError(code={self.code!r}, status={self.status}, message={self.message!r})"


# Codes of responses that a proxy sends in place of the server.
_CODE_OF_STATUS: dict[int, ErrorCode] = {
    401: "UNAUTHORIZED",
    402: "PAYMENT_REQUIRED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    409: "CONFLICT",
    422: "VALIDATION_ERROR",
    429: "TOO_MANY_REQUESTS",
    502: "SERVICE_UNAVAILABLE",
    503: "SERVICE_UNAVAILABLE",
    504: "SERVICE_UNAVAILABLE",
}


def retry_after_of(header: str | None) -> float | None:
    """Seconds until the time of a Retry-After header: a number of seconds, or an HTTP date (RFC 9110, 10.2.3)."""
    if header is None:
        return None
    if header.isascii() and header.isdigit() and len(header) < 10:
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    # A date with the zone `-0000` has none for Python.
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> AtriumError:
    """The error of a response. One without the API's envelope, such as a proxy's error page, gets the code of its status."""
    code: ErrorCode = _CODE_OF_STATUS.get(status, "BAD_REQUEST" if status < 500 else "INTERNAL_ERROR")
    message = f"The server returned status {status}."
    try:
        error = json.loads(body)["error"]
        code, message = cast(ErrorCode, str(error["code"])), str(error["message"])
    except (ValueError, KeyError, TypeError):
        pass
    return AtriumError(
        message,
        code,
        status,
        request_id=headers.get("x-request-id"),
        retry_after=retry_after_of(headers.get("retry-after")),
    )
