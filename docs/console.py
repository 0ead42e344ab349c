"""Runs the console blocks of the book and compares what the commands print with what the book shows:

    python3 docs/console.py --program target/release/dupsieve [CHAPTER...]

`cargo run --release --` is the program itself. A chapter is run from its beginning to its end, by one shell, in a folder of its own where the sample was run before. In a block, `$ ` begins a command,
and what follows is what the command prints, standard error included. A line `...` stands for any lines. The line of JSON that a job ends with
may be left out, as on a terminal. An HTML comment that begins with `run first` holds commands that prepare what the next block shows. With --write
the chapters show what was printed, where they show other lines and no `...`.

What differs from run to run (seconds, sizes of files with seconds in them) is masked. Needs bash and curl."""

import argparse
import difflib
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = re.compile(r"^( *)```console\n(?P<block>.*?)^\1```$|^<!-- run first\n(?P<before>.*?)^-->$", re.MULTILINE | re.DOTALL)
# A command, which goes on while a quotation is open, and what it prints.
COMMAND = re.compile(r"^\$ ((?:'[^']*'|[^'\n])*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# The port that the book names.
PORT = "8373"
# What depends on the clock: a pattern, and what stands for all that it matches.
MASKS = [
    (r'"bytes":\d+', '"bytes":N'),
    (r"(?m)^(\d{4}-\d\d-\d\d(?: +\d+){5} +)\d+\.\d\d ", r"\1N "),
]
MARK = "console-block"


def steps(text):
    """The commands of a chapter in order: each with the line it stands on, and what it prints, or None where that is not shown."""
    for part in PARTS.finditer(text):
        line = text[:part.start()].count("\n") + 2
        if part["before"] is not None:
            yield line, part["before"], None
            continue
        for command in COMMAND.finditer(part["block"]):
            yield line + part["block"][:command.start()].count("\n"), command[1], command[2]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def printed(program, commands, folder):
    """What each of the commands prints, run one after the other in a folder with the sample."""
    folder.joinpath("target/release").mkdir(parents=True)
    folder.joinpath("target/release/dupsieve").symlink_to(program)
    for name in ["configs", "bench-data", "tests"]:
        folder.joinpath(name).symlink_to(ROOT / name)
    port = free_port()
    script = ["exec 2>&1", 'curl() { command curl --no-progress-meter "$@"; }', "trap 'kill $(jobs -p) 2>/dev/null' EXIT", 'export PATH=$PWD/target/release:$PATH',
              'cargo() { shift 3; target/release/dupsieve "$@"; }']
    for command in ["dupsieve --quiet run configs/local.toml", *commands]:
        script += [command.replace(PORT, port), f"echo; echo {MARK}"]
    shell = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, capture_output=True, text=True, timeout=300)
    _, *found = shell.stdout.replace(f"{folder}/", "").replace(port, PORT).split(f"\n{MARK}\n")
    return found[:len(commands)]


def masked(text):
    for pattern, stands in MASKS:
        text = re.sub(pattern, stands, text)
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def fits(shown, found):
    """Whether lines are those that are shown, where `...` stands for any lines."""
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in found)) is not None


def without_summary(shown, found):
    """What was printed, without the summary of the job if the book shows none."""
    summary = r'(?m)^\{"already_done":.*\n?'
    return found if re.search(summary, shown) else re.sub(summary, "", found)


def wrong(shown, found):
    """The difference between what is shown and what was printed; None if they fit."""
    shown, found = masked(shown), masked(without_summary(shown, found))
    if fits(shown, found):
        return None
    return "\n".join(difflib.unified_diff(shown, found, "the book", "the program", lineterm=""))


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--program", required=True, type=pathlib.Path)
    words.add_argument("--write", action="store_true", help="write what was printed into the chapters")
    words.add_argument("chapters", nargs="*", type=pathlib.Path, default=[ROOT / "README.md", *sorted(ROOT.glob("docs/src/*.md"))])
    asked = words.parse_args()
    run = failed = 0
    for chapter in asked.chapters:
        all_steps = list(steps(chapter.read_text()))
        if not all_steps:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            found = printed(asked.program.resolve(), [command for _, command, _ in all_steps], folder)
        for (line, command, shown), output in zip(all_steps, found, strict=True):
            run += shown is not None
            difference = shown is not None and wrong(shown, output)
            if difference:
                failed += 1
                print(f"{chapter}:{line}: $ {command}\n{difference}\n", file=sys.stderr)
                if asked.write and "..." not in shown.splitlines():
                    text = chapter.read_text()
                    chapter.write_text(text.replace(f"$ {command}\n{shown}", f"$ {command}\n{without_summary(shown, output).strip(chr(10))}\n", 1))
    print(f"{run} commands of the book were run, {failed} print something else than the book shows")
    return 1 if failed or not run else 0


if __name__ == "__main__":
    sys.exit(main())
