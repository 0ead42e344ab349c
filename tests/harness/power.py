"""The power cut: a file system on a loop device is shut down, without its journal, while a job runs.

What was not synced by then is gone, as the kernel sees it; the disk's own cache is not part of the test.
Whoever makes a mount namespace meanwhile, as `ip netns exec` does, keeps the disk that was shut down alive.
"""

import fcntl
import os
import random
import shutil
import signal
import struct
import subprocess
import time

from bench import RUN, Running, Violation
from tally import Tally

# EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN: _IOR('X', 125, __u32); without flushing the log.
SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2
MEBIBYTES = {"ext4": 64, "xfs": 320}
FLAGS = ("--workers", "2")


class Disk:
    """A file system in a file."""

    def __init__(self, kind, scratch):
        self.image, self.place = scratch / f"{kind}.image", scratch / kind
        self.place.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(MEBIBYTES[kind] << 20)
        call(f"mkfs.{kind}", "-q", self.image)
        self.mount()

    def mount(self):
        call("mount", "-o", "loop", self.image, self.place)

    def unmount(self):
        for _ in range(500):
            if subprocess.run(["umount", self.place], capture_output=True).returncode == 0:
                return
            time.sleep(0.01)
        raise Violation("something still holds the disk")

    def cut(self):
        folder = os.open(self.place, os.O_RDONLY)
        fcntl.ioctl(folder, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        os.close(folder)

    def remove(self):
        subprocess.run(["umount", self.place], capture_output=True)
        self.image.unlink()


def call(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)


def run(bench, seed, cycles=None, kind="ext4"):
    """Cycles on one disk, which is only made once."""
    tally = Tally(f"power on {kind}", seed)
    try:
        disk = Disk(kind, bench.scratch)
    except (OSError, subprocess.CalledProcessError) as cause:
        tally.skipped = f"no {kind} on a loop device here: {getattr(cause, 'stderr', cause)}"
        return tally
    try:
        home = disk.place / "home"
        shutil.copytree(bench.made, home)
        disk.seconds = bench.done(home, *RUN.words, *FLAGS).seconds
        for number in range(cycles or 1000):
            chance = random.Random(f"{seed} {number}")
            tally.cycle(number, lambda: cycle(bench, tally, disk, home, chance))
    finally:
        disk.remove()
    return tally


def cycle(bench, tally, disk, home, chance):
    expected, _ = bench.undisturbed(RUN, FLAGS)
    shutil.rmtree(home / "out", ignore_errors=True)
    call("sync", "-f", disk.place)
    while True:
        running = Running(bench.command(*RUN.words, *FLAGS), home)
        time.sleep(chance.uniform(0, disk.seconds))
        if running.goes_on():
            break
        running.end().expect(0)
        shutil.rmtree(home / "out")
        call("sync", "-f", disk.place)
    disk.cut()
    running.signal_all(signal.SIGKILL)
    running.end()
    disk.unmount()
    disk.mount()
    bench.check(home, RUN, expected)
    _, seconds = bench.complete(home, RUN, expected, FLAGS)
    tally.sample("seconds to complete", seconds)
