"""A join that takes a while, alone and by two processes that meet at addresses of their own."""

import socket

from bench import Running, files

JOB = "dedup --batch batch.seg --store store --distance 5 --matches all"
FEW, MANY = ["--count", "1e5", "--density", "1e6"], ["--count", "2e6", "--density", "2e7"]
SILENCE, ARRIVAL = 2, 3


class Crowd:
    """The join in a folder of its own, and the bytes it makes."""

    def __init__(self, bench):
        self.bench, self.home = bench, bench.scratch / "crowd"
        self.home.mkdir()
        bench.done(self.home, "generate", "segment", *MANY, "--output", "store.seg")
        bench.done(self.home, "generate", "segment", *FEW, "--seed", "2", "--near", "store.seg", "--planted", "5e4",
                   "--truth", "truth.tsv", "--output", "batch.seg")
        bench.done(self.home, "store", "init", "store")
        bench.done(self.home, "store", "add", "store", "--segment", "store.seg", "--day", "2026-01-01")
        self.seconds = bench.done(self.home, *self.words("alone")).seconds
        self.expected = files(self.home / "alone")
        (self.home / "secret").write_text("known to the two of us\n")
        (self.home / "secret").chmod(0o600)

    def words(self, output, *flags):
        return [*JOB.split(), "--output", output, *flags]

    def start(self, output, *flags):
        return Running(self.bench.command(*self.words(output, *flags)), self.home)

    def is_right(self, output):
        return files(self.home / output) == self.expected

    def hosts(self, output):
        """Two addresses that are free, in a hosts file."""
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        addresses = [one.getsockname() for one in sockets]
        for one in sockets:
            one.close()
        (self.home / f"{output}.hosts").write_text("".join(f"{host}:{port}\n" for host, port in addresses))
        return addresses

    def process(self, output, number, silence=SILENCE, arrival=ARRIVAL):
        """Starts one of the two."""
        return self.start(output, "--hosts", f"{output}.hosts", "--process", str(number), "--secret-file", "secret",
                          "--workers", "1", "--peer-timeout", str(silence), "--wait-for-peers", str(arrival))
