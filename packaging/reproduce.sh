#!/usr/bin/env bash
# Builds a package twice, in two folders, and compares the bytes: packaging/reproduce.sh [static|deb|wheel|image]...
# Without an argument, the static program. Takes two whole builds.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for copy in first second; do
    git clone --quiet . "$work/$copy/dupsieve"
    # A longer path, so that a path in the bytes cannot hide.
    [ "$copy" = first ] || mv "$work/$copy/dupsieve" "$work/$copy/dupsieve-in-another-folder"
    (
        cd "$work/$copy"/*
        packaging/build.sh "${@:-static}" >/dev/null
        cd target/packages && sha256sum -- *
    ) >"$work/$copy.sums"
done
cat "$work/first.sums"
if ! diff "$work/first.sums" "$work/second.sums"; then
    echo "the two builds differ" >&2
    exit 1
fi
echo "two builds, the same bytes"
