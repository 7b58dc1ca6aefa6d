"""Signatures of deliveries to event endpoints and of events that webhooks forward (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from .types import AtriumEvent

_PREFIX = "whsec_"
# Beyond any sender's number of secrets; without a limit, a long header would cost time.
_MAX_SIGNATURES = 16


class WebhookVerificationError(Exception):
    """The signature is missing, malformed, stale or wrong. Respond with 400 or 401, and do not process the request."""


@dataclass(frozen=True)
class VerifiedWebhook:
    """id: ID of the event, the same on every attempt. timestamp: when it was signed, in seconds since 1970."""

    id: str
    timestamp: int


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


def _key_of(secret: str) -> bytes:
    """The bytes behind `whsec_` if they are 24–64, otherwise the bytes of the text."""
    key = _from_base64(secret.removeprefix(_PREFIX)) if secret.startswith(_PREFIX) else None
    return key if key is not None and 24 <= len(key) <= 64 else secret.encode()


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: int = 300,
    now: float | None = None,
) -> VerifiedWebhook:
    """Verifies the signature of a request. Raises a WebhookVerificationError.

    body: as it was received. JSON that was parsed and serialized again has another signature.
    secrets: pass the old and the new secret while you rotate it; one signature of one secret is enough.
    tolerance: how far `webhook-timestamp` may be from now, in seconds.
    now: replaces the clock, in seconds since 1970.
    """
    given = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not given.get(name):
            raise WebhookVerificationError(f"The header {name} is missing.")
    event_id, stamp = given["webhook-id"], given["webhook-timestamp"]
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 11):
        raise WebhookVerificationError("The header webhook-timestamp is not in seconds since 1970.")
    accepted = [secret for secret in ([secrets] if isinstance(secrets, str) else secrets) if secret]
    if not accepted:
        raise ValueError("secrets is empty")
    age = round((time.time() if now is None else now) - int(stamp))
    if abs(age) > tolerance:
        raise WebhookVerificationError(f"The request is {age} s old; the limit is {tolerance} s.")
    content = f"{event_id}.{stamp}.".encode() + (body.encode() if isinstance(body, str) else body)
    signatures = [
        decoded
        for one in given["webhook-signature"].split(" ")[:_MAX_SIGNATURES]
        if one.startswith("v1,") and (decoded := _from_base64(one[3:])) is not None
    ]
    expected = [hmac.digest(_key_of(secret), content, hashlib.sha256) for secret in accepted]
    if not any(hmac.compare_digest(one, other) for one in expected for other in signatures):
        raise WebhookVerificationError(
            "The signature does not match: the secret is another one, or the body was changed."
        )
    return VerifiedWebhook(event_id, int(stamp))


def verify_event(
    body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: int = 300,
    now: float | None = None,
) -> AtriumEvent:
    """Verifies a delivery to an event endpoint and returns its event; `type` tells the fields of `data`.

    Not for endpoints with a transform, whose body is its result: use `verify_webhook`.
    """
    verify_webhook(body, headers, secrets, tolerance=tolerance, now=now)
    return cast(AtriumEvent, json.loads(body))
