"""The Indexed Job of configs/orchestrators/kubernetes.yaml without a cluster: what its pods meet, on this machine.

    python3 tests/indexed_job.py target/release/dupsieve [--pages 4000] [--seed 1] [--bucket]

With --bucket it is the Job of kubernetes-bucket.yaml: the pods have an object store (objects_server.py) and nothing else in common, and each
start of a pod finds an empty disk.

Each pod is a process in a network namespace of its own, with the arguments, the hosts and the configuration of that file. Pods start one
after the other, and a name resolves only some time after its pod has started, for its own pod too. On the second day a pod is killed at
some moment, and on the third each pod is, once. What fails is started again, with another address, until all have succeeded, as a Job does;
a pod that has succeeded is not. Prints a line of JSON for each day. Exits with 1 if a day does not come to its end, if a pod ends with a code
that the policy of the Job takes for final, if the outputs are not those of one process alone, or where namespaces cannot be made (that takes
root and iproute2) or there is no PyYAML.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE.parent / "configs" / "orchestrators"
ON_A_VOLUME, IN_A_BUCKET = "kubernetes.yaml", "kubernetes-bucket.yaml"
DAY = "2026-11-20"
DAYS = ["2026-11-20", "2026-11-21", "2026-11-22"]
NET, NETS = "dupsieve-net", pathlib.Path("/etc/netns")
# This machine, as the pods reach it.
HERE_ADDRESS = "10.78.254.1"
# Seconds: the most between the starts of two pods, the most until a name resolves, and what a day may take in all.
START, RESOLVE, PATIENCE = 1.0, 2.0, 300


def shell(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


class Names:
    """The names that the headless service gives, as a file of hosts in each namespace."""

    def __init__(self):
        self.known, self.coming = {}, []

    def say(self, name, address):
        """The name will resolve some time from now; until then an older address stays."""
        self.coming.append((time.monotonic() + random.uniform(0, RESOLVE), name, address))

    def tell(self):
        now = time.monotonic()
        ripe = [entry for entry in self.coming if entry[0] <= now]
        self.coming = [entry for entry in self.coming if entry[0] > now]
        for _, name, address in ripe:
            self.known[name] = address
        if ripe:
            text = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in self.known.items())
            for folder in NETS.glob("dupsieve-pod-*"):
                # In place, for the namespaces have this very file.
                (folder / "hosts").write_text(text)


class Bucket:
    """The object store of the pods."""

    def __init__(self):
        words = [sys.executable, HERE / "objects_server.py", "--host", HERE_ADDRESS]
        self.server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://{HERE_ADDRESS}:{json.loads(self.server.stdout.readline())['port']}"
        self.environment = {"AWS_ENDPOINT_URL": self.url, "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "a",
                            "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}

    def load(self, folder):
        told = json.dumps({"folder": str(folder), "bucket": "crawl", "prefix": "pages"}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/-/load", told, method="PUT")).close()

    def get(self, key):
        with urllib.request.urlopen(f"{self.url}/crawl/{key}") as answer:
            return answer.read()

    def files_of(self, output):
        """The same as `files_of` of a folder."""
        listed = json.loads(self.get(f"{output}/_SUCCESS"))["files"].items()
        tables = [(pathlib.Path(name), held["object"]) for name, held in listed if name.startswith("dedup/")]
        return {path.name: self.get(f"{output}/{held}") for path, held in tables if path.suffix in (".tsv", ".txt")}


class Pod:
    def __init__(self, index, name, words, disk, environment):
        self.index, self.name, self.words, self.disk, self.environment = index, name, words, disk, environment
        self.space, self.tries, self.process, self.code, self.log = f"dupsieve-pod-{index}", 0, None, None, None

    def start(self, names, addresses, log):
        """In a namespace made anew, with an address that no pod had before."""
        self.tries += 1
        address = f"10.78.{addresses[0] // 250}.{addresses[0] % 250 + 2}"
        addresses[0] += 1
        remove(self.space)
        (NETS / self.space).mkdir(parents=True, exist_ok=True)
        (NETS / self.space / "hosts").write_text("127.0.0.1 localhost\n")
        (NETS / self.space / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        shell("ip", "netns", "add", self.space)
        here, there = f"pod{addresses[0]}", "eth0"
        shell("ip", "link", "add", here, "netns", NET, "type", "veth", "peer", "name", there, "netns", self.space)
        shell("ip", "netns", "exec", NET, "ip", "link", "set", here, "master", "bridge", "up")
        shell("ip", "netns", "exec", self.space, "ip", "address", "add", f"{address}/16", "dev", there)
        for device in (there, "lo"):
            shell("ip", "netns", "exec", self.space, "ip", "link", "set", device, "up")
        names.say(self.name, address)
        environment = {"PATH": "/usr/bin:/bin", "DUPSIEVE_PROCESS": str(self.index), **self.environment}
        self.log = log / f"{self.index}-{self.tries}.log"
        shutil.rmtree(self.disk, ignore_errors=True)
        self.disk.mkdir(parents=True)
        words = [word.replace("=/cache", f"={self.disk}") for word in self.words]
        words = ["ip", "netns", "exec", self.space, *words]
        self.process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=open(self.log, "w"))
        self.code = None

    def wants_start(self):
        return self.process is None or self.code not in (None, 0)


def remove(space):
    subprocess.run(["ip", "netns", "del", space], capture_output=True)


def make_net():
    remove(NET)
    shell("ip", "netns", "add", NET)
    shell("ip", "netns", "exec", NET, "ip", "link", "add", "bridge", "type", "bridge")
    shell("ip", "netns", "exec", NET, "ip", "link", "set", "bridge", "up")
    shell("ip", "link", "add", "dupsieve-here", "type", "veth", "peer", "name", "here", "netns", NET)
    shell("ip", "netns", "exec", NET, "ip", "link", "set", "here", "master", "bridge", "up")
    shell("ip", "address", "add", f"{HERE_ADDRESS}/16", "dev", "dupsieve-here")
    shell("ip", "link", "set", "dupsieve-here", "up")


def remove_all(pods):
    for space in [NET, *(f"dupsieve-pod-{index}" for index in range(pods))]:
        remove(space)
        for file in [*(NETS / space).glob("*")]:
            file.unlink()
        if (NETS / space).is_dir():
            (NETS / space).rmdir()


class Job:
    """The Job of a file for one day, with its paths below a folder of this machine."""

    def __init__(self, yaml, program, file, home, day, environment):
        text = (FILES / file).read_text().replace(DAY, day)
        found = {part["kind"]: part for part in yaml.safe_load_all(text)}
        config, job = found["ConfigMap"]["data"], found["Job"]["spec"]
        [container] = job["template"]["spec"]["containers"]
        self.home, self.log = home, home / f"log-{day}"
        self.log.mkdir()
        (home / "data").mkdir(exist_ok=True)
        (home / "etc").mkdir(exist_ok=True)
        for name, contents in config.items():
            (home / "etc" / name).write_text(self.here(contents))
        (home / "secret").write_text("known to the pods\n")
        (home / "secret").chmod(0o400)
        self.words = [str(program), *(self.here(word) for word in container["args"])]
        names = [line.rsplit(":", 1)[0] for line in config["hosts.txt"].split()]
        assert len(names) == job["completions"] == job["parallelism"]
        self.pods = [Pod(index, name, self.words, home / f"disk-{index}", environment) for index, name in enumerate(names)]
        self.most = job["backoffLimit"]
        self.final = job["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"]

    def here(self, text):
        for path, folder in {"/etc/dupsieve/": "etc/", "/secret/secret": "secret", "/data/": "data/"}.items():
            text = text.replace(path, f"{self.home}/{folder}")
        return text

    def run(self, kills, addresses):
        """Runs the pods to their end, and kills these at the given seconds after their start. Returns what happened."""
        names, began, codes, killed = Names(), time.monotonic(), [], []
        begins = {pod.index: began + random.uniform(0, START * len(self.pods)) for pod in self.pods}
        kills = dict(kills)
        while any(pod.code != 0 for pod in self.pods) and time.monotonic() < began + PATIENCE:
            names.tell()
            for pod in self.pods:
                now = time.monotonic()
                if pod.wants_start() and now >= begins[pod.index]:
                    pod.start(names, addresses, self.log)
                    begins[pod.index] = now
                elif pod.code is None and pod.process and pod.process.poll() is not None:
                    pod.code = pod.process.returncode
                    codes.append(pod.code)
                    begins[pod.index] = now + random.uniform(0, START)
                elif pod.code is None and pod.process and now >= begins[pod.index] + kills.get(pod.index, PATIENCE):
                    del kills[pod.index]
                    killed.append(pod.index)
                    pod.process.kill()
            if len(codes) - codes.count(0) > self.most or any(code in self.final for code in codes):
                break
            time.sleep(0.02)
        for pod in self.pods:
            if pod.process and pod.process.poll() is None:
                pod.process.kill()
                pod.process.wait()
        return {"seconds": round(time.monotonic() - began, 1), "codes": codes, "killed": killed,
                "tries": [pod.tries for pod in self.pods], "done": all(pod.code == 0 for pod in self.pods)}


def files_of(folder):
    """The tables and the lists of a day: what is the same for any number of processes."""
    return {path.name: path.read_bytes() for path in folder.glob("*") if path.suffix in (".tsv", ".txt")}


def make_days(program, homes, pages):
    for number, day in enumerate(DAYS):
        for home in homes:
            folder = home / "data" / "crawl" / day
            folder.mkdir(parents=True)
            subprocess.run([program, "-q", "generate", "documents", "--count", str(pages), "--seed", str(1 + number % 2),
                            "--output", folder / "pages.jsonl.zst"], check=True, stdout=subprocess.DEVNULL)


def alone(job):
    """Runs the day by one process, with the configuration of the job."""
    kept = [word for word in job.words if not word.startswith(("--hosts", "--secret", "--wait", "--metrics"))]
    subprocess.run(kept, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("program", type=pathlib.Path)
    words.add_argument("--pages", type=int, default=4000)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--bucket", action="store_true")
    asked = words.parse_args()
    random.seed(asked.seed)
    try:
        import yaml
        make_net()
    except (ImportError, subprocess.CalledProcessError, FileNotFoundError) as cause:
        print(f"NOT CHECKED: {cause}")
        return 1
    program, addresses, wrong, pods = asked.program.resolve(), [0], 0, 0
    bucket, file, environment = None, ON_A_VOLUME, {}
    try:
        if asked.bucket:
            bucket, file = Bucket(), IN_A_BUCKET
            environment = bucket.environment
        with tempfile.TemporaryDirectory() as home:
            homes = [pathlib.Path(home) / name for name in ("pods", "alone")]
            make_days(program, homes, asked.pages)
            if bucket:
                bucket.load(homes[0] / "data" / "crawl")
            for number, day in enumerate(DAYS):
                job = Job(yaml, program, file, homes[0], day, environment)
                reference = Job(yaml, program, ON_A_VOLUME, homes[1], day, {})
                pods = len(job.pods)
                victims = [[], random.sample(range(pods), 1), range(pods)][number]
                said = job.run({index: random.uniform(0, 8) for index in victims}, addresses)
                alone(reference)
                outputs = [files_of(home / "data" / "out" / day / "dedup") for home in homes]
                if bucket and said["done"]:
                    outputs[0] = bucket.files_of(f"out/{day}")
                said["same"] = outputs[0] == outputs[1] and len(outputs[0]) >= 4
                is_right = said["done"] and said["same"] and not set(said["codes"]) & set(job.final)
                wrong += not is_right
                print(json.dumps({"day": day, **said}), flush=True)
                if not is_right:
                    for log in sorted(job.log.glob("*")):
                        print(log.name, *log.read_text().splitlines()[-3:], sep="\n    ", file=sys.stderr)
                    break
    finally:
        if bucket:
            bucket.server.kill()
        remove_all(pods)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
