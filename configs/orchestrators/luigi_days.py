"""Days of dupsieve in Luigi.

    luigi --module luigi_days Day --date 2026-11-20 --config configs/daily.toml --output-folder 'out/{date}' \
        --first 2026-11-18 --local-scheduler

A day is done if its `_SUCCESS` is there. It requires the day before it, back to `--first`. Luigi runs a failed task again
as its scheduler is set up (`--scheduler-retry-delay 120 --worker-keep-alive`), whatever the exit code says. That does no harm:
where running again does not help, the same error ends the task at once.
"""

import datetime
import subprocess

import luigi

MAY_GO_AWAY = (69, 74, 75)


class Day(luigi.Task):
    """The near-duplicates of one day."""

    date = luigi.DateParameter()
    first = luigi.DateParameter(default=None, description="the first day of the store")
    config = luigi.Parameter(default="configs/daily.toml")
    output_folder = luigi.Parameter(default="out/{date}", description="`output` of the configuration")
    program = luigi.Parameter(default="dupsieve", significant=False)
    resources = {"dupsieve_store": 1}
    retry_count = 3

    def requires(self):
        if self.first is None or self.date <= self.first:
            return []
        return [self.clone(date=self.date - datetime.timedelta(days=1))]

    def output(self):
        folder = self.output_folder.replace("{date}", self.date.isoformat())
        return luigi.LocalTarget(f"{folder}/dedup/_SUCCESS")

    def run(self):
        command = [self.program, "run", self.config, "--date", self.date.isoformat()]
        code = subprocess.run(command).returncode
        if code != 0:
            what = "run it again" if code in MAY_GO_AWAY else "running it again does not help; its log says why"
            raise RuntimeError(f"dupsieve ended with {code}: {what}")
