"""Revisit records of `filter --revisits`, read by warcio and replayed by pywb:

    python3 tests/revisits.py target/release/dupsieve [--pywb]

warcio checks the digests of the archive and reads the heads of the revisits. With --pywb, which needs pywb and webtest, pywb indexes it,
and for each page serves the body that was crawled, with the headers of its own crawl."""

import io
import os
import pathlib
import subprocess
import sys
import tempfile

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

PROFILES = {version: f"http://netpreserve.org/warc/{version}/revisit/identical-payload-digest" for version in ("1.0", "1.1")}
SAME = b"<!doctype html><title>same</title><p>" + b"the same page under many addresses " * 40
NEAR = SAME + b"!"
CROWD = b"<!doctype html><p>" + b"a page that the crawler knew " * 40
# Address, time, body and how the record is written. The near one is never a revisit; no one of the crowd is, which a crawler's own revisit
# refers to.
PAGES = [
    ("http://a.example/", "2026-11-18T00:00:00Z", SAME, "response"),
    ("http://near.example/", "2026-11-18T00:00:01Z", NEAR, "response"),
    ("http://b.example/", "2026-11-18T00:00:02Z", SAME, "response"),
    ("http://a.example/", "2026-11-19T00:00:00Z", SAME, "response"),
    ("http://crowd.example/1", "2026-11-19T00:00:01Z", CROWD, "response"),
    ("http://crowd.example/2", "2026-11-19T00:00:02Z", CROWD, "response"),
    ("http://crowd.example/2", "2026-11-20T00:00:02Z", CROWD, "revisit"),
    ("http://c.example/", "2026-11-20T00:00:03Z", SAME, "response"),
    ("http://empty.example/1", "2026-11-20T00:00:04Z", b"", "response"),
    ("http://empty.example/2", "2026-11-20T00:00:05Z", b"", "response"),
]
REVISITS = [2, 3, 7]


def http(number, body):
    headers = [("Content-Type", "text/html"), ("Content-Length", str(len(body))), ("X-Number", str(number))]
    return StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")


class WithoutDigests(WARCWriter):
    """Leaves the digests of responses out, as other writers do."""

    def ensure_digest(self, record, block=True, payload=True):
        super().ensure_digest(record, block, payload)
        if record.rec_type != "revisit":
            record.rec_headers.remove_header("WARC-Block-Digest")
            record.rec_headers.remove_header("WARC-Payload-Digest")


def archive(version, has_digests):
    """The pages as warcio writes them."""
    out = io.BytesIO()
    writer = (WARCWriter if has_digests else WithoutDigests)(out, gzip=True, warc_version=version)
    writer.write_record(writer.create_warcinfo_record("crawl.warc.gz", {"software": "none"}))
    for number, (url, date, body, kind) in enumerate(PAGES):
        dated = {"WARC-Date": date}
        if kind == "revisit":
            known = writer.create_warc_record("http://x/", "response", payload=io.BytesIO(body), http_headers=http(number, body))
            WARCWriter.ensure_digest(writer, known, block=False, payload=True)
            digest = known.rec_headers.get_header("WARC-Payload-Digest")
            record = writer.create_revisit_record(url, digest, url, PAGES[number - 1][1], http_headers=http(number, body), warc_headers_dict=dated)
        else:
            record = writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=http(number, body), warc_headers_dict=dated)
            request = writer.create_warc_record(url, "request", payload=io.BytesIO(b""), warc_headers_dict=dated, http_headers=StatusAndHeaders(
                "GET / HTTP/1.1", [("Host", "x")], is_http_request=True))
            writer.write_record(request)
        writer.write_record(record)
    return out.getvalue()


def records(path):
    """Each record's type, heads and content."""
    found = []
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream):
            lines = record.http_headers.headers if record.http_headers else None
            found.append((record.rec_type, dict(record.rec_headers.headers), lines, record.raw_stream.read()))
    return found


def check_records(before, after, version):
    assert len(before) == len(after), (len(before), len(after))
    page, ids = -1, {}
    for (kind, head, lines, content), (new_kind, new, new_lines, new_content) in zip(before, after):
        page += kind in ("response", "revisit")
        if kind == "response" and page in REVISITS:
            url, date = PAGES[0][:2]
            assert (new_kind, new_content, new_lines) == ("revisit", b"", lines), new
            assert new["WARC-Profile"] == PROFILES[version], new
            assert (new["WARC-Refers-To-Target-URI"], new["WARC-Refers-To-Date"], new["WARC-Refers-To"]) == (url, date, ids[0]), new
            for name in ("WARC-Target-URI", "WARC-Date", "WARC-Record-ID", "Content-Type"):
                assert new[name] == head[name], name
            assert new["WARC-Payload-Digest"] == head.get("WARC-Payload-Digest", new["WARC-Payload-Digest"]), new
        else:
            assert (new_kind, new, new_lines, new_content) == (kind, head, lines, content), new
        if kind == "response":
            ids[page] = head["WARC-Record-ID"]


def replayed(folder, path):
    """What pywb serves for each page: its body, and the number in the headers of its crawl."""
    from webtest import TestApp

    bin_folder = pathlib.Path(sys.executable).parent
    for command in (["init", "crawl"], ["add", "crawl", path]):
        subprocess.run([bin_folder / "wb-manager", *command], cwd=folder, check=True, capture_output=True)
    os.chdir(folder)
    from pywb.apps.frontendapp import FrontEndApp

    served = TestApp(FrontEndApp(custom_config={"collections": {}}))
    for number, (url, date, body, _) in enumerate(PAGES):
        time = "".join(filter(str.isdigit, date))
        answer = served.get(f"/crawl/{time}id_/{url}")
        assert (answer.status_int, answer.body) == (200, body), (url, answer.status)
        number_served = answer.headers.get("X-Number", answer.headers.get("X-Archive-Orig-X-Number"))
        assert number_served == str(number), (number, number_served)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    for version, has_digests in [("1.0", True), ("1.1", True), ("1.1", False)]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            crawl = folder / "crawl.warc.gz"
            crawl.write_bytes(archive(version, has_digests))
            small = folder / "small.warc.gz"
            subprocess.run([program, "filter", "--input", crawl, "--revisits", "--output", small], check=True, capture_output=True)
            check_records(records(crawl), records(small), version)
            checked = subprocess.run([sys.executable, "-m", "warcio.cli", "check", small], capture_output=True, text=True)
            assert checked.returncode == 0, checked.stdout
            if "--pywb" in sys.argv:
                before = pathlib.Path.cwd()
                replayed(folder, small)
                os.chdir(before)
            print(f"WARC/{version}, {'with' if has_digests else 'without'} digests: {len(REVISITS)} revisits")


if __name__ == "__main__":
    main()
