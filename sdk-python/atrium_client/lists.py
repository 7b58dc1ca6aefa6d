"""Lists as iterators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .client import Client


def list_pages(client: Client, route: str, **sent: Any) -> Iterator[Any]:
    """The pages of a list, each loaded when it is asked for. Takes the arguments of `call` for the route.

    Begins at `query["cursor"]` if set; `query["limit"]` is the number of items in a page.
    """
    # The log of events has a cursor on its last page, too, from which later events are read.
    parameter = "after" if route == "GET /events" else "cursor"
    query = dict(sent.pop("query", None) or {})
    while True:
        page = client._request(route, {**sent, "query": query}).data
        yield page
        if page["nextCursor"] is None or page.get("hasMore") is False:
            return
        query[parameter] = page["nextCursor"]


def list_items(client: Client, route: str, **sent: Any) -> Iterator[Any]:
    """The items of all pages of a list. By default a page has as many items as the server allows, 100."""
    query = {"limit": 100, **(sent.pop("query", None) or {})}
    for page in list_pages(client, route, query=query, **sent):
        yield from page["items"]
