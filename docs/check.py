"""Checks that the book and the other documents are true:

    python3 docs/check.py --program target/release/dupsieve

1. Every relative link leads to a file, and every anchor to a heading.
2. Every `dupsieve` command line in a block of code names commands and flags that the program has.
3. The chapter "All settings" has the keys of `dupsieve schema`, and no others.
4. The pictures are what `docs/pictures.py` draws.
5. The tests that PROMISES.md names are there.
6. llms.txt names the chapters of the book.
7. `mdbook build` takes the book, and every link of its pages leads somewhere. Needs mdbook, in `PATH` or `--mdbook`."""

import argparse
import functools
import html.parser
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
import pictures  # noqa: E402: beside this file, and leaves nothing behind
import settings  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACES = ["docs/src/*.md", "*.md", "src/*/FORMAT.md", "configs/**/README.md", "bench-data/**/*.md"]
CODE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
PROGRAM = re.compile(r"(?:\$ )?(?:cargo run(?: --release)? --|(?:\S*/)?dupsieve)(?= |$)(.*)")


def documents():
    return sorted({path for place in PLACES for path in ROOT.glob(place)})


def anchors(text):
    """The anchors of the headings of a document, as mdBook and GitHub name them."""
    found = {}
    for heading in re.findall(r"^#+ +(.*?) *$", CODE.sub("", text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[anchor] = found.get(anchor, 0) + 1
        if found[anchor] > 1:
            found[f"{anchor}-{found[anchor] - 1}"] = 1
    return found


def links(path, text):
    """What is wrong with the links of a document."""
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", CODE.sub("", text))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(target.read_text()):
            yield f"{link}: there is no such heading"


def blocks(text):
    """The lines of the blocks of code, between fences or indented. What a block prints, or another language, is left out."""
    for block in CODE.finditer(text):
        language, *lines, _ = (line.strip() for line in block[0].splitlines())
        if language == "```sh":
            yield from lines
        elif language == "```console":
            yield from (line for line in lines if line.startswith("$ "))
    yield from (line.strip() for line in CODE.sub("", text).splitlines() if line.startswith("    "))


def commands(text):
    """The arguments of each command line of the program, up to a pipe or a redirection."""
    whole = "\n".join(blocks(text)).replace("\\\n", " ")
    for line in whole.splitlines():
        if found := PROGRAM.match(re.sub(r"^(?:[A-Z_]+=\S+ )+", "", line)):
            words = shlex.split(found[1], comments=True)
            end = next((i for i, word in enumerate(words) if re.match(r"[|;&<>]|\d>", word)), len(words))
            yield words[:end]


def command_lines(program, text):
    """What is wrong with the command lines of a document."""

    @functools.cache
    def help(*command):
        shown = subprocess.run([program, "help", *command], capture_output=True, text=True)
        return shown.stdout if shown.returncode == 0 else None

    def flags(*command):
        return set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", "\n".join(
            line for line in help(*command).splitlines() if re.match(r" +-", line))))

    for words in commands(text):
        names = []
        while len(names) < len(words) and re.fullmatch(r"[a-z]+", words[len(names)]):
            if not re.search(rf"^  {words[len(names)]} |^Also: .*\b{words[len(names)]}\b", help(*names), re.MULTILINE):
                break
            names.append(words[len(names)])
        if names == ["help"]:
            if help(*words[1:]) is None:
                yield f"{' '.join(words)}: there is no such command"
            continue
        needs = re.search(r"^Usage: .*<COMMAND>$", help(*names), re.MULTILINE)
        if needs and len(names) < len(words) and not words[len(names)].startswith("-"):
            yield f"{' '.join(words)}: there is no such command"
            continue
        known = flags(*names) | flags("flags") | {"--version", "-V", "--help", "-h"}
        for word in words:
            flag = word.partition("=")[0]
            if re.fullmatch(r"--?[a-z][a-z-]*", flag) and flag not in known:
                yield f"{' '.join(words)}: {' '.join(names) or 'dupsieve'} has no flag {flag}"


def setting_keys(program):
    """What is wrong with the chapter on settings."""
    there = settings.written(settings.CHAPTER.read_text())
    known = settings.sections(settings.schema(program))
    for section in sorted(there.keys() | known.keys()):
        for key in sorted(set(there.get(section, [])) ^ set(known.get(section, []))):
            lacks = "the chapter lacks" if key in known.get(section, []) else "the schema has no"
            yield f"{lacks} `{key}`, {section}; write the chapter anew with docs/settings.py"


def untested():
    """The tests that PROMISES.md names and that are not there."""
    text = (ROOT / "PROMISES.md").read_text()
    for row in re.findall(r"^\| (?!promise|---).*", text, re.MULTILINE):
        for name in re.findall(r"`([\w./]+)`", row.rsplit(" | ", 1)[1]):
            if not any((ROOT / path).exists() for path in (name, f"{name}.rs")):
                yield f"PROMISES.md: {name} is not there"


def unlisted():
    """The chapters that llms.txt, the contents for programs that read, does not name as the summary does."""
    chapters = [re.findall(r"^- (\[.*?\]\([a-z-]+)\.", (pictures.BOOK / name).read_text(), re.MULTILINE) for name in ("SUMMARY.md", "llms.txt")]
    if chapters[0] != chapters[1]:
        yield "docs/src/llms.txt: not the chapters of SUMMARY.md"


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page of the built book."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.add(attributes.get("id"))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


def built(mdbook):
    """What is wrong with the book once it is built."""
    book = ROOT / "target" / "book"
    run = subprocess.run([mdbook, "build", str(ROOT / "docs"), "--dest-dir", book], capture_output=True, text=True)
    if run.returncode != 0 or "WARN" in run.stderr + run.stdout:
        yield f"mdbook build: {run.stderr or run.stdout}"
        return
    pages = {path: Page(path) for path in book.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in page.links:
            name, _, anchor = urllib.parse.unquote(link).partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            target = (path.parent / name).resolve() if name else path
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                yield f"{path.relative_to(ROOT)}: {link} leads nowhere"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the program whose commands and settings the book describes")
    parser.add_argument("--mdbook", default=shutil.which("mdbook"), help="the program that builds the book")
    arguments = parser.parse_args()
    wrong, lines = [], 0
    for path in documents():
        text, name = path.read_text(), path.relative_to(ROOT)
        wrong += [f"{name}: {what}" for what in links(path, text)]
        # Runs and changes tell of earlier programs, and descriptions of bytes have no command lines.
        if not name.is_relative_to("bench-data/runs") and name.name not in ("CHANGELOG.md", "FORMAT.md"):
            lines += len(list(commands(text)))
            wrong += [f"{name}: {what}" for what in command_lines(arguments.program, text)]
    wrong += [f"docs/src/settings.md: {what}" for what in setting_keys(arguments.program)]
    wrong += [f"docs/src/pictures/{name}: out of date; draw it again with docs/pictures.py" for name in pictures.out_of_date()]
    wrong += [*untested(), *unlisted()]
    if arguments.mdbook:
        wrong += built(arguments.mdbook)
    else:
        print("NOT CHECKED: mdbook is not here, so the book was not built", file=sys.stderr)
    for what in wrong:
        print(what, file=sys.stderr)
    print(f"{len(documents())} documents, {lines} command lines: {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
