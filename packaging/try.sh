#!/usr/bin/env bash
# Tries what is in target/packages, each in a folder of its own: its checksum, that its program does the three days of the sample as
# configs/local.toml says, and of the wheel the tests of the module. What cannot be tried here is said, and counted at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
packages=$root/target/packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
not_tried=0

not_tried() {
    echo "NOT TRIED: $*"
    not_tried=$((not_tried + 1))
}

# Runs the days of the sample with a program, by the command that is given, in a folder that has the sample.
days() {
    local folder=$1
    shift
    mkdir -p "$folder/bench-data/sample"
    cp -r "$root/bench-data/sample/crawl" "$folder/bench-data/sample/"
    cp "$root/configs/local.toml" "$folder/"
    chmod -R a+rwX "$folder"
    (cd "$folder" && "$@" --version) | head -1
    (cd "$folder" && "$@" run local.toml) >"$work/summary" 2>"$work/log" || { cat "$work/log"; return 1; }
    grep "132 pages of 3 days: 61 kept, 69 duplicates dropped" "$work/log" || { cat "$work/log"; return 1; }
    (cd "$folder" && "$@" verify out/2026-11-20) >/dev/null 2>"$work/log" || { cat "$work/log"; return 1; }
}

# Starts the program of an image in its folder /data, as its user.
in_root() {
    mkdir -p "$1/proc"
    unshare --mount bash -c 'mount --rbind /proc "$1/proc" && exec "${@:2}"' - "$1" python3 -c "
import os, sys
os.chroot(sys.argv[1]); os.chdir('/data'); os.setgroups([]); os.setgid(65532); os.setuid(65532)
os.execve('/usr/bin/dupsieve', ['dupsieve', *sys.argv[2:]], {})" "$@"
}

(cd "$packages" && sha256sum --check --quiet SHA256SUMS)
for package in "$packages"/*; do
    try=$work/try
    rm -rf "$try" && mkdir "$try"
    [ "${package##*/}" = SHA256SUMS ] || echo "== ${package##*/}, $(stat --format %s "$package") bytes"
    case $package in
    *-x86_64-linux.tar.gz)
        tar --extract --gzip --file "$package" --directory "$try"
        days "$try/days" "$try"/*/dupsieve
        ;;
    *-image.tar)
        tar --extract --file "$package" --directory "$try"
        # Each blob is what its name says.
        (cd "$try/blobs/sha256" && for blob in *; do echo "$blob  $blob"; done | sha256sum --check --quiet)
        # Nothing but the layer: what the program needs is in it.
        mkdir "$try/root"
        layer=$(python3 -c "import json, sys; print(*json.load(open(sys.argv[1]))[0]['Layers'])" "$try/manifest.json")
        tar --extract --file "$try/$layer" --directory "$try/root"
        mkdir "$try/root/tmp" && chmod 1777 "$try/root/tmp"
        if docker info >/dev/null 2>&1; then
            docker load --quiet --input "$package"
            days "$try/days" docker run --rm --read-only --tmpfs /tmp --user "$(id -u):$(id -g)" --volume "$try/days:/data" \
                "dupsieve:$(sed 's/.*dupsieve-\(.*\)-image.*/\1/' <<<"$package")"
        elif [ "$(id -u)" = 0 ]; then
            not_tried "docker load and docker run: no Docker here. Its layer alone, as its user:"
            days "$try/root/data" in_root "$try/root"
        else
            not_tried "the image: neither Docker nor root here"
        fi
        ;;
    *.deb)
        dpkg-deb --info "$package" | grep -E "^ (Package|Version|Architecture|Depends):"
        # Installed by dpkg below a folder of its own, and removed again: nothing of this machine changes.
        mkdir -p "$try/var/lib/dpkg/info" "$try/var/lib/dpkg/updates" && touch "$try/var/lib/dpkg/status"
        dpkg --root="$try" --force-not-root --install "$package" >/dev/null
        dpkg --root="$try" --verify dupsieve
        ls "$try"/usr/share/man/man1/dupsieve-run.1* "$try"/usr/share/bash-completion/completions/dupsieve >/dev/null
        days "$try/days" "$try/usr/bin/dupsieve"
        dpkg --root="$try" --force-not-root --remove dupsieve >/dev/null
        [ ! -e "$try/usr/bin/dupsieve" ]
        ;;
    *.whl)
        python3 -m venv "$try"
        "$try/bin/pip" install --quiet --disable-pip-version-check "$package" datasets duckdb pandas polars pyarrow twine
        "$try/bin/twine" check --strict "$package"
        days "$try/days" "$try/bin/dupsieve"
        (cd "$work" && PATH=$try/bin:$PATH "$try/bin/python" -m unittest discover --start-directory "$root/packaging/python/tests") \
            >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
        grep -E "^(Ran|OK)" "$work/log"
        ;;
    *.cdx.json)
        python3 -c "import json, sys; print(len(json.load(open(sys.argv[1]))['components']), 'parts')" "$package"
        ;;
    esac
done
[ "$not_tried" = 0 ] || echo "$not_tried things could not be tried here, see above"
