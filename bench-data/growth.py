"""What grows with the number of processes: work, memory, and the bytes between them.

    python3 bench-data/growth.py --program target/release/dupsieve [--processes 1,2,4,8,16,32,64] [--steps pages,file,join,quiet,cluster] [--rounds 1]
        [--pages 2e5] [--file-pages 1e4] [--store 2e7] [--batch 4e5] [--planted 1e5] [--delay 0.001] [--link 125e6] [--mtu 9000]

Each process has a network namespace, a home, a cache and one worker of its own. Nothing is common to them but an object store, tests/objects_server.py,
where inputs, store and outputs are; `cluster` alone has inputs and output in a common folder, because at an address it is the work of process 0. A router joins the
namespaces: every packet waits for `--delay`, and no process sends or receives more than `--link` bytes a second. It counts the bytes of all packets by sender and receiver.
Prints a line of JSON for each step and number of processes: processor seconds, memory, and bytes of each process. Ends with 1 if an output is not the same
bytes for every number of processes; with 0, saying so, where namespaces cannot be made. That takes root, iproute2 and /dev/net/tun.
The clock tells nothing here, because all processes share the cores of one machine. The program needs the feature `object-store`.
"""

import argparse
import fcntl
import hashlib
import heapq
import json
import multiprocessing
import os
import pathlib
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

SERVER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "objects_server.py"
DAY = "2026-01-01"
# The number of the machine that has the object store.
STORE = 255
JOINED = ["verdicts.tsv", "matches.tsv", "keep.txt", "drop.txt"]
MADE = {"pages": ["pages.seg"], "file": ["file.seg"], "join": JOINED, "quiet": JOINED, "cluster": ["clusters.tsv", "sizes.tsv"]}


def shell(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)


def address(machine):
    return f"10.78.0.{machine + 1}" if machine != STORE else "10.78.1.1"


def device(machine, mtu):
    """A device of a network, in a namespace of its own, and the file from which its packets are read. The machine with the store is this one."""
    name = f"growth{machine}"
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    # A device without Ethernet, and without a header before each packet.
    fcntl.ioctl(file, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x0001 | 0x1000))
    inside = []
    if machine != STORE:
        shell("ip", "netns", "add", name)
        shell("ip", "link", "set", name, "netns", name)
        inside = ["-n", name]
        shell("ip", *inside, "link", "set", "lo", "up")
    shell("ip", *inside, "address", "add", f"{address(machine)}/16", "dev", name)
    shell("ip", *inside, "link", "set", name, "mtu", mtu, "txqueuelen", 10000, "up")
    return file


def route(files, told, sent):
    """Carries packets between machines for ever, and adds their bytes to `sent`, by sender and receiver."""
    machines = len(files)
    place = {bytes(map(int, address(machine).split("."))): at for at, machine in enumerate([*range(machines - 1), STORE])}
    waits = select.poll()
    for file in files:
        waits.register(file, select.POLLIN)
    at_of = {file: at for at, file in enumerate(files)}
    free_out, free_in, under_way, number = [0.0] * machines, [0.0] * machines, [], 0
    while True:
        pause = max(0, under_way[0][0] - time.monotonic()) * 1000 if under_way else None
        for file, _ in waits.poll(pause):
            at = at_of[file]
            for _ in range(64):
                try:
                    packet = os.read(file, 65536)
                except BlockingIOError:
                    break
                to = place.get(packet[16:20])
                if to is None or packet[0] >> 4 != 4:
                    continue
                sent[at * machines + to] += len(packet)
                due = time.monotonic()
                # The machine with the store has a link as wide as all others together.
                if at != machines - 1:
                    due = free_out[at] = max(due, free_out[at]) + len(packet) / told.link
                if to != machines - 1:
                    due = free_in[to] = max(due, free_in[to]) + len(packet) / told.link
                number += 1
                heapq.heappush(under_way, (due + told.delay, number, to, packet))
        now = time.monotonic()
        while under_way and under_way[0][0] <= now:
            _, _, to, packet = heapq.heappop(under_way)
            try:
                os.write(files[to], packet)
            except OSError:
                pass  # As on any network, a packet for which there is no room is lost.


class Network:
    """The namespaces of some processes, and the router."""

    def __init__(self, told, processes):
        self.processes = processes
        self.remove()
        self.machines = processes + 1
        files = [device(machine, told.mtu) for machine in [*range(processes), STORE]]
        self.sent = multiprocessing.RawArray("Q", self.machines * self.machines)
        self.router = multiprocessing.Process(target=route, args=(files, told, self.sent), daemon=True)
        self.router.start()
        for file in files:
            os.close(file)

    def taken(self):
        """What was sent since the last time: rows of bytes by receiver; the last machine is the store."""
        flat = list(self.sent)
        for at in range(len(flat)):
            self.sent[at] = 0
        return [flat[at : at + self.machines] for at in range(0, len(flat), self.machines)]

    def remove(self):
        for machine in range(self.processes):
            subprocess.run(["ip", "netns", "del", f"growth{machine}"], capture_output=True)

    def end(self):
        self.router.kill()
        self.router.join()
        self.remove()


class Store:
    """The object store, which all machines reach."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, SERVER, "--host", "0.0.0.0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())["port"]

    def environment(self, host, disk):
        (disk / "tmp").mkdir(parents=True, exist_ok=True)
        return {"PATH": os.environ["PATH"], "HOME": str(disk), "TMPDIR": str(disk / "tmp"), "AWS_ENDPOINT_URL": f"http://{host}:{self.port}",
                "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}

    def ask(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", body, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def load(self, folder, prefix):
        self.ask("PUT", "-/load", json.dumps({"folder": str(folder), "bucket": "b", "prefix": prefix}).encode())

    def made(self, output, name):
        """What stands under the name in an output: an object of its own, or one that the list of the output names."""
        if output.endswith(".seg"):
            return self.ask("GET", f"b/{output}")
        files = json.loads(self.ask("GET", f"b/{output}/_SUCCESS"))["files"]
        return self.ask("GET", f"b/{output}/{files[name]['object']}")


class Bench:
    def __init__(self, told, home):
        self.told, self.home, self.store, self.digests, self.runs = told, home, Store(), {}, 0
        self.program = told.program.resolve()

    def here(self, *words):
        words = [str(self.program), "--quiet", *map(str, words)]
        subprocess.run(words, check=True, env=self.store.environment("127.0.0.1", self.home), cwd=self.home, stdout=subprocess.DEVNULL)

    def prepare(self):
        told, steps = self.told, self.told.steps
        if "pages" in steps or "file" in steps:
            for name, count, files in [("pages", int(told.pages), told.files), ("file", int(told.file_pages), 1)]:
                self.here("generate", "documents", "--count", count, "--output", "all.jsonl")
                (self.home / name).mkdir()
                parts = [open(self.home / name / f"{part:04}.jsonl", "wb") for part in range(files)]
                with open(self.home / "all.jsonl", "rb") as lines:
                    for at, line in enumerate(lines):
                        parts[at * files // count].write(line)
                for part in parts:
                    part.close()
                self.store.load(self.home / name, name)
                shutil.rmtree(self.home / name)
                (self.home / "all.jsonl").unlink()
        (self.home / "b").mkdir()
        self.here("generate", "segment", "--count", int(told.store), "--output", "s.seg")
        self.here("generate", "segment", "--count", int(told.batch), "--seed", 2, "--near", "s.seg", "--planted", int(told.planted),
                  "--ids", "numbers", "--output", "b/b.seg")
        self.here("generate", "segment", "--count", int(told.batch), "--seed", 3, "--ids", "numbers", "--output", "b/quiet.seg")
        self.store.load(self.home / "b", "batch")
        self.here("store", "init", "s3://b/store")
        self.here("store", "add", "s3://b/store", "--segment", "s.seg", "--day", DAY)
        (self.home / "s.seg").unlink()
        if "cluster" in steps:
            self.here("dedup", "--batch", "s3://b/batch/b.seg", "--store", "s3://b/store", "--distance", 6, "--output", self.home / "found")

    def words(self, step, output):
        if step in ("pages", "file"):
            return ["fingerprint", "--input", f"s3://b/{step}/", "--output", f"s3://b/{output}"]
        if step in ("join", "quiet"):
            batch = "b" if step == "join" else "quiet"
            return ["dedup", "--batch", f"s3://b/batch/{batch}.seg", "--store", "s3://b/store", "--distance", "6", "--output", f"s3://b/{output}"]
        return ["cluster", "--from", self.home / "found", "--method", "components", "--output", self.home / output]

    def run(self, network, step):
        """Runs a step on all machines, and tells what each of them took."""
        processes = network.processes
        self.runs += 1
        output = f"{step}-{self.runs}" + (".seg" if step in ("pages", "file") else "")
        (self.home / "hosts").write_text("".join(f"{address(number)}:2101\n" for number in range(processes)))
        (self.home / "secret").write_text("known to all of us\n")
        (self.home / "secret").chmod(0o600)
        several = ["--hosts", self.home / "hosts", "--secret-file", self.home / "secret", "--peer-timeout", "120", "--wait-for-peers", "300"]
        network.taken()
        began, children = time.monotonic(), {}
        for number in range(processes):
            disk = self.home / f"disk-{number}"
            environment = self.store.environment(address(STORE), disk)
            words = ["ip", "netns", "exec", f"growth{number}", self.program, "--quiet", *self.words(step, output), "--workers", "1", "--memory", self.told.memory]
            words += [*several, "--process", number] if processes > 1 else []
            child = subprocess.Popen([str(word) for word in words], env=environment, cwd=disk, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            children[child.pid] = (number, child)
        usages = [None] * processes
        while children:
            pid, status, usage = os.wait4(-1, 0)
            if pid in children:
                number, child = children.pop(pid)
                if status != 0:
                    raise SystemExit(f"{step}, process {number} of {processes}: {os.waitstatus_to_exitcode(status)}: {child.stderr.read()}")
                usages[number] = usage
        seconds, sent = time.monotonic() - began, network.taken()
        for number in range(processes):
            shutil.rmtree(self.home / f"disk-{number}")
        self.compare(step, output)
        return figures(step, processes, seconds, usages, sent)

    def compare(self, step, output):
        """Ends the program if the outputs differ from those of another number of processes."""
        digest = hashlib.sha256()
        for name in MADE[step]:
            digest.update((self.home / output / name).read_bytes() if step == "cluster" else self.store.made(output, name))
        if self.digests.setdefault(step, digest.hexdigest()) != digest.hexdigest():
            raise SystemExit(f"{output}: other bytes than for another number of processes")


def figures(step, processes, seconds, usages, sent):
    """The figures of a run. Those of process 0 stand apart, because it has work that the others do not have."""
    times = [usage.ru_utime + usage.ru_stime for usage in usages]
    others = slice(1, processes) if processes > 1 else slice(0, 1)
    between = [row[:processes] for row in sent[:processes]]
    from_store = sent[processes][:processes]
    to_first = sum(row[0] for row in between)
    from_first = sum(between[0])
    all_between = sum(map(sum, between))
    rest = [sum(row[1:]) for row in between[1:]]
    memory = [usage.ru_maxrss / 1024 for usage in usages]

    def spread(values):
        return {"mean": round(sum(values) / len(values), 3), "least": round(min(values), 3), "most": round(max(values), 3)}

    return {"step": step, "processes": processes, "clock": round(seconds, 1), "processor_all": round(sum(times), 2), "processor_first": round(times[0], 2),
            "processor_others": spread(times[others]), "system_all": round(sum(usage.ru_stime for usage in usages), 2), "memory_first": round(memory[0], 1), "memory_others": spread(memory[others]),
            "between": all_between, "to_first": to_first, "from_first": from_first, "among_others": sum(rest),
            "from_store_all": sum(from_store), "from_store_first": from_store[0], "from_store_others": spread(from_store[others]),
            "to_store_all": sum(row[processes] for row in sent[:processes])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("target/release/dupsieve"))
    parser.add_argument("--processes", default="1,2,4,8,16,32,64", type=lambda text: [int(it) for it in text.split(",")])
    parser.add_argument("--steps", default="pages,file,join,quiet,cluster", type=lambda text: text.split(","))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pages", type=float, default=2e5)
    parser.add_argument("--files", type=int, default=256)
    parser.add_argument("--file-pages", type=float, default=1e4)
    parser.add_argument("--store", type=float, default=2e7)
    parser.add_argument("--batch", type=float, default=4e5)
    parser.add_argument("--planted", type=float, default=1e5)
    parser.add_argument("--memory", default="512MiB")
    parser.add_argument("--delay", type=float, default=0.001)
    parser.add_argument("--link", type=float, default=125e6)
    parser.add_argument("--mtu", type=int, default=9000)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(told, pathlib.Path(home))
        bench.prepare()
        for processes in told.processes:
            try:
                network = Network(told, processes)
            except (subprocess.CalledProcessError, OSError) as cause:
                print(f"skipped: no network namespaces here: {cause}")
                return
            try:
                for step in told.steps * told.rounds:
                    print(json.dumps(bench.run(network, step)), flush=True)
            finally:
                network.end()


if __name__ == "__main__":
    main()
