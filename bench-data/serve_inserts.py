"""How soon a page that was sent to be remembered is found: post it, then ask for it, on one connection.

    python3 bench-data/serve_inserts.py --port 8373 --count 2000

Prints milliseconds from the first byte of the post to the answer that has the page: its median, the 99th percentile and the
greatest. The service must hold fingerprints made elsewhere.
"""

import argparse
import http.client
import json
import random
import sys
import time


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--port", type=int, default=8373)
    words.add_argument("--count", type=int, default=2000)
    words.add_argument("--seed", type=int, default=1)
    asked = words.parse_args()
    chance = random.Random(asked.seed)
    connection = http.client.HTTPConnection("127.0.0.1", asked.port, timeout=60)
    posts, all_of = [], []
    for number in range(asked.count):
        bits, name = f"{chance.getrandbits(64):016x}", f"{asked.seed}/{number}"
        began = time.perf_counter()
        ask(connection, "/v1/pages", {"remember": "all", "pages": [{"id": name, "fingerprint": bits}]})
        posted = time.perf_counter()
        answer = ask(connection, "/v1/query", {"fingerprints": [bits]})["answers"][0]
        posts.append(1000 * (posted - began))
        all_of.append(1000 * (time.perf_counter() - began))
        if name not in [page["id"] for page in answer["near"]]:
            sys.exit(f"{name} is not found: {answer}")
    print(json.dumps({"posted": figures(posts), "posted and found": figures(all_of)}))


def ask(connection, path, body):
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    text = reply.read()
    if reply.status != 200:
        sys.exit(f"{path}: {reply.status} {text[:300]}")
    return json.loads(text)


def figures(values):
    values = sorted(values)
    at = lambda share: round(values[min(len(values) - 1, int(share * len(values)))], 3)
    return {"p50": at(0.5), "p99": at(0.99), "most": round(values[-1], 3)}


if __name__ == "__main__":
    main()
