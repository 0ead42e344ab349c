"""One long object on a link of limited speed: what share of the link a reader uses.

    python3 bench-data/link.py --program target/release/dupsieve [--bytes 10e9] [--delay 0.05] [--connection 80e6] [--link 500e6] [--memory 2GiB] [--rounds 3]

The program needs the feature `object-store`. A server on this machine has one object, which is a page and then blank lines. Each answer begins after a delay; a
connection gives so many bytes a second, and all connections together give no more than the link. First the object is fingerprinted. Then the cache
of what is known of inputs is removed, and the command runs again and again: it reads the whole object for its digest, and has nothing else to do. Prints a line of JSON: the
seconds, bytes a second, the share of the link, and the bytes that were served for each byte of the object.
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

PIECE = 1 << 18
LINE = b" " * 65535 + b"\n"
PAGE = b'{"id": "one", "text": "a page that is alone in a long object with many blank lines behind"}\n'


class Link:
    """Gives leave to send, at so many bytes a second in all."""

    def __init__(self, speed):
        self.speed, self.free = speed, 0.0

    async def leave(self, count):
        now = time.monotonic()
        self.free = max(self.free, now - 0.02) + count / self.speed
        if self.free > now:
            await asyncio.sleep(self.free - now)


class Server:
    def __init__(self, told):
        self.told, self.size, self.link = told, int(told.bytes), Link(told.link)
        self.served = self.requests = 0
        self.lines = LINE * (PIECE // len(LINE) + 2)

    def bytes(self, first, count):
        """What the object has from `first` on."""
        page = PAGE.ljust(len(LINE) - 1) + b"\n" if first < len(LINE) else b""
        start = first % len(LINE)
        rest = self.lines[start : start + count] if not page else (page[first:] + self.lines)[:count]
        return rest

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(self.told.delay)
                await self.answer(head.decode(), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, head, writer):
        self.requests += 1
        headers = f'ETag: "one"\r\nLast-Modified: Wed, 25 Nov 2026 00:00:00 GMT\r\nAccept-Ranges: bytes\r\n'
        wanted = re.search(r"\r\nrange: bytes=(\d+)-(\d+)", head, re.IGNORECASE)
        if not wanted:
            writer.write(f"HTTP/1.1 200 OK\r\n{headers}Content-Length: {self.size}\r\n\r\n".encode())
            return await writer.drain()
        first, last = map(int, wanted.groups())
        writer.write(f"HTTP/1.1 206 Partial Content\r\n{headers}Content-Length: {last + 1 - first}\r\nContent-Range: bytes {first}-{last}/{self.size}\r\n\r\n".encode())
        own = Link(self.told.connection)
        while first <= last:
            count = min(PIECE, last + 1 - first)
            await own.leave(count)
            await self.link.leave(count)
            writer.write(self.bytes(first, count))
            await writer.drain()
            first += count
            self.served += count


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/dupsieve")
    parser.add_argument("--bytes", type=float, default=10e9)
    parser.add_argument("--delay", type=float, default=0.05)
    parser.add_argument("--connection", type=float, default=80e6)
    parser.add_argument("--link", type=float, default=500e6)
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--rounds", type=int, default=3)
    told = parser.parse_args()
    served = Server(told)
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0, limit=1 << 20)
    port = server.sockets[0].getsockname()[1]
    with tempfile.TemporaryDirectory() as scratch:
        output = pathlib.Path(scratch) / "one.seg"
        variables = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "a",
                     "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1", "DUPSIEVE_CACHE": f"{scratch}/cache"}
        words = [str(pathlib.Path(told.program).resolve()), "-q", "fingerprint", "--memory", told.memory, "--input", "s3://b/one.jsonl", "--output", str(output)]
        for number in range(told.rounds + 1):
            pathlib.Path(variables["DUPSIEVE_CACHE"], "inputs").unlink(missing_ok=True)
            served.served = served.requests = 0
            began, before = time.monotonic(), os.times()
            program = await asyncio.create_subprocess_exec(*words, env={**os.environ, **variables}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            _, said = await program.communicate()
            if program.returncode != 0:
                raise SystemExit(said.decode())
            seconds, after = time.monotonic() - began, os.times()
            figures = {"what": "pages and digest" if number == 0 else "digest", "seconds": round(seconds, 2), "mb_per_second": round(served.size / seconds / 1e6, 1),
                       "share_of_link": round(served.size / seconds / told.link, 3), "requests": served.requests, "served_per_byte": round(served.served / served.size, 3),
                       "processor_seconds": round(after.children_user + after.children_system - before.children_user - before.children_system, 2)}
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
