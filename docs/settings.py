"""Writes the tables of the chapter "All settings" from the schema that the program prints:

    python3 docs/settings.py --program dupsieve

What stands above the first table, and below each heading, is kept."""

import argparse
import json
import pathlib
import re
import subprocess

CHAPTER = pathlib.Path(__file__).parent / "src" / "settings.md"
TOP = "Outside the sections"
KINDS = {"string": "text", "integer": "whole number", "array": "list", "boolean": "true or false", "object": "table"}


def schema(program):
    """The JSON schema of configuration files, as the program prints it."""
    return json.loads(subprocess.run([program, "schema"], check=True, capture_output=True, text=True).stdout)


def sections(schema):
    """Each section with its keys and their schemas; the keys outside sections come first."""
    found = {TOP: {}}
    for name, key in schema["properties"].items():
        options = [resolve(option, schema) for option in resolve(key, schema).get("anyOf", [])] or [resolve(key, schema)]
        tables = [option for option in options if "properties" in option]
        if len(tables) < len(options):
            found[TOP][name] = key
        for table in tables:
            found[f"[{name}]"] = table["properties"]
    return found


def resolve(key, schema):
    """What a key refers to; of one that may be left out, what it is where it is given."""
    for option in key.get("anyOf", []):
        if "$ref" in option and len(key["anyOf"]) == 1:
            return resolve(option, schema)
    if "$ref" in key:
        return schema["$defs"][key["$ref"].rsplit("/", 1)[1]]
    return key


def kind(key, schema):
    """The type of a key, in words."""
    key = resolve(key, schema)
    options = key.get("enum") or [option["const"] for option in key.get("oneOf", []) if "const" in option]
    if options:
        return " or ".join(f"`{option if isinstance(option, str) else json.dumps(option)}`" for option in options)
    if "anyOf" in key:
        return "text or table"
    kinds = key.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds == ["number", "string"]:
        return "number, or text with a unit"
    if kinds == ["integer", "string"]:
        return "whole number"
    return " or ".join(KINDS[kind] for kind in kinds)


def row(name, key, schema):
    """The row of a key: name, type, default, meaning."""
    meaning = key.get("description") or resolve(key, schema).get("description", "")
    meaning = re.sub(r"\s*\[env: [^\]]*\]", "", meaning)
    default = f"`{json.dumps(key['default'])}`" if "default" in key else ""
    if found := re.fullmatch(r"([^\[]*[^`]) \[default: ([^\]]*)\]\.?", meaning):
        meaning, default = found.groups()
    cells = [f"`{name}`", kind(key, schema), default, meaning]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def tables(schema):
    """The table of each section."""
    head = "| key | type | default | meaning |\n|---|---|---|---|\n"
    return {section: head + "\n".join(row(name, key, schema) for name, key in keys.items()) + "\n"
            for section, keys in sections(schema).items()}


def written(text):
    """The keys that a chapter has, by section."""
    found = {}
    for line in text.splitlines():
        if heading := re.fullmatch(r"## (.*)", line):
            section = heading[1].strip("`")
        elif key := re.match(r"\| `(\w+)` \|", line):
            found.setdefault(section, []).append(key[1])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    known = schema(parser.parse_args().program)
    text = CHAPTER.read_text()
    for section, table in tables(known).items():
        heading = f"## {section}" if section == TOP else f"## `{section}`"
        if heading not in text:
            text += f"\n{heading}\n\n| key |\n"
        before, after = text.split(heading + "\n", 1)
        start = after.index("| key |")
        end = re.compile(r"^(?!\|)", re.MULTILINE).search(after, start).start() if "\n\n" in after[start:] else len(after)
        text = before + heading + "\n" + after[:start] + table + after[end:]
    CHAPTER.write_text(text)


if __name__ == "__main__":
    main()
