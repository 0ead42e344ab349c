"""kill -9 of `serve` at random moments while clients ask, have pages remembered and days committed.

After each kill the service is started again and asked for every page: all that was acknowledged must be there, each
once, and nothing that was never sent.
"""

import http.client
import json
import random
import signal
import socket
import threading
import time

from bench import PATIENCE, Running, Violation
from tally import Tally

CLIENTS = 3
AT_ONCE = 1000
STEP = 0x9E3779B97F4A7C15


def run(bench, seed, cycles=None):
    """Cycles of one store: it grows over all of them, and a tenth of them begin a store of their own."""
    tally = Tally("serve", seed)
    state = {"home": None}
    for number in range(cycles or 1000):
        tally.cycle(number, lambda: cycle(bench, tally, random.Random(f"{seed} {number}"), number, state))
    return tally


def cycle(bench, tally, chance, number, state):
    if number % 100 == 0:
        state.update(home=bench.fresh(), sent=0, told=set(), list=[], day=0)
    served = Served(bench, state["home"])
    try:
        check(served, state, tally)
        clients = [threading.Thread(target=send, args=(served, state, chance.random())) for _ in range(CLIENTS)]
        clients.append(threading.Thread(target=query, args=(served, state, random.Random(chance.random()))))
        for client in clients:
            client.start()
        time.sleep(chance.uniform(0, 0.1))
        if number % 4 == 0:
            state["day"] += 1
            day = f"2026-{1 + state['day'] // 28:02}-{1 + state['day'] % 28:02}"
            threading.Thread(target=served.ask, args=("/v1/commit", {"day": day}), daemon=True).start()
            time.sleep(chance.uniform(0, 0.03))
            tally.count("commits begun")
    finally:
        served.kill()
    for client in clients:
        client.join()
    tally.count("pages asked for", state.pop("asked", 0))
    if "wrong" in state:
        raise Violation(state.pop("wrong"))


class Served:
    def __init__(self, bench, home):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = ("serve", "--store", "served", "--create", "--recipe", "external-64", "--listen", f"127.0.0.1:{self.port}")
        self.running = self.start(bench.command(*words), home)
        self.alive = True
        late = time.monotonic() + PATIENCE
        while self.get("/readyz") is None:
            if time.monotonic() > late or not self.running.goes_on():
                ended = self.running.end(1)
                raise Violation(f"the store does not open: {ended.stderr[-500:]}")
            time.sleep(0.002)

    def start(self, words, home):
        return Running(words, home)

    def get(self, path):
        return self.exchange("GET", path, None)

    def ask(self, path, body):
        return self.exchange("POST", path, json.dumps(body))

    def exchange(self, method, path, body):
        """The answer; none if the service is gone or refuses."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            text = reply.read()
            return text if reply.status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def kill(self):
        self.alive = False
        self.running.signal_all(signal.SIGKILL)
        self.running.end()


LOCK = threading.Lock()


def send(served, state, pause):
    while served.alive:
        with LOCK:
            numbers = range(state["sent"], state["sent"] + 1 + int(pause * 5))
            state["sent"] = numbers.stop
        pages = [{"id": str(it), "fingerprint": f"{it * STEP % 2**64:x}"} for it in numbers]
        if served.ask("/v1/pages", {"remember": "all", "pages": pages}) is not None:
            with LOCK:
                state["told"].update(numbers)
                state["list"].extend(numbers)


def query(served, state, chance):
    """At any moment, also while a day is committed, what was acknowledged is found once."""
    while served.alive:
        with LOCK:
            told = state["list"]
            numbers = [chance.choice(told) for _ in range(20)] if told else []
        body = {"distance": 0, "fingerprints": [f"{it * STEP % 2**64:x}" for it in numbers]}
        text = served.ask("/v1/query", body)
        for it, answer in zip(numbers, json.loads(text)["answers"] if text else []):
            state["asked"] = state.get("asked", 0) + 1
            if [page["id"] for page in answer["near"]] != [str(it)]:
                state["wrong"] = f"page {it} was acknowledged and is answered as {answer}"


def check(served, state, tally):
    """Every page that was acknowledged is held, once, and nothing else but what was sent."""
    held = 0
    for first in range(0, state["sent"], AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, state["sent"]))
        body = {"distance": 0, "fingerprints": [f"{it * STEP % 2**64:x}" for it in numbers]}
        answers = json.loads(served.ask("/v1/query", body))["answers"]
        for it, answer in zip(numbers, answers):
            near = [page["id"] for page in answer["near"]]
            held += len(near)
            if near not in ([], [str(it)]):
                raise Violation(f"page {it} is held as {near}")
            if not near and it in state["told"]:
                raise Violation(f"page {it} was acknowledged and is lost")
    status = json.loads(served.get("/v1/status"))
    if status["rows"] + status["journal_pages"] != held:
        raise Violation(f"{held} pages were sent, and it has {status}")
    tally.sample("pages acknowledged", len(state["told"]))
