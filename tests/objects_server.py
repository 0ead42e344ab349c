"""A small object store for the tests: the part of S3's protocol that dupsieve uses, in memory, with faults on demand.

    python3 tests/objects_server.py [--host 127.0.0.1] [--port 0] [--page 1000] [--faults FILE]

Prints `{"port": N}` when it listens there, and ends when its standard input does. Signatures are not checked. Objects are
read and written as S3 does it: GET (with Range and If-Match), HEAD, PUT (with If-Match and If-None-Match: *), multipart uploads,
ListObjectsV2 in pages of --page keys, with and without a delimiter, DELETE and the batch delete. Google's XML API is the same but for
its conditions: x-goog-generation, x-goog-if-generation-match. A folder can be loaded with `PUT /-/load`.

    PUT  /-/faults   a list of rules, in place of those before; --faults gives the first ones
    GET  /-/log      the requests since the last time: [[method, path and query, status], ...]
    GET  /-/most     {"most": the most requests under way at once, since the last time}
    PUT  /-/load     {"folder": ..., "bucket": ..., "prefix": ...}: the files below a folder become objects

A rule is an object: what it does (`do`), and which requests it is for: `method`, `path` (a part of the decoded path), `query` (a
part of the query), `skip` (so many pass first), `times` (so many are hit; all, if it is not given), `every` (only each n-th).

    {"do": "status", "status": 503, "retry_after": 1}      an answer with this status, and S3's word for it as `code`
    {"do": "expired"}                                      403, as S3 says that a token has expired
    {"do": "reset"}                                        the connection is reset before the answer
    {"do": "cut"}                                          half of the body, then the connection ends
    {"do": "short"}, {"do": "long"}                        a whole answer of a byte less, or more, than was asked for
    {"do": "delay", "seconds": 0.2}                        the answer comes later
    {"do": "redirect"}                                     307 to the same place, for ever
    {"do": "same_token"}                                   a listing that never ends: its token stays the same
    {"do": "empty_token"}                                  a listing whose last page has a token, which is empty
    {"do": "replace", "body": "..."}                       another object is there from now on
    {"do": "lost"}                                         it is done, and the connection is reset before the answer
"""

import argparse
import email.utils
import hashlib
import itertools
import json
import pathlib
import socket
import struct
import sys
import threading
import time
import urllib.parse
import xml.etree.ElementTree
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape


class Object:
    """The bytes of an object, and what tells them from others."""

    generations = itertools.count(1)

    def __init__(self, body, tag=None):
        self.body = body
        self.generation = str(next(Object.generations))
        self.tag = tag or '"%s"' % hashlib.md5(body).hexdigest()
        self.time = time.time()

    def tags(self):
        return [("ETag", self.tag), ("x-goog-generation", self.generation)]


class Rule:
    """A fault, and which requests it is for."""

    def __init__(self, told):
        self.told = told
        self.met = 0
        self.hit = 0

    def fits(self, method, path, query):
        told = self.told
        if told.get("method", method) != method or told.get("path", "") not in path:
            return False
        if told.get("query", "") not in query:
            return False
        self.met += 1
        met = self.met - told.get("skip", 0)
        if met <= 0 or met % told.get("every", 1) != 0 or self.hit >= told.get("times", 1 << 60):
            return False
        self.hit += 1
        return True


class Store:
    """All objects, by their path with the bucket; the uploads that are not complete; the rules and the log."""

    def __init__(self, page):
        self.lock = threading.RLock()
        self.page = page
        self.objects = {}
        self.uploads = {}
        self.rules = []
        self.log = []
        self.now = self.most = 0

    def fault(self, method, path, query):
        with self.lock:
            found = (rule.told for rule in self.rules if rule.fits(method, path, query))
            return next(found, None)

    def load(self, told):
        folder = pathlib.Path(told["folder"])
        for file in sorted(it for it in folder.rglob("*") if it.is_file()):
            name = "/".join(filter(None, [told["bucket"], told.get("prefix", ""), file.relative_to(folder).as_posix()]))
            self.objects[name] = Object(file.read_bytes())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    store = None

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=(), length=None):
        if self.cut == "lost":
            return self.reset()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        with self.store.lock:
            self.store.log.append([self.command, self.path, status])

    def fail(self, status, code, headers=()):
        body = "<?xml version='1.0'?><Error><Code>%s</Code><Message>%s</Message></Error>" % (code, code)
        self.answer(status, body.encode(), [("Content-Type", "application/xml"), *headers])

    def xml(self, name, inner, headers=()):
        body = "<?xml version='1.0' encoding='UTF-8'?><%s>%s</%s>" % (name, inner, name)
        self.answer(200, body.encode(), [("Content-Type", "application/xml"), *headers])

    cut = None

    def any(self):
        raw, _, query = self.path.partition("?")
        name = urllib.parse.unquote(raw[1:])
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.cut = None
        if name.startswith("-/"):
            return self.control(name[2:])
        with self.store.lock:
            self.store.now += 1
            self.store.most = max(self.store.most, self.store.now)
        try:
            return self.serve(name, query)
        finally:
            with self.store.lock:
                self.store.now -= 1

    def serve(self, name, query):
        fault = self.store.fault(self.command, name, query)
        if fault and self.failed(fault, name):
            return None
        bucket, _, key = name.partition("/")
        if key and self.command in ("GET", "HEAD"):
            return self.get(self.store.objects.get(name))
        with self.store.lock:
            if not key:
                return self.delete_many(bucket) if "delete" in self.query else self.list(bucket)
            return self.object(name)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = any

    def control(self, name):
        store = self.store
        with store.lock:
            if name == "faults":
                store.rules = [Rule(told) for told in json.loads(self.body)]
            elif name == "load":
                store.load(json.loads(self.body))
            elif name == "log":
                body, store.log = json.dumps(store.log).encode(), []
                self.answer(200, body)
                store.log.clear()
                return
            elif name == "most":
                body, store.most = json.dumps({"most": store.most}).encode(), store.now
                self.answer(200, body)
                store.log.pop()
                return
            self.answer(200)
            store.log.pop()

    def failed(self, fault, name):
        """Whether the fault was the answer."""
        do = fault["do"]
        if do == "status":
            after = [("Retry-After", str(fault["retry_after"]))] if "retry_after" in fault else []
            self.fail(fault["status"], fault.get("code", "Fault"), after)
        elif do == "expired":
            self.fail(403, "ExpiredToken")
        elif do == "redirect":
            self.answer(307, headers=[("Location", self.path)])
        elif do == "reset":
            self.reset()
        elif do == "replace":
            with self.store.lock:
                self.store.objects[name] = Object(fault["body"].encode())
            return False
        elif do == "delay":
            time.sleep(fault["seconds"])
            return False
        else:
            self.cut = do
            return False
        return True

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    # Objects

    def object(self, name):
        found = self.store.objects.get(name)
        if self.command == "DELETE":
            if "uploadId" in self.query:
                self.store.uploads.pop(self.query["uploadId"], None)
            else:
                self.store.objects.pop(name, None)
            return self.answer(204)
        if "uploads" in self.query or "uploadId" in self.query:
            return self.upload(name)
        if self.headers.get("If-None-Match") == "*" and found:
            return self.fail(412, "PreconditionFailed")
        wanted = self.headers.get("x-goog-if-generation-match")
        if wanted and wanted != (found.generation if found else "0"):
            return self.fail(412, "PreconditionFailed")
        if "If-Match" in self.headers and (not found or self.headers["If-Match"] != found.tag):
            return self.fail(412, "PreconditionFailed")
        self.store.objects[name] = made = Object(self.body)
        return self.answer(200, headers=made.tags())

    def get(self, found):
        if not found:
            return self.fail(404, "NoSuchKey")
        if self.headers.get("If-Match", found.tag) != found.tag:
            return self.fail(412, "PreconditionFailed")
        headers = [*found.tags(), ("Last-Modified", email.utils.formatdate(found.time, usegmt=True)), ("Accept-Ranges", "bytes")]
        asked = self.headers.get("Range")
        if self.command == "HEAD" or not asked:
            return self.send(200, found.body, headers)
        first, _, last = asked.removeprefix("bytes=").partition("-")
        size = len(found.body)
        if not first:
            first, last = max(0, size - int(last)), size - 1
        first, last = int(first), min(int(last or size - 1), size - 1)
        if first > last:
            return self.fail(416, "InvalidRange", [("Content-Range", "bytes */%d" % size)])
        headers.append(("Content-Range", "bytes %d-%d/%d" % (first, last, size)))
        return self.send(206, found.body[first : last + 1], headers)

    def send(self, status, body, headers):
        if self.command == "HEAD":
            self.answer(status, b"", headers, length=len(body))
        elif self.cut == "cut":
            self.answer(status, body[: len(body) // 2], headers, length=len(body))
            self.close_connection = True
        elif self.cut == "short":
            self.answer(status, body[:-1], headers)
        elif self.cut == "long":
            self.answer(status, body + b"x", headers)
        else:
            self.answer(status, body, headers)

    def upload(self, name):
        uploads = self.store.uploads
        if "uploads" in self.query:
            number = str(len(uploads) + 1) + hashlib.md5(name.encode()).hexdigest()
            uploads[number] = {}
            return self.xml("InitiateMultipartUploadResult", "<UploadId>%s</UploadId>" % number)
        parts = uploads.get(self.query["uploadId"])
        if parts is None:
            return self.fail(404, "NoSuchUpload")
        if self.command == "PUT":
            part = Object(self.body)
            parts[int(self.query["partNumber"])] = part
            return self.answer(200, headers=[("ETag", part.tag)])
        if self.headers.get("If-None-Match") == "*" and name in self.store.objects:
            return self.fail(412, "PreconditionFailed")
        tree = xml.etree.ElementTree.fromstring(self.body)
        numbers = [int(it.text) for it in tree.iter() if it.tag.endswith("PartNumber")]
        if not numbers or any(number not in parts for number in numbers):
            return self.fail(400, "InvalidPart")
        body = b"".join(parts[number].body for number in numbers)
        tag = '"%s-%d"' % (hashlib.md5(body).hexdigest(), len(numbers))
        self.store.objects[name] = made = Object(body, tag)
        del uploads[self.query["uploadId"]]
        return self.xml("CompleteMultipartUploadResult", "<ETag>%s</ETag>" % escape(tag), made.tags())

    # Buckets

    def list(self, bucket):
        if self.command == "HEAD":
            return self.answer(200)
        start = bucket + "/" + self.query.get("prefix", "")
        after = self.query.get("continuation-token") or self.query.get("start-after", "")
        names = sorted(it for it in self.store.objects if it.startswith(start))
        keys = [it[len(bucket) + 1 :] for it in names]
        if self.query.get("delimiter"):
            skipped = len(self.query.get("prefix", ""))
            keys = sorted({key[: key.find("/", skipped) + 1] or key for key in keys})
        left = [key for key in keys if key > after]
        page = left[: min(self.store.page, int(self.query.get("max-keys", 1000)))]
        is_more = len(page) < len(left)
        token = page[-1] if is_more else ""
        if self.cut == "same_token":
            page, is_more, token = keys[: self.store.page], True, "same"
        inner = "<Name>%s</Name><KeyCount>%d</KeyCount>" % (escape(bucket), len(page))
        inner += "<IsTruncated>%s</IsTruncated>" % ("true" if is_more else "false")
        if is_more or self.cut == "empty_token":
            inner += "<NextContinuationToken>%s</NextContinuationToken>" % quoted(token)
        return self.xml("ListBucketResult", inner + "".join(map(self.listed, [bucket] * len(page), page)))

    def listed(self, bucket, key):
        if key.endswith("/") and bucket + "/" + key not in self.store.objects:
            return "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>" % quoted(key)
        found = self.store.objects[bucket + "/" + key]
        when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(found.time))
        return "<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>%s</ETag><Size>%d</Size></Contents>" % (
            quoted(key), when, escape(found.tag), len(found.body))

    def delete_many(self, bucket):
        tree = xml.etree.ElementTree.fromstring(self.body)
        keys = [it.text for it in tree.iter() if it.tag.endswith("Key")]
        for key in keys:
            self.store.objects.pop(bucket + "/" + key, None)
        return self.xml("DeleteResult", "".join("<Deleted><Key>%s</Key></Deleted>" % quoted(key) for key in keys))


def quoted(text):
    return escape(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        """A client that goes away in the middle is nothing to tell of."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--page", type=int, default=1000)
    parser.add_argument("--faults", type=pathlib.Path)
    told = parser.parse_args()
    Handler.store = Store(told.page)
    if told.faults:
        Handler.store.rules = [Rule(rule) for rule in json.loads(told.faults.read_text())]
    server = Server((told.host, told.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
