"""The crawler of examples/crawler.py in a site with a calendar that has no end:

    python3 tests/crawler.py target/release/dupsieve

It ends, reads every page that is none of the calendar, and leaves the calendar after as many days as it is told. The middleware for Scrapy drops
the same pages."""

import http.server
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import types
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "examples"))
import crawler  # noqa: E402: it is there, and leaves nothing behind

MOST = 4
ARTICLES = 6


def text(seed):
    """Words that no other number has."""
    return " ".join("".join(chr(97 + int(digit)) for digit in str((seed * 1000 + at) * 7919)) for at in range(120))


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        day = re.fullmatch(r"/calendar/(\d+)", self.path)
        article = re.fullmatch(r"/article/(\d+)", self.path)
        if day:
            body = f"<p>{text(0)} day {day[1]}</p><a href='/calendar/{int(day[1]) + 1}'>next</a>"
        elif article:
            body = f"<script>let shared = '{text(0)}'</script><p>{text(int(article[1]))}</p><a href='/#top'>home</a>"
        else:
            links = "".join(f"<a href='article/{at}'>article</a>" for at in range(1, ARTICLES + 1))
            body = f"<p>{text(99)}</p>{links}<a href='/calendar/1'>calendar</a><a href='http://elsewhere.invalid/'>elsewhere</a>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


def served(program, folder):
    """A service of an empty store, and where it listens."""
    command = [program, "serve", "--store", folder / "store", "--create", "--listen", "127.0.0.1:0"]
    service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in service.stderr:
        if found := re.search(r"listening at (\S+)", line):
            address = found[1]
            break
    else:
        raise SystemExit("the service ended")
    threading.Thread(target=service.stderr.read, daemon=True).start()
    while True:
        try:
            urllib.request.urlopen(f"{address}/readyz")
            return service, address
        except urllib.error.HTTPError:
            time.sleep(0.01)


def crawled(address, start):
    """How many near-duplicates each page had."""
    return dict(crawler.crawl(start, crawler.NearDuplicates(address), MOST))


def dropped(address):
    """How many of ten days of the calendar the middleware drops."""

    class IgnoreRequest(Exception):
        pass

    sys.modules["scrapy"] = types.ModuleType("scrapy")
    sys.modules["scrapy.exceptions"] = types.SimpleNamespace(IgnoreRequest=IgnoreRequest)
    settings = types.SimpleNamespace(getint=lambda _, __: MOST, get=lambda _, __: address)
    middleware = crawler.Middleware.from_crawler(types.SimpleNamespace(settings=settings))
    picture = types.SimpleNamespace(status=200, headers={"Content-Type": b"image/png"})
    assert middleware.process_response(None, picture) is picture
    count = 0
    for day in range(10):
        headers = {"Content-Type": b"text/html; charset=utf-8"}
        response = types.SimpleNamespace(
            url=f"http://b.example/{day}", status=200, headers=headers, text=f"</style><p>{text(7777)} {day}</p>"
        )
        try:
            assert middleware.process_response(None, response, None) is response
        except IgnoreRequest:
            count += 1
    return count


def main(program):
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{site.server_port}/"
    with tempfile.TemporaryDirectory() as folder:
        service, address = served(program, pathlib.Path(folder))
        try:
            expected = {home: 0} | {f"{home}article/{at}": 0 for at in range(1, ARTICLES + 1)}
            expected |= {f"{home}calendar/{day + 1}": day for day in range(MOST + 1)}
            found = crawled(address, home)
            assert found == expected, found
            assert dropped(address) == 10 - MOST
        finally:
            service.terminate()
            service.wait()
    print(f"the crawler read {len(expected)} pages and left the calendar after {MOST + 1} of its days")


if __name__ == "__main__":
    main(sys.argv[1])
