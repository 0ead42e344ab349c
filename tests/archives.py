"""Web archives, held against fastwarc and warcio:

    python3 tests/archives.py target/release/dupsieve [--archives DIR]

1. Makes archives of every shape that crawlers leave, with the writers of both packages where they have one. What they hold is known:
   dupsieve must count these records by type, and read these texts.
2. In DIR must be the archives that tests/data/archives.tsv names, the very files, and dupsieve must count in them what stands there. They
   are test data of aut, chatnoir-resiliparse, dolma, jwarc, oscar-io, pywb, warc-specifications, warcio and whirlwind-python, by their prefix.

Of each archive, both packages must count the same records, but where it is said below, or in the table, why one reads it otherwise."""

import argparse
import collections
import contextlib
import csv
import gzip
import hashlib
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import zlib

import fastwarc
import fastwarc.stream_io
import warcio.archiveiterator
import warcio.warcwriter

SAMPLES = pathlib.Path(__file__).parent / "data" / "archives.tsv"
# The types of records, as dupsieve counts them; `page` stands for all that may hold one.
KINDS = {"response": "page", "resource": "page", "conversion": "page", "warcinfo": "archive_info", "request": "request",
         "revisit": "revisit", "metadata": "metadata"}
# What becomes of some of them.
FATES = ["quarantined", "repeated"]
COUNTS = [*dict.fromkeys(KINDS.values()), "other_type", *FATES]
TIME = "2026-11-18T00:00:00Z"
Record = collections.namedtuple("Record", "kind url block")


class Archive:
    """A file with what is in it: its records by type, the texts of its pages, and how many records are quarantined and repeated. `unlike`
    says which packages count other records, and why."""

    def __init__(self, name, content, records, texts, bad=0, repeated=0, unlike=None):
        self.name, self.content, self.texts, self.unlike = name, content, texts, unlike or {}
        self.counts = by_type(record.kind for record in records) + collections.Counter(quarantined=bad, repeated=repeated)


def by_type(kinds):
    """Records by type, named as dupsieve's counts are."""
    return collections.Counter(KINDS.get(kind, "other_type") for kind in kinds)


# The crawl that is written in every shape.

def text(number):
    """The text of a page that is like no other."""
    chance = random.Random(number)
    return " ".join("".join(chance.choices("abcdefghij", k=6)) for _ in range(80)) + " 公园"


def packed(writer, content):
    out = io.BytesIO()
    with writer(out) as stream:
        stream.write(content)
    return out.getvalue()


def chunked(body, size=100):
    parts = [body[at:at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def response(body, *headers, status="200 OK", media="text/html; charset=utf-8"):
    head = "".join(f"{line}\r\n" for line in [f"HTTP/1.1 {status}", f"Content-Type: {media}", *headers])
    return head.encode() + b"\r\n" + body


def page(number, code=lambda body: body, *headers):
    body = f"<!doctype html><title></title><p>{text(number)}".encode()
    return response(code(body), *headers)


def crawl():
    """Records of every type, with bodies in every coding; and the texts of its pages."""
    stream = fastwarc.stream_io
    codings = {
        "plain": page(0),
        "gzip": page(1, gzip.compress, "Content-Encoding: gzip"),
        "deflate": page(2, zlib.compress, "Content-Encoding: deflate"),
        "brotli": page(3, lambda body: packed(stream.BrotliWriter, body), "Content-Encoding: br"),
        "zstd": page(4, lambda body: packed(stream.ZstdWriter, body), "Content-Encoding: zstd"),
        "chunked": page(5, chunked, "Transfer-Encoding: chunked"),
        "both": page(6, lambda body: chunked(gzip.compress(body)), "Transfer-Encoding: chunked", "Content-Encoding: gzip"),
        "unpacked": page(7, lambda body: body, "Transfer-Encoding: chunked", "Content-Encoding: gzip"),
        "broken-chunk": page(8, lambda body: chunked(body)[:-5] + b"xyz\r\n", "Transfer-Encoding: chunked"),
        "two-lines": page(9, gzip.compress, "Content-Encoding: identity", "Content-Encoding: gzip"),
        "transferred": page(10, lambda body: chunked(gzip.compress(body)), "Transfer-Encoding: gzip, chunked"),
        "layers": page(11, lambda body: gzip.compress(zlib.compress(body)), "Content-Encoding: gzip, deflate"),
    }
    # Of a body whose last chunk has no length, nobody knows whether it is whole.
    texts = {f"http://{name}.example/": text(number) for number, name in enumerate(codings) if name != "broken-chunk"}
    records = [Record("warcinfo", "", b"software: none\r\n")]
    for name, block in codings.items():
        url = f"http://{name}.example/"
        records += [Record("request", url, b"GET / HTTP/1.1\r\nHost: %s.example\r\n\r\n" % name.encode()),
                    Record("response", url, block), Record("metadata", url, b"fetchTimeMs: 7\r\n")]
    records += [
        Record("response", "http://moved.example/", response(b"", status="301 Moved")),
        Record("response", "http://image.example/", response(b"\x89PNG\r\n\r\nWARC/1.0 ", media="image/png")),
        Record("revisit", "http://plain.example/", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"),
        Record("resource", "http://resource.example/", text(20).encode()),
        Record("conversion", "http://conversion.example/", text(21).encode()),
        Record("continuation", "http://conversion.example/", b"more"),
    ]
    texts |= {"http://resource.example/": text(20), "http://conversion.example/": text(21)}
    return records, texts


# Ways to write it.

def by_warcio(records, is_packed, version="1.0"):
    out = io.BytesIO()
    writer = warcio.warcwriter.WARCWriter(out, gzip=is_packed, warc_version=version)
    for kind, url, block in records:
        headers = {"WARC-Date": TIME}
        media = "text/plain" if kind in ("resource", "conversion") else ""
        writer.write_record(writer.create_warc_record(
            url, kind, payload=io.BytesIO(block), length=len(block), warc_content_type=media, warc_headers_dict=headers))
    return out.getvalue()


def by_fastwarc(records, writer=None):
    """With a writer, each record becomes a member or frame of its own."""
    out = io.BytesIO()
    stream = writer(out) if writer else out
    for kind, url, block in records:
        record = fastwarc.WarcRecord()
        record.init_headers(getattr(fastwarc.WarcRecordType, kind), content_length=len(block))
        record.headers["WARC-Target-URI"], record.headers["WARC-Date"] = url, TIME
        if kind in ("resource", "conversion"):
            record.headers["Content-Type"] = "text/plain"
        record.set_bytes_content(block)
        record.write(stream)
        if writer:
            stream.finish()
    stream.flush()
    return out.getvalue()


def by_hand(records, version="WARC/1.0", line_end="\r\n", between="\r\n\r\n", off=0):
    """As no writer would. The length of the second record is off by so much."""
    out = b""
    for at, (kind, url, block) in enumerate(records):
        length = len(block) + off * (at == 1)
        lines = [version, f"WARC-Type: {kind}", f"WARC-Record-ID: <urn:uuid:{at}>", f"WARC-Target-URI: {url}", f"WARC-Date: {TIME}",
                 "Content-Type: text/plain", f"Content-Length: {length}", "", ""]
        out += line_end.join(lines).encode() + block + between.encode()
    return out


def arc(records, version):
    """The records of an ARC file of this version, one by one."""
    columns = {1: "URL IP-address Archive-date Content-type Archive-length",
               2: "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length"}[version]
    about = f"{version} 0 Nobody\n{columns}\n\n".encode()
    more = {1: "", 2: " 200 - - 0 some.arc"}[version]
    blocks = [("filedesc://some.arc", "text/plain", about)] + [(url, "text/html", block) for _, url, block in records]
    return [f"{url} 1.2.3.4 20261118000000 {media}{more} {len(block)}\n".encode() + block + b"\n" for url, media, block in blocks]


# Why a package counts other records than there are.
ONE_MEMBER = {"warcio": "it wants a member of gzip for each record"}
NO_ZSTD = {"warcio": "it does not read zstd"}
NO_ARC = {"fastwarc": "it does not read ARC"}
LOST = "it goes by the length alone, and loses the next record or ends"


def whole():
    """The same crawl in every shape."""
    records, texts = crawl()
    stream = fastwarc.stream_io
    plain = by_fastwarc(records)
    shapes = [
        ("members.warc.gz", by_warcio(records, True), {}),
        ("plain.warc", by_warcio(records, False, "1.1"), {}),
        ("plain-by-fastwarc.warc", plain, {}),
        ("members-by-fastwarc.warc.gz", by_fastwarc(records, stream.GzipWriter), {}),
        ("one-member.warc.gz", gzip.compress(plain), ONE_MEMBER),
        ("frames.warc.zst", by_fastwarc(records, stream.ZstdWriter), NO_ZSTD),
        ("one-frame.warc.zst", packed(stream.ZstdWriter, plain), NO_ZSTD),
        ("old.warc", by_hand(records, "WARC/0.18"), {}),
        ("lf.warc", by_hand(records, line_end="\n", between="\n\n"), {"fastwarc": "it wants heads that end in CRLF"}),
        ("folded.warc", by_hand(records).replace(b"URI: http", b"URI:\r\n http"), {}),
        ("one-line-end.warc", by_hand(records, between="\r\n"), {}),
        ("no-line-end.warc", by_hand(records, between=""), {"warcio": "it takes the first line of the next record for the end of this one"}),
        ("many-line-ends.warc", by_hand(records, between="\r\n" * 9), {}),
    ]
    return [Archive(name, content, records, texts, bad=1, unlike=unlike) for name, content, unlike in shapes]


def of_one_kind():
    """Archives of texts, of metadata, and of the format before WARC."""
    info = Record("warcinfo", "", b"software: none\r\n")
    texts = {f"http://{number}.example/": text(number) for number in range(30, 36)}
    wet = [info] + [Record("conversion", url, words.encode()) for url, words in texts.items()]
    wat = [info] + [Record("metadata", url, b"{}") for url in texts]
    pages = [Record("response", url, page(number)) for number, url in enumerate(texts, 30)]
    one, two = arc(pages, 1), arc(pages, 2)
    odd = b"".join(one).replace(b"text/html", b"text/html, application/x-y", 1).replace(b" 20261118000000 text/html ", b" 202611180000 text/html ", 1)
    archives = [
        Archive("texts.warc.wet.gz", by_warcio(wet, True), wet, texts),
        Archive("metadata.warc.wat.gz", by_warcio(wat, True), wat, {}),
        Archive("copies.warc.gz", by_warcio(pages, True) * 3, pages * 3, texts, repeated=2 * len(pages)),
        Archive("members.arc.gz", b"".join(map(gzip.compress, one)), [info, *pages], texts, unlike=NO_ARC),
        Archive("plain.arc", b"".join(one), [info, *pages], texts, unlike=NO_ARC),
        Archive("odd.arc", odd, [info, *pages], texts, unlike=NO_ARC),
        Archive("two.arc", b"".join(two), [info, *pages], texts, unlike=NO_ARC),
        Archive("two.arc.gz", gzip.compress(b"".join(two)), [info, *pages], texts, unlike=NO_ARC | ONE_MEMBER),
    ]
    return archives


def broken():
    """Archives of four pages, of which one cannot be read."""
    texts = {f"http://{number}.example/": text(number) for number in range(40, 44)}
    pages = [Record("response", url, page(number)) for number, url in enumerate(texts, 40)]
    all_but = lambda lost: {url: words for at, (url, words) in enumerate(texts.items()) if at != lost}
    both = {"fastwarc": LOST, "warcio": LOST}
    plain, empty = by_hand(pages), [Record("response", "http://empty.example/", b"")]
    archives = [
        Archive("clipped.warc.gz", by_warcio(pages, True)[:-300], pages, all_but(3), bad=1),
        Archive("clipped.warc", plain[:-300], pages, all_but(3), bad=1),
        Archive("too-short.warc", by_hand(pages, off=-300), pages, all_but(1), bad=1, unlike={"fastwarc": LOST}),
        Archive("too-long.warc", by_hand(pages, off=50), pages, all_but(1), bad=1, unlike=both),
        Archive("over-the-next.warc", by_hand(pages, off=5000), pages, all_but(1), bad=1, unlike=both),
        Archive("over-the-end.warc", by_hand(pages, off=1 << 40), pages, all_but(1), bad=1, unlike=both),
        Archive("no-length.warc", plain.replace(b"Content-Length", b"Other-Length", 1), pages, all_but(0), bad=1, unlike=both),
        Archive("zeros.warc", plain[:-2] + bytes(512), pages, all_but(3), bad=1),
        Archive("empty.warc", by_hand(pages + empty), pages + empty, texts, bad=1),
    ]
    return archives


# What is read.

class Dupsieve:
    """The program, with a folder for what it writes."""

    def __init__(self, program, home):
        self.program, self.home, self.known = program, home, {}

    def run(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True)

    def read(self, path, form):
        """The counts of a file of pages, and the fingerprints of the pages by id."""
        segment = self.home / f"{path.name}.seg"
        ended = self.run("fingerprint", "--preset", "paper", "--format", form, "--input", path, "--output", segment,
                         "--max-bad", "100%", "--max-repeated", "100%", "--accept-truncated")
        summary = json.loads(ended.stdout.splitlines()[-1])
        if ended.returncode != 0:
            return {"failed": summary["error"]}, {}
        dump = self.run("inspect", segment, "--dump").stdout
        rows = (line.split("\t") for line in dump.splitlines() if "\t" in line)
        return summary["counts"], {row[0]: row[1] for row in rows}

    def archive(self, path):
        """The records of an archive by type, what could not be taken of them, and the fingerprints of the pages by id."""
        counts, pages = self.read(path, "warc")
        if "failed" in counts:
            return counts, pages
        types = {name: counts.get(f"skipped_{name}", 0) for name in COUNTS if name not in FATES}
        types["page"] = counts["read"] + counts.get("skipped", 0) - sum(types.values())
        return collections.Counter(types | {name: counts[name] for name in FATES}), pages

    def texts(self, texts):
        """The fingerprints of these texts by id."""
        lines = "".join(json.dumps({"id": url, "text": words}) + "\n" for url, words in texts.items())
        if lines not in self.known:
            path = self.home / f"texts-{len(self.known)}.jsonl"
            path.write_text(lines)
            self.known[lines] = self.read(path, "jsonl")[1]
        return self.known[lines]


def by_others(content):
    """The records by type that each package counts, as far as it gets."""
    fast = lambda: fastwarc.ArchiveIterator(io.BytesIO(content), parse_http=False)
    slow = lambda: warcio.archiveiterator.ArchiveIterator(io.BytesIO(content), arc2warc=True, no_record_parse=True)
    return {"fastwarc": by_type(kinds(fast, "record_type")), "warcio": by_type(kinds(slow, "rec_type"))}


def kinds(archive, name):
    read = []
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(Exception):
        read.extend(str(getattr(record, name)) for record in archive())
    return read


# What is held against what.

class Comparison:
    """Prints each archive, and counts what is wrong."""

    def __init__(self, dupsieve, home):
        self.dupsieve, self.home, self.wrong = dupsieve, home, 0

    def check(self, holds, what):
        if not holds:
            self.wrong += 1
            print(f"  WRONG: {what}")

    def counts(self, path, expected, unlike):
        """Holds the counts of an archive against those expected, and against the packages. Returns the fingerprints of its pages."""
        print(f"{path.name}: {shown(expected)}", flush=True)
        ours, pages = self.dupsieve.archive(path)
        self.check(ours == expected, f"dupsieve counts {shown(ours)}")
        records = collections.Counter({name: count for name, count in expected.items() if name not in FATES})
        for name, theirs in by_others(path.read_bytes()).items():
            if name not in unlike:
                self.check(theirs == records, f"{name} counts {shown(theirs)}")
            elif theirs == records:
                print(f"  {name} counts the same now, though it is said that {unlike[name]}")
        return pages

    def made(self, archive):
        """An archive that was made here."""
        path = self.home / archive.name
        path.write_bytes(archive.content)
        pages = self.counts(path, archive.counts, archive.unlike)
        self.check(pages == self.dupsieve.texts(archive.texts), "the texts of the pages are others")

    def sample(self, folder, row):
        """An archive of a folder, which a row of the table tells of."""
        path = folder / row["name"]
        if not path.exists():
            return self.check(False, f"{path.name} is not there")
        content = path.read_bytes()
        is_same = len(content) == int(row["bytes"]) and hashlib.sha256(content).hexdigest() == row["sha256"]
        self.check(is_same, f"{path.name} is another file than the one that was counted")
        expected = collections.Counter({name: int(row[name]) for name in COUNTS})
        self.counts(path, expected, {row["unlike"]: row["reason"]})


def shown(counts):
    return ", ".join(f"{counts[name]} {name}" for name in [*COUNTS, "failed"] if counts.get(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--archives", type=pathlib.Path, metavar="DIR")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="archives-") as home:
        home = pathlib.Path(home)
        comparison = Comparison(Dupsieve(asked.program.resolve(), home), home)
        for archive in [*whole(), *of_one_kind(), *broken()]:
            comparison.made(archive)
        if asked.archives:
            with SAMPLES.open() as table:
                for row in csv.DictReader(table, delimiter="\t"):
                    comparison.sample(asked.archives, row)
    if comparison.wrong:
        sys.exit(f"{comparison.wrong} wrong")
    print("every archive was read as it was written, and as fastwarc and warcio read it")


if __name__ == "__main__":
    main()
