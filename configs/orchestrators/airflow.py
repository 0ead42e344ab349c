"""A day of dupsieve every morning, in Airflow 3.

Put this file where Airflow looks for DAGs. `DUPSIEVE` and `DUPSIEVE_CONFIG` name the program and the configuration,
`DUPSIEVE_CRAWL` the pages of a day, with {date} in place of it.

- The sensor waits for the day's pages.
- The exit code says whether to try again: 69, 74 and 75 may go away, all others fail at once.
- `DUPSIEVE_METRICS_FILE` leaves metrics for the node exporter.
- A day starts when the day before it has succeeded, and `airflow backfill create --dag-id dupsieve` runs past days in
  the same order.
"""

import glob
import os
import subprocess
from datetime import datetime, timedelta

from airflow.sdk import DAG, PokeReturnValue, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException

PROGRAM = os.environ.get("DUPSIEVE", "dupsieve")
CONFIG = os.environ.get("DUPSIEVE_CONFIG", "/etc/dupsieve/daily.toml")
CRAWL = os.environ.get("DUPSIEVE_CRAWL", "/srv/crawl/{date}/*")
MAY_GO_AWAY = (69, 74, 75)


with DAG(
    dag_id="dupsieve",
    schedule="0 3 * * *",
    start_date=datetime(2026, 11, 18),
    catchup=True,
    max_active_runs=1,
    default_args={"depends_on_past": True, "retries": 3, "retry_delay": timedelta(minutes=2)},
    doc_md=__doc__,
):

    @task.sensor(poke_interval=60, timeout=6 * 3600, mode="reschedule")
    def pages(ds=None):
        return PokeReturnValue(is_done=bool(glob.glob(CRAWL.replace("{date}", ds))))

    @task
    def near_duplicates(ds=None):
        """Runs the day. What is returned is the summary, with the counts of the day."""
        command = [PROGRAM, "run", CONFIG, "--date", ds]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode == 0:
            return done.stdout.splitlines()[-1]
        message = f"dupsieve ended with {done.returncode}; its log says why"
        again = done.returncode in MAY_GO_AWAY
        raise (AirflowException if again else AirflowFailException)(message)

    pages() >> near_duplicates()
