"""The client of Atrium's HTTP API. It needs the standard library only."""

from .client import Client
from .errors import AtriumError
from .http import Response
from .lists import list_items, list_pages
from .sse import ServerSentEvent
from .streams import TurnEvent, stream_events, stream_reply, stream_turn, text_of, wait_for_turn
from .types import AtriumEvent, ErrorCode, Result
from .uploads import upload_file
from .webhooks import VerifiedWebhook, WebhookVerificationError, verify_event, verify_webhook

__all__ = [
    "AtriumError",
    "AtriumEvent",
    "Client",
    "ErrorCode",
    "Response",
    "Result",
    "ServerSentEvent",
    "TurnEvent",
    "VerifiedWebhook",
    "WebhookVerificationError",
    "list_items",
    "list_pages",
    "stream_events",
    "stream_reply",
    "stream_turn",
    "text_of",
    "upload_file",
    "verify_event",
    "verify_webhook",
    "wait_for_turn",
]
