"""Tests against the server at ATRIUM_URL with the key in ATRIUM_API_KEY: `python3 -m unittest discover tests`."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import socket
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import atrium_client
from atrium_client import http
from atrium_client.sse import read_server_sent_events

URL = os.environ["ATRIUM_URL"]
KEY = os.environ["ATRIUM_API_KEY"]
NOBODY = "01900000-0000-7000-8000-000000000000"


def client_of(**options: Any) -> atrium_client.Client:
    return atrium_client.Client(URL, KEY, **options)


client = client_of()
send = http.send


class Recorder:
    """Replaces the requests of the module: records them, and `outcome` can change their responses."""

    def __init__(self, outcome: Callable[[int, Callable[[], http.Response]], http.Response] | None = None) -> None:
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self._outcome = outcome

    def __call__(self, method: str, url: str, body: Any, headers: Any, **options: Any) -> http.Response:
        self.requests.append((method, url, dict(headers)))
        execute = lambda: send(method, url, body, headers, **options)  # noqa: E731
        return execute() if self._outcome is None else self._outcome(len(self.requests), execute)

    def __enter__(self) -> Recorder:
        self._patch = mock.patch.object(http, "send", self)
        self._patch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patch.stop()


def losing(count: int) -> Recorder:
    """The first responses never arrive, after the server has executed the requests."""

    def outcome(number: int, execute: Callable[[], http.Response]) -> http.Response:
        response = execute()
        if number > count:
            return response
        response.read()
        response.close()
        raise atrium_client.AtriumError("lost", "NETWORK")

    return Recorder(outcome)


def failing(*errors: atrium_client.AtriumError) -> Recorder:
    """The first requests fail without being sent."""

    def outcome(number: int, execute: Callable[[], http.Response]) -> http.Response:
        if number <= len(errors):
            raise errors[number - 1]
        return execute()

    return Recorder(outcome)


class Calls(unittest.TestCase):
    def test_a_call_sends_params_query_and_body_of_its_route(self) -> None:
        self.assertEqual(client.call("GET /me")["org"]["name"], "Acme")
        folder = client.call("POST /files", body={"source": "folder", "name": "Reports"})["file"]
        read = client.call("GET /files/:id", params={"id": folder["id"]})
        assert read is not None
        self.assertEqual(read["name"], "Reports")
        found = client.call("GET /files", query={"search": "repo", "recursive": True, "limit": 10})
        self.assertEqual([item["id"] for item in found["items"]], [folder["id"]])

    def test_an_error_has_the_code_status_message_and_request_id_of_the_response(self) -> None:
        with self.assertRaises(atrium_client.AtriumError) as caught:
            client.call("GET /files/:id", params={"id": NOBODY})
        error = caught.exception
        self.assertEqual((error.code, error.status, str(error)), ("NOT_FOUND", 404, "File not found"))
        self.assertRegex(error.request_id or "", "^[0-9a-f-]{36}$")

    def test_ids_cannot_reach_another_route(self) -> None:
        with self.assertRaises(atrium_client.AtriumError) as caught:
            client.call("GET /files/:id", params={"id": "../me"})
        self.assertEqual(caught.exception.code, "NOT_FOUND")
        for value in ("", ".", ".."):
            with Recorder() as recorder, self.assertRaises(ValueError):
                client.call("DELETE /files/:id", params={"id": value})
            self.assertEqual(recorder.requests, [])

    def test_unknown_arguments_are_rejected_before_a_request_is_sent(self) -> None:
        with Recorder() as recorder, self.assertRaises(TypeError):
            client.send("GET /me", qeury={})
        self.assertEqual(recorder.requests, [])

    def test_a_server_that_cannot_be_reached_is_network_and_a_silent_one_timeout(self) -> None:
        import socket

        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with self.assertRaises(atrium_client.AtriumError) as caught:
                atrium_client.Client(url, KEY, max_retries=0, timeout=0.05).call("GET /me")
            self.assertEqual(caught.exception.code, "TIMEOUT")
        with self.assertRaises(atrium_client.AtriumError) as caught:
            atrium_client.Client(url, KEY, max_retries=0).call("GET /me")
        self.assertEqual((caught.exception.code, caught.exception.status), ("NETWORK", 0))

    def test_an_etag_makes_a_change_conditional(self) -> None:
        made = client.call_with_response("POST /projects", body={"name": "Versioned"})
        params: Any = {"id": made.data["id"]}
        client.call("PATCH /projects/:id", params=params, body={"name": "Version 2"}, if_match=made.etag)
        with self.assertRaises(atrium_client.AtriumError) as caught:
            client.call("PATCH /projects/:id", params=params, body={"name": "Version 3"}, if_match=made.etag)
        self.assertEqual(caught.exception.code, "CONFLICT")

    def test_a_download_follows_the_redirect(self) -> None:
        file = atrium_client.upload_file(client, b"hello", name="hello.txt", mime_type="text/plain")
        with client.send("GET /files/:id", params={"id": file["id"]}, query={"download": True}) as response:
            self.assertEqual(response.read(), b"hello")

    def test_another_origin_of_a_redirect_receives_neither_the_key_nor_the_workspace(self) -> None:
        from http.server import BaseHTTPRequestHandler, HTTPServer
        from threading import Thread

        received: list[set[str]] = []

        class Store(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                received.append({name.lower() for name in self.headers})
                self.send_response(200)
                self.end_headers()

        class Api(Store):
            def do_GET(self) -> None:
                received.append({name.lower() for name in self.headers})
                self.send_response(302)
                self.send_header("location", f"http://127.0.0.1:{store.server_port}/object")
                self.end_headers()

        store, api = HTTPServer(("127.0.0.1", 0), Store), HTTPServer(("127.0.0.1", 0), Api)
        for server in (store, api):
            Thread(target=server.handle_request).start()
            self.addCleanup(server.server_close)
        scoped = atrium_client.Client(f"http://127.0.0.1:{api.server_port}", KEY, workspace_id="w")
        scoped.send("GET /files/:id", params={"id": "f"}, headers={"range": "bytes=0-4"}).close()
        named = {"authorization", "x-workspace-id", "range"}
        self.assertEqual([one & named for one in received], [named, {"range"}])

    def test_origins_are_compared_with_their_default_ports(self) -> None:
        self.assertNotEqual(http.origin_of("https://a.example"), http.origin_of("https://a.example:444"))
        self.assertEqual(http.origin_of("https://a.example"), http.origin_of("https://a.example:443/x"))


class Retries(unittest.TestCase):
    def test_a_date_without_a_zone_in_retry_after_is_utc(self) -> None:
        from atrium_client.errors import retry_after_of

        self.assertEqual(retry_after_of("Fri, 27 Nov 2020 10:00:00 -0000"), 0.0)
        self.assertGreater(retry_after_of("Wed, 27 Nov 2120 10:00:00 -0000") or 0, 0)

    def test_a_post_whose_response_was_lost_is_executed_once(self) -> None:
        with losing(2) as recorder:
            made = client.call_with_response("POST /workspaces", body={"name": "Once in Python"})
        self.assertTrue(made.is_replayed)
        keys = {headers["idempotency-key"] for _, _, headers in recorder.requests}
        self.assertEqual((len(recorder.requests), len(keys)), (3, 1))
        names = [workspace["name"] for workspace in atrium_client.list_items(client, "GET /workspaces")]
        self.assertEqual(names.count("Once in Python"), 1)

    def test_a_patch_is_not_repeated_after_a_lost_response(self) -> None:
        folder = client.call("POST /files", body={"source": "folder", "name": "Patched"})["file"]
        with losing(1) as recorder, self.assertRaises(atrium_client.AtriumError) as caught:
            client.call("PATCH /files/:id", params={"id": folder["id"]}, body={"name": "Renamed"})
        self.assertEqual((len(recorder.requests), caught.exception.code), (1, "NETWORK"))

    def test_a_rate_limited_request_waits_for_as_long_as_asked(self) -> None:
        limited = atrium_client.AtriumError("slow", "TOO_MANY_REQUESTS", 429, retry_after=7)
        folder = client.call("POST /files", body={"source": "folder", "name": "Limited"})["file"]
        with failing(limited) as recorder, mock.patch("time.sleep") as sleep:
            client.call("PATCH /files/:id", params={"id": folder["id"]}, body={"name": "Slower"})
        self.assertEqual(len(recorder.requests), 2)
        (delay,) = sleep.call_args.args
        self.assertTrue(7 <= delay <= 7.25, delay)

    def test_retries_end(self) -> None:
        down = atrium_client.AtriumError("down", "SERVICE_UNAVAILABLE", 503)
        with failing(down, down, down) as recorder, mock.patch("time.sleep"):
            with self.assertRaises(atrium_client.AtriumError):
                client.call("GET /me")
        self.assertEqual(len(recorder.requests), 3)
        later = atrium_client.AtriumError("later", "SERVICE_UNAVAILABLE", 503, retry_after=31)
        with failing(later) as recorder, self.assertRaises(atrium_client.AtriumError):
            client.call("GET /me")
        self.assertEqual(len(recorder.requests), 1)


class Lists(unittest.TestCase):
    def test_the_items_of_all_pages_are_returned_once(self) -> None:
        parent = client.call("POST /files", body={"source": "folder", "name": "Paged"})["file"]["id"]
        for name in "abcde":
            client.call("POST /files", body={"source": "folder", "name": name, "parentId": parent})
        query = {"parentId": parent, "limit": 2}
        with Recorder() as recorder:
            items = atrium_client.list_items(client, "GET /files", query=query)
            self.assertEqual("".join(item["name"] for item in items), "abcde")
        self.assertEqual(len(recorder.requests), 3)

    def test_the_list_of_events_ends_at_the_last_one(self) -> None:
        query = {"types": "folder.created", "limit": 1}
        self.assertGreater(len(list(atrium_client.list_items(client, "GET /events", query=query))), 1)


class Uploads(unittest.TestCase):
    def test_a_file_from_disk_reports_its_progress(self) -> None:
        content = b"atrium" * 500_000
        seen: list[tuple[int, int]] = []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.bin"
            path.write_bytes(content)
            file = atrium_client.upload_file(client, path, on_progress=lambda sent, total: seen.append((sent, total)))
        self.assertEqual((file["name"], file["size"], file["status"]), ("large.bin", len(content), "ready"))
        self.assertEqual(file["contentHash"], hashlib.sha256(content).hexdigest())
        self.assertGreater(len(seen), 1)
        self.assertEqual(seen[-1], (len(content), len(content)))

    def test_a_file_that_cannot_be_opened_raises_its_own_error_and_is_not_retried(self) -> None:
        with tempfile.TemporaryDirectory() as folder, Recorder() as recorder:
            with self.assertRaises(IsADirectoryError):
                atrium_client.upload_file(client, folder, name="a.txt", mime_type="text/plain")
        self.assertEqual([method for method, _, _ in recorder.requests], ["POST", "PUT"])

    def test_a_body_that_is_rejected_before_it_was_read_raises_the_error_of_the_response(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:

            def reject() -> None:
                connection, _ = server.accept()
                with connection:
                    connection.recv(1_000)
                    connection.sendall(b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n")

            thread = threading.Thread(target=reject)
            thread.start()
            url = f"http://127.0.0.1:{server.getsockname()[1]}/upload"
            with self.assertRaises(atrium_client.AtriumError) as raised:
                client.put(url, bytes(50_000_000), "text/plain")
            thread.join()
        self.assertEqual((raised.exception.status, raised.exception.code), (413, "BAD_REQUEST"))

    def test_one_file_is_stored_when_the_response_to_its_bytes_is_lost(self) -> None:
        def outcome(number: int, execute: Callable[[], http.Response]) -> http.Response:
            response = execute()
            if number != 2:
                return response
            response.read()
            raise atrium_client.AtriumError("lost", "NETWORK")

        with Recorder(outcome) as recorder:
            file = atrium_client.upload_file(client, b"once", name="once.txt", mime_type="text/plain")
        self.assertEqual(file["status"], "ready")
        self.assertEqual([method for method, _, _ in recorder.requests], ["POST", "PUT", "PUT", "GET"])
        self.assertNotIn("authorization", recorder.requests[1][2])

    def test_a_part_whose_url_has_expired_is_sent_to_another_one(self) -> None:
        urls: list[str] = []

        class Store:
            def call(self, route: str, **sent: Any) -> Any:
                if route == "POST /files":
                    return {"file": {"id": "f"}, "upload": {"partCount": 2, "partBytes": 4}}
                if route == "POST /files/:id/upload/parts":
                    named = [(number, f"{number}.{len(urls)}") for number in sent["body"]["numbers"]]
                    return {"parts": [self.part(number, url) for number, url in named]}
                return {"state": "ready", "id": "f"}

            def part(self, number: int, url: str) -> Any:
                return {"number": number, "url": url, "startByte": 4 * (number - 1), "sizeBytes": 4}

            def put(self, url: str, body: bytes, *_: Any) -> None:
                urls.append(url)
                if url == "2.0":
                    raise atrium_client.AtriumError("Request has expired", "FORBIDDEN", 403)

        atrium_client.upload_file(Store(), b"12345678", name="large.bin")  # type: ignore[arg-type]
        self.assertEqual(urls, ["1.0", "2.0", "2.2"])


def cutting(after: int, times: int) -> Any:
    """The lines of the first streams end with a lost connection after this many events."""
    lines_of = http.Response.lines
    streams = 0

    def lines(self: http.Response) -> Iterator[bytes]:
        nonlocal streams
        streams += 1
        left = after if streams <= times else -1
        for line in lines_of(self):
            yield line
            left -= line.startswith(b"data:")
            if left == 0:
                yield b"\n"
                yield b'id: 999\ndata: {"type":"text-de'
                raise atrium_client.AtriumError("lost", "NETWORK")

    return mock.patch.object(http.Response, "lines", lines)


class Streams(unittest.TestCase):
    def session(self) -> str:
        return client.call("POST /sessions", body={"agentId": "assistant"})["id"]

    def test_a_reply_has_the_same_text_as_the_stored_message(self) -> None:
        session = self.session()
        events = list(atrium_client.stream_reply(client, session, {"text": "Hello"}))
        self.assertEqual([event.number for event in events], list(range(1, len(events) + 1)))
        self.assertEqual(events[-1].part["messageMetadata"]["status"], "completed")
        text = "".join(event.part["delta"] for event in events if event.part["type"] == "text-delta")
        messages = client.call("GET /sessions/:id/messages", params={"id": session})["items"]
        (reply,) = [message for message in messages if message["role"] == "assistant"]
        self.assertEqual(atrium_client.text_of(reply), text)

    def test_a_reply_continues_when_connections_are_lost(self) -> None:
        session = self.session()
        with cutting(after=5, times=3), Recorder() as recorder:
            events = list(atrium_client.stream_reply(client, session, {"text": "Hello again"}))
        self.assertEqual(events, list(atrium_client.stream_turn(client, events[0].turn_id)))
        self.assertEqual([method for method, _, _ in recorder.requests], ["POST", "GET", "GET", "GET"])
        self.assertTrue(recorder.requests[3][1].endswith("after=15"))

    def test_a_message_is_sent_once_when_the_first_response_is_lost(self) -> None:
        session = self.session()
        with losing(1) as recorder:
            events = list(atrium_client.stream_reply(client, session, {"text": "Only once"}))
        self.assertEqual([method for method, _, _ in recorder.requests], ["POST", "POST", "GET"])
        self.assertEqual(events[-1].part["type"], "finish")
        messages = client.call("GET /sessions/:id/messages", params={"id": session})["items"]
        self.assertEqual(sorted(message["role"] for message in messages), ["assistant", "user"])

    def test_events_continue_without_a_gap_when_connections_are_lost(self) -> None:
        made: list[str] = []
        begun = threading.Event()
        found: list[str] = []

        def follow() -> None:
            stream = atrium_client.stream_events(
                client, types=["project.created"], on_open=lambda position, is_gap: begun.set()
            )
            for event in stream:
                found.append(event["subject"]["id"])
                if len(found) == 5:
                    return

        with cutting(after=3, times=2):
            thread = threading.Thread(target=follow, daemon=True)
            thread.start()
            self.assertTrue(begun.wait(30))
            for number in range(5):
                made.append(client.call("POST /projects", body={"name": f"Followed {number}"})["id"])
            thread.join(60)
        self.assertEqual(found, made)

    def test_a_stream_ends_with_the_error_of_the_server(self) -> None:
        with self.assertRaises(atrium_client.AtriumError) as caught:
            next(atrium_client.stream_events(atrium_client.Client(URL, "atr_test_wrong")))
        self.assertEqual(caught.exception.code, "UNAUTHORIZED")

    def test_waiting_for_a_turn_returns_it_when_it_has_ended_or_raises_timeout(self) -> None:
        body: Any = {"text": "/slow 60000", "background": True}
        turn = client.call("POST /sessions/:id/messages", params={"id": self.session()}, body=body)["turn"]
        with self.assertRaises(atrium_client.AtriumError) as caught:
            atrium_client.wait_for_turn(client, turn["id"], timeout=0.01)
        self.assertEqual(caught.exception.code, "TIMEOUT")
        client.call("POST /turns/:id/cancel", params={"id": turn["id"]})
        self.assertEqual(atrium_client.wait_for_turn(client, turn["id"])["status"], "cancelled")

    def test_server_sent_events_have_ids_names_joined_data_and_a_retry_delay(self) -> None:
        text = b": ping\n\nretry: 1500\nid: 7\nevent: open\ndata: {}\n\ndata:a\r\ndata: b\r\n\r\ndata: dropped\n"
        events = list(read_server_sent_events(text.splitlines(keepends=True)))
        self.assertEqual(
            [(event.id, event.name, event.data, event.retry) for event in events],
            [("7", "open", "{}", 1.5), (None, "message", "a\nb", 1.5)],
        )


class Webhooks(unittest.TestCase):
    secret = "whsec_" + base64.b64encode(bytes(range(32))).decode()
    other = "whsec_" + base64.b64encode(bytes(32)).decode()
    body = b'{"type": "agent.created"}'
    now = 1_800_000_000

    def signed(self, secret: str) -> dict[str, str]:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        mac = hmac.digest(key, f"evt-1.{self.now}.".encode() + self.body, "sha256")
        return {
            "Webhook-Id": "evt-1",
            "webhook-timestamp": str(self.now),
            "webhook-signature": "v1a,AAAA v1," + base64.b64encode(mac).decode(),
        }

    def rejects(self, headers: dict[str, str], pattern: str, *, body: bytes = body, now: int = now) -> None:
        with self.assertRaisesRegex(atrium_client.WebhookVerificationError, pattern):
            atrium_client.verify_webhook(body, headers, self.secret, now=now)

    def test_the_example_of_standard_webhooks_is_accepted(self) -> None:
        headers = {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        atrium_client.verify_webhook('{"test": 2432232314}', headers, secret, now=1614265330)

    def test_either_secret_of_a_rotation_is_accepted(self) -> None:
        event = atrium_client.verify_event(self.body, self.signed(self.other), [self.secret, self.other], now=self.now)
        self.assertEqual(event["type"], "agent.created")
        self.rejects(self.signed(self.other), "does not match")

    def test_changed_stale_and_incomplete_requests_are_rejected(self) -> None:
        signed = self.signed(self.secret)
        self.rejects(signed, "does not match", body=b"{}")
        self.rejects({**signed, "Webhook-Id": "evt-2"}, "does not match")
        self.rejects({**signed, "webhook-signature": "v1,%%% v1,é AAAA"}, "does not match")
        self.rejects(signed, "is 301 s old", now=self.now + 301)
        self.rejects(signed, "is -301 s old", now=self.now - 301)
        self.rejects({**signed, "webhook-timestamp": "٣"}, "seconds since 1970")
        self.rejects({**signed, "webhook-signature": ""}, "webhook-signature is missing")


if __name__ == "__main__":
    unittest.main()
