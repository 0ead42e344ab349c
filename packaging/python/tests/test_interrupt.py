"""Ctrl-C ends every call, and other threads of Python run meanwhile."""

import os
import signal
import threading
import time
import unittest

import pyarrow
from support import InAFolder

import dupsieve


def endless(begun):
    """Batches of different texts without an end. `begun` is set when the second one is asked for."""
    number = 0
    while True:
        yield pyarrow.record_batch({"text": [f"a text of number {number + row} and its words" for row in range(1000)]})
        number += 1000
        begun.set()


class Interrupts(InAFolder):
    def test_ctrl_c_ends_a_call(self):
        # A shell lets its jobs in the background ignore Ctrl-C.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        begun = threading.Event()
        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"text": pyarrow.string()}), endless(begun))
        sent = []

        def interrupt():
            # This thread runs only if the call lets go of the interpreter's lock.
            begun.wait()
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        with self.assertRaises(KeyboardInterrupt):
            dupsieve.dedup(reader, workers=2)
        # A second is what is promised; other programs run on the same machine.
        self.assertLess(time.monotonic() - sent[0], 30)

    def test_a_signal_handler_that_raises_nothing_ends_nothing(self):
        got = threading.Event()
        before = signal.signal(signal.SIGUSR1, lambda *_: got.set())
        self.addCleanup(signal.signal, signal.SIGUSR1, before)

        def batches():
            os.kill(os.getpid(), signal.SIGUSR1)
            got.wait()
            yield pyarrow.record_batch({"text": ["a text"]})

        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"text": pyarrow.string()}), batches())
        self.assertEqual(len(dupsieve.dedup(reader)), 1)


if __name__ == "__main__":
    unittest.main()
