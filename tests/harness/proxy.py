"""A proxy in front of an object store that answers wrongly, late or not at all, as a seed says.

    python3 tests/harness/proxy.py --to 127.0.0.1:5000 --port 5001 --seed 1 --share 0.1

Of the requests, `share` meet a fault: before the server has seen them (409, 429, 500, 503, a reset), or after it has done what
they ask (a reset in place of the answer, an answer cut short), or a delay. It speaks HTTP/1.1, one request a connection.

At the end (SIGTERM) it prints a line of JSON: the number of each fault, and `both won`, how many puts the server has accepted on a condition that an
earlier put had made untrue. A server that checks and writes in one step has none.
"""

import argparse
import asyncio
import contextlib
import json
import random
import signal

BEFORE = ["409", "429", "500", "503", "reset"]
AFTER = ["lost", "cut", "late"]
WORDS = {"409": "Conflict", "429": "Too Many Requests", "500": "Internal Server Error", "503": "Slow Down"}
CONDITIONS = (b"if-match", b"if-none-match")
CODES = {"409": "ConditionalRequestConflict", "429": "TooManyRequests", "500": "InternalError", "503": "SlowDown"}


async def head_of(reader):
    """The head of a message: its first line, its other lines, and its length if it says one."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head[:-4].split(b"\r\n")
    length, chunked = None, False
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        if name.lower() == b"transfer-encoding" and b"chunked" in value.lower():
            chunked = True
    return lines, length, chunked


async def body_of(reader, length, chunked, to_end):
    if chunked:
        body = b""
        while True:
            size = await reader.readline()
            body += size
            body += await reader.readexactly(int(size.split(b";")[0], 16) + 2)
            if int(size.split(b";")[0], 16) == 0:
                return body
    if length is not None:
        return await reader.readexactly(length)
    return await reader.read() if to_end else b""


def refusal(code):
    body = f"<Error><Code>{CODES[code]}</Code><Message>a fault</Message></Error>".encode()
    return (f"HTTP/1.1 {code} {WORDS[code]}\r\nContent-Type: application/xml\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode() + body


class Proxy:
    def __init__(self, host, port, seed, share, one_at_a_time):
        self.host, self.port, self.share = host, port, share
        self.turn = asyncio.Lock() if one_at_a_time else contextlib.nullcontext()
        self.random, self.counts = random.Random(seed), {"both won": 0}
        self.used_up = set()

    def fault(self):
        chosen = self.random.choice(BEFORE + AFTER) if self.random.random() < self.share else None
        self.counts[chosen or "none"] = self.counts.get(chosen or "none", 0) + 1
        return chosen

    async def serve(self, reader, writer):
        try:
            await self.pass_on(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    async def pass_on(self, reader, writer):
        lines, length, chunked = await head_of(reader)
        if any(line.lower().startswith(b"expect:") for line in lines):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await body_of(reader, length, chunked, False)
        fault = self.fault()
        if fault == "reset":
            return writer.transport.abort()
        if fault in BEFORE:
            writer.write(refusal(fault))
            return await writer.drain()
        async with self.turn if lines[0].startswith(b"PUT") else contextlib.nullcontext():
            answer, whole = await self.ask(lines, body)
        self.look(lines, answer)
        if fault == "late":
            await asyncio.sleep(self.random.random() / 5)
        if fault == "lost":
            return writer.transport.abort()
        if fault == "cut" and len(whole) > 1:
            writer.write(answer + whole[: len(whole) // 2])
            await writer.drain()
            return writer.transport.abort()
        writer.write(answer + whole)
        await writer.drain()

    def look(self, lines, answer):
        """Counts a put that was accepted although its condition was used up."""
        conditions = [line for line in lines[1:] if line.partition(b":")[0].lower() in CONDITIONS]
        if lines[0].startswith(b"PUT") and conditions and answer.split()[1].startswith(b"2"):
            condition = (lines[0], *conditions)
            self.counts["both won"] += condition in self.used_up
            self.used_up.add(condition)

    async def ask(self, lines, body):
        """The head and the body of the server's answer."""
        kept = [line for line in lines[1:] if not line.lower().startswith((b"connection:", b"expect:"))]
        server, sender = await asyncio.open_connection(self.host, self.port)
        sender.write(b"\r\n".join([lines[0], *kept, b"Connection: close"]) + b"\r\n\r\n" + body)
        await sender.drain()
        head, length, chunked = await head_of(server)
        is_bodiless = lines[0].startswith(b"HEAD") or head[0].split()[1] in (b"204", b"304")
        whole = b"" if is_bodiless else await body_of(server, length, chunked, True)
        sender.close()
        kept = [line for line in head if not line.lower().startswith(b"connection:")]
        return b"\r\n".join([*kept, b"Connection: close"]) + b"\r\n\r\n", whole


async def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--to", required=True, help="HOST:PORT of the server")
    words.add_argument("--port", type=int, default=0)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--share", type=float, default=0.1)
    words.add_argument("--one-at-a-time", action="store_true", help="pass puts on one by one, to a server whose conditional puts are not atomic")
    asked = words.parse_args()
    host, port = asked.to.split(":")
    proxy = Proxy(host, int(port), asked.seed, asked.share, asked.one_at_a_time)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", asked.port, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with server:
        await ended.wait()
    print(json.dumps(proxy.counts), flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
