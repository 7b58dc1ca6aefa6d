"""The client: calls of all routes, with retries."""

from __future__ import annotations

import json
import re
import ssl
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from . import http
from .errors import AtriumError
from .http import Body, Response
from .retry import RetryLimits, retry_delay
from .types import IDEMPOTENT_ROUTES, Calls, Result

T = TypeVar("T")

_PREFIX = "/api/v1"
_IDEMPOTENT_METHODS = frozenset({"GET", "PUT", "DELETE"})
_OPTIONS = frozenset(
    {"params", "query", "body", "headers", "timeout", "idempotency_key", "if_match", "step_up_token"}
)


def _path_of(path: str, params: Mapping[str, str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        value = params.get(match[1], "")
        # HTTP clients and servers resolve dot segments, also encoded ones.
        if value in ("", ".", ".."):
            raise ValueError(f"params[{match[1]!r}] is {value!r}")
        return quote(value, safe="")

    return re.sub(r":(\w+)", value_of, path)


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _query_of(query: Mapping[str, object]) -> str:
    given = {name: _text_of(value) for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _data_of(response: Response) -> Any:
    with response:
        body = b"" if response.status == 204 else response.read()
    if body == b"":
        return None
    try:
        return json.loads(body)["data"]
    except (ValueError, KeyError, TypeError) as error:
        raise AtriumError(
            "The response is not JSON of Atrium. Check the URL of the server.",
            "INVALID_RESPONSE",
            response.status,
            request_id=response.headers.get("x-request-id"),
        ) from error


class Client(Calls):
    """A client of Atrium's HTTP API. Threads can share it.

    base_url: origin of the server, such as "https://atrium.example.com".
    api_key: the key of all calls.
    workspace_id: workspace of all calls. Default: that of the key, else the default workspace of the org.
    max_retries: attempts after the first one. Retried are rate-limited requests; and after connection errors, timeouts
        and 5xx responses, requests that are not executed twice: GET, PUT, DELETE, and POST with an idempotency key.
    max_retry_delay: seconds; a request is not retried when the server asks for a longer delay.
    timeout: limit of each wait for the network, in seconds; None: no limit. Sending a message waits up to 55 s.
    ssl_context: certificates to trust. Default: those of the system.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        workspace_id: str | None = None,
        max_retries: int = 2,
        max_retry_delay: float = 30.0,
        timeout: float | None = 90.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        http.origin_of(self._base_url)
        self._api_key = api_key
        self._workspace_id = workspace_id
        self._limits = RetryLimits(max_retries, max_retry_delay)
        self._timeout = timeout
        self._context = ssl_context

    def send(self, route: str, **sent: Any) -> Response:
        """Calls a route with the arguments of `call` and returns the response before its body, for streams and bytes."""
        return self._execute(route, sent, lambda response: response)

    def put(self, url: str, body: Body, content_type: str, headers: Mapping[str, str] | None = None) -> Any:
        """Sends bytes to a signed URL, such as `uploadUrl`, without credentials. Returns the data of the response."""

        def attempt() -> Any:
            sent = {"content-type": content_type, **(headers or {})}
            return _data_of(
                http.send("PUT", url, body, sent, timeout=self._timeout, context=self._context)
            )

        return self._retry(attempt, is_repeatable=True, has_key=False)

    def _request(self, route: str, sent: dict[str, Any]) -> Result[Any]:
        return self._execute(
            route, sent, lambda response: Result(_data_of(response), response.status, response.headers)
        )

    def _execute(self, route: str, sent: dict[str, Any], read: Callable[[Response], T]) -> T:
        unknown = sent.keys() - _OPTIONS
        if unknown:
            raise TypeError(f"unexpected arguments: {', '.join(sorted(unknown))}")
        method, path = route.split(" ")
        key = sent.get("idempotency_key")
        if key is None and route in IDEMPOTENT_ROUTES:
            key = uuid.uuid4().hex
        body = sent.get("body")
        raw, content_type = body if isinstance(body, tuple) else (None, "application/json")
        named: dict[str, str | None] = {
            "accept": "application/json",
            "authorization": None if self._api_key is None else f"Bearer {self._api_key}",
            "x-workspace-id": self._workspace_id,
            "content-type": None if body is None else content_type,
            "idempotency-key": key,
            "if-match": sent.get("if_match"),
            "x-step-up-token": sent.get("step_up_token"),
            **{name.lower(): value for name, value in (sent.get("headers") or {}).items()},
        }
        headers = {name: value for name, value in named.items() if value is not None}
        url = self._base_url + _PREFIX + _path_of(path, sent.get("params") or {}) + _query_of(sent.get("query") or {})
        content = raw if raw is not None or body is None else json.dumps(body).encode()
        timeout = self._timeout if sent.get("timeout") is None else sent["timeout"]

        def attempt() -> T:
            return read(http.send(method, url, content, headers, timeout=timeout, context=self._context))

        return self._retry(attempt, is_repeatable=method in _IDEMPOTENT_METHODS or key is not None, has_key=key is not None)

    def _retry(self, attempt: Callable[[], T], *, is_repeatable: bool, has_key: bool) -> T:
        failures = 0
        while True:
            try:
                return attempt()
            except AtriumError as error:
                delay = retry_delay(error, failures, self._limits, is_repeatable=is_repeatable, has_key=has_key)
                if delay is None:
                    raise
            failures += 1
            time.sleep(delay)
