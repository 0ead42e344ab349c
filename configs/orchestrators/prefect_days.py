"""Days of dupsieve in Prefect 3.

    python prefect_days.py 2026-11-18 2026-11-20

runs three days in their order. As a deployment with a schedule, run the flow `days` with the day of the schedule.
"""

import datetime
import os
import subprocess
import sys

from prefect import flow, task

PROGRAM = os.environ.get("DUPSIEVE", "dupsieve")
CONFIG = os.environ.get("DUPSIEVE_CONFIG", "configs/daily.toml")
MAY_GO_AWAY = (69, 74, 75)


class Refused(Exception):
    """An exit code that running again does not change."""


def may_go_away(_task, _run, state):
    """Whether a failed task is tried again."""
    try:
        state.result()
    except Refused:
        return False
    except Exception:
        return True
    return False


@task(retries=3, retry_delay_seconds=int(os.environ.get("DUPSIEVE_RETRY_SECONDS", "120")), retry_condition_fn=may_go_away)
def near_duplicates(day: datetime.date):
    """Runs a day, and returns its summary."""
    command = [PROGRAM, "run", CONFIG, "--date", day.isoformat()]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return done.stdout.splitlines()[-1]
    message = f"dupsieve ended with {done.returncode}; its log says why"
    raise (RuntimeError if done.returncode in MAY_GO_AWAY else Refused)(message)


@flow(name="dupsieve")
def days(first: datetime.date, last: datetime.date):
    """Runs the days from `first` to `last`, one after the other."""
    day = first
    while day <= last:
        near_duplicates(day)
        day += datetime.timedelta(days=1)


if __name__ == "__main__":
    days(*(datetime.date.fromisoformat(day) for day in sys.argv[1:3]))
