"""Two processes of a hosts file: one freezes, is killed, or comes late, and strangers call all the time, or two
hundred of them hold the line."""

import random
import shutil
import signal
import socket
import time

from bench import Violation
from crowd import ARRIVAL, SILENCE, Crowd
from tally import Tally

# How much later than the time-out an end may come: what takes longer hangs, on a busy machine too.
GRACE = 300
LOST = {69, 75}
# Of a pair that nothing is to keep apart, however busy the machine is.
PATIENT = 30, 60


def run(bench, seed, cycles=None):
    """Cycles of each of the faults in turn."""
    tally = Tally("peers", seed)
    crowd = Crowd(bench)
    faults = [frozen, killed, strangers, crowded, late]
    for number in range(cycles or 40):
        fault = faults[number % len(faults)]
        chance = random.Random(f"{seed} {number}")
        tally.cycle(f"{number} {fault.__name__}", lambda: fault(crowd, tally, chance, f"out-{number}"))
        shutil.rmtree(crowd.home / f"out-{number}", ignore_errors=True)
    return tally


def frozen(crowd, tally, chance, output):
    lose(crowd, tally, chance, output, signal.SIGSTOP, "frozen")


def killed(crowd, tally, chance, output):
    lose(crowd, tally, chance, output, signal.SIGKILL, "killed")


def lose(crowd, tally, chance, output, number, name):
    """One of the two gets the signal at a random moment: the other is through, or ends in time."""
    while True:
        crowd.hosts(output)
        both = [crowd.process(output, process) for process in range(2)]
        time.sleep(chance.uniform(0, crowd.seconds))
        if all(running.goes_on() for running in both):
            break
        for running in both:
            running.end().expect(0)
        shutil.rmtree(crowd.home / output)
    victim = chance.randrange(2)
    both[victim].signal_all(number)
    began = time.monotonic()
    ended = both[1 - victim].end(ARRIVAL + SILENCE + GRACE)
    seconds = time.monotonic() - began
    both[victim].signal_all(signal.SIGKILL)
    both[victim].end()
    ended.expect(0, *LOST)
    if ended.code:
        tally.count(f"{name}: ended with {ended.code}")
        tally.sample(f"{name}: seconds to detect", seconds)
    whole(crowd, output)


def late(crowd, tally, chance, output):
    """The second comes in time, or so late that the first has given it up."""
    crowd.hosts(output)
    delay = chance.uniform(0, 2 * ARRIVAL)
    first = crowd.process(output, 0)
    time.sleep(delay)
    second = crowd.process(output, 1)
    codes = [running.end().expect(0, *LOST).code for running in [first, second]]
    if codes[0] == 0 and codes[1] != 0 or delay < ARRIVAL / 2 and codes != [0, 0]:
        raise Violation(f"late by {delay:.1f} s, they ended with {codes}")
    tally.count(f"late: ended with {codes}")
    whole(crowd, output)


def strangers(crowd, tally, chance, output):
    """Callers that know no secret disturb nobody."""
    addresses = crowd.hosts(output)
    both = [crowd.process(output, process, *PATIENT) for process in range(2)]
    silent = []
    while any(running.goes_on() for running in both):
        call(chance, chance.choice(addresses), silent, tally)
        time.sleep(0.002)
    for running in both:
        running.end().expect(0)
    for caller in silent:
        caller.close()
    if not crowd.is_right(output):
        raise Violation("other bytes")


def crowded(crowd, tally, chance, output):
    """Two hundred silent callers at each process, which call again when they are hung up on."""
    addresses = crowd.hosts(output)
    both = [crowd.process(output, process, *PATIENT) for process in range(2)]
    silent = [[address, None] for address in addresses for _ in range(200)]
    while any(running.goes_on() for running in both):
        for caller in silent:
            stay(caller, tally)
        time.sleep(chance.uniform(0, 0.1))
    for running in both:
        running.end().expect(0).summary()
    for _, caller in silent:
        if caller:
            caller.close()
    if not crowd.is_right(output):
        raise Violation("other bytes")


def stay(caller, tally):
    """Calls, unless this caller is still connected."""
    address, line = caller
    try:
        if line and line.recv(1, socket.MSG_PEEK):
            line.close()
        elif line is None:
            raise OSError
    except BlockingIOError:
        return
    except OSError:
        pass
    try:
        caller[1] = socket.create_connection(address, timeout=1)
        caller[1].setblocking(False)
        tally.count("crowded: calls")
    except OSError:
        caller[1] = None


def call(chance, address, silent, tally):
    try:
        caller = socket.create_connection(address, timeout=1)
        caller.sendall(chance.choice([b"", b"GET / HTTP/1.1\r\n\r\n", bytes(8), chance.randbytes(chance.randrange(300))]))
    except OSError:
        return
    tally.count("strangers: calls")
    if len(silent) < 40 and chance.random() < 0.1:
        silent.append(caller)
    else:
        caller.close()


def whole(crowd, output):
    if (crowd.home / output).exists() and not crowd.is_right(output):
        raise Violation("other bytes")
