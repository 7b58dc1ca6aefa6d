"""Which requests are attempted again, and when."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .errors import AtriumError


@dataclass(frozen=True)
class RetryLimits:
    """max_retries: attempts after the first one. max_delay: seconds; a request is not retried when the server asks for more."""

    max_retries: int
    max_delay: float


def backoff(failures: int, first: float = 0.25, longest: float = 8.0) -> float:
    """Seconds, exponential with jitter: between half of the delay and the whole, so that clients do not retry together."""
    return min(first * 2.0**failures, longest) * random.uniform(0.5, 1.0)


def is_temporary(error: AtriumError) -> bool:
    """Whether a later request may succeed."""
    return error.code in ("NETWORK", "TIMEOUT") or error.status >= 500 or error.status in (408, 429)


def _is_retryable(error: AtriumError, is_repeatable: bool, has_key: bool) -> bool:
    # Rate limits reject a request before it is executed; on some routes they are 400 with Retry-After.
    if error.status == 429 or (error.status == 400 and error.retry_after is not None):
        return True
    # The first request with the idempotency key is still running.
    if error.status == 409:
        return has_key and error.retry_after is not None
    return is_repeatable and is_temporary(error)


def retry_delay(
    error: AtriumError, failures: int, limits: RetryLimits, *, is_repeatable: bool, has_key: bool
) -> float | None:
    """Seconds until the next attempt; None when the request is not retried. `failures` counts from 0."""
    if failures >= limits.max_retries or not _is_retryable(error, is_repeatable, has_key):
        return None
    if error.retry_after is None:
        return min(backoff(failures), limits.max_delay)
    # The jitter is added: an earlier request would be rejected again.
    return None if error.retry_after > limits.max_delay else error.retry_after + backoff(0)
