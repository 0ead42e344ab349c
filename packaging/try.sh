#!/usr/bin/env bash
# Tries the packages in target/packages, each in a folder of its own: their checksums, and what each has drops the copies of the sample.
# Needs root for the image where there is no Docker.
set -euo pipefail
cd "$(dirname "$0")/.."
sample=$PWD/bench-data/sample/crawl/2026-11-18
packages=$PWD/target/packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs a program, by the command that is given, on a day of the sample.
drops() {
    "$@" --version | head -1
    "$@" dedup --input "$sample" --kept - 2>"$work/log" >"$work/kept"
    grep -q "33 kept" "$work/log" || { cat "$work/log"; return 1; }
}

(cd "$packages" && sha256sum --check --quiet SHA256SUMS)
for package in "$packages"/*; do
    echo "== ${package##*/}"
    rm -rf "$work/try" && mkdir "$work/try"
    case $package in
    */dupsieve)
        drops "$package"
        ;;
    *-x86_64-linux.tar.gz)
        tar --extract --gzip --file "$package" --directory "$work/try"
        drops "$work"/try/*/dupsieve
        ;;
    *-image.tar)
        tar --extract --file "$package" --directory "$work/try"
        if docker info >/dev/null 2>&1; then
            docker load --quiet --input "$package"
            drops docker run --rm --read-only --volume "$sample:$sample:ro" "dupsieve:$(sed 's/.*dupsieve-\(.*\)-image.*/\1/' <<<"$package")"
        else
            # Nothing but the layer: what the program needs is in it.
            mkdir -p "$work/try/root$sample" "$work/try/root/tmp"
            tar --extract --file "$(ls "$work"/try/*.tar)" --directory "$work/try/root"
            cp "$sample"/* "$work/try/root$sample/"
            drops chroot "$work/try/root" /usr/bin/dupsieve
        fi
        ;;
    *.deb)
        dpkg-deb --extract "$package" "$work/try"
        drops "$work/try/usr/bin/dupsieve"
        ls "$work"/try/usr/share/man/man1/dupsieve-run.1* "$work"/try/usr/share/bash-completion/completions/dupsieve >/dev/null
        ;;
    *.whl)
        python3 -m venv "$work/try"
        "$work/try/bin/pip" install --quiet --disable-pip-version-check "$package"
        drops "$work/try/bin/dupsieve"
        "$work/try/bin/python" -c "import dupsieve; text = 'one page of words'; assert dupsieve.compare(text, text)['distance'] == 0"
        ;;
    *.cdx.json)
        python3 -c "import json, sys; print(len(json.load(open(sys.argv[1]))['components']), 'parts')" "$package"
        ;;
    esac
done
