"""Uploads the files of a folder that Atrium does not have yet, and asks an agent about them."""

import hashlib
import mimetypes
import os
import sys
from pathlib import Path

from atrium_client import AtriumError, Client, list_items, stream_reply, upload_file


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def upload_new_files(atrium: Client, folder: Path) -> tuple[int, int]:
    """Returns how many files were uploaded and how many were there already."""
    known = {file["contentHash"] for file in list_items(atrium, "GET /files", query={"limit": 100})}
    uploaded = unchanged = 0
    for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
        if sha256_of(path) in known:
            unchanged += 1
            continue
        mime_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        try:
            upload_file(atrium, path, mime_type=mime_type)
        except AtriumError as error:
            # For example a media type that cannot be stored. The other files are uploaded.
            print(f"skipped {path.name}: {error}", file=sys.stderr)
            continue
        uploaded += 1
        print(f"uploaded {path.name}")
    return uploaded, unchanged


def ask(atrium: Client, question: str) -> None:
    """Prints the reply of the default agent as it is written."""
    session = atrium.call("POST /sessions", body={"agentId": "assistant"})
    for event in stream_reply(atrium, session["id"], {"text": question}):
        if event.part["type"] == "text-delta":
            print(event.part["delta"], end="", flush=True)
    print()


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: upload_folder.py FOLDER [QUESTION]")
    atrium = Client(os.environ["ATRIUM_URL"], os.environ["ATRIUM_API_KEY"])
    uploaded, unchanged = upload_new_files(atrium, Path(sys.argv[1]))
    print(f"{uploaded} uploaded, {unchanged} unchanged")
    if len(sys.argv) > 2:
        ask(atrium, sys.argv[2])


if __name__ == "__main__":
    main()
