#!/usr/bin/env bash
# Builds what is handed out into target/packages, with checksums: packaging/build.sh [front] [static] [image] [deb] [wheel] [sbom]; all by
# default. packaging/try.sh tries what is there.
#
# One program is in all of them, the static one: it needs no library of the machine it runs on. Needs `rustup target add
# x86_64-unknown-linux-musl` and musl-tools.
#
# PROFILE=dev builds without optimisation, to try the packaging itself; so does PROGRAM=FILE, which packs a program that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."
unset CARGO_TARGET_DIR

profile=${PROFILE:-release}
folder=$([ "$profile" = dev ] && echo debug || echo "$profile")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
packages=target/packages
made=target/packaging
rm -rf "$made"
mkdir -p "$packages"

# Every package has all features.
features=object-store,segmenter

# The same source gives the same bytes, wherever it is built.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
DUPSIEVE_COMMIT=${DUPSIEVE_COMMIT:-$(git rev-parse HEAD)}
CARGO_INCREMENTAL=0
export SOURCE_DATE_EPOCH DUPSIEVE_COMMIT CARGO_INCREMENTAL
cargo_home=${CARGO_HOME:-$HOME/.cargo}
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$PWD=/build --remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$(rustc --print sysroot)=/rust"
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$PWD=/build -ffile-prefix-map=$cargo_home=/cargo"

# The static program, with its manual and completions in a folder; built once, whatever is asked for.
target=x86_64-unknown-linux-musl
program=$PWD/target/$target/$folder/dupsieve
name=dupsieve-$version-x86_64-linux
program() {
    [ ! -d "$made/$name" ] || return 0
    if [ -n "${PROGRAM:-}" ]; then
        install -D "$PROGRAM" "$program"
    else
        cargo build --locked --profile "$profile" --bin dupsieve --features "$features" --target "$target"
    fi
    "$program" man "$made/man" >/dev/null
    local shell
    for shell in bash zsh fish; do
        "$program" completions "$shell" >"$made/completions.$shell"
    done
    install -D "$program" "$made/$name/dupsieve"
    cp -r "$made/man" "$made"/completions.* README.md LICENSE "$made/$name/"
}

# The library beside the release before: a change that breaks what programs use needs a higher version. Needs `cargo install
# cargo-semver-checks`; before the first release there is nothing to compare.
front() {
    local before
    before=$(git describe --tags --abbrev=0 --match 'v*' --exclude "v$version" 2>/dev/null) || return 0
    cargo semver-checks --package dupsieve --baseline-rev "$before"
}

# The program as an archive.
static() {
    program
    tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --directory "$made" "$name" |
        gzip -n >"$packages/$name.tar.gz"
}

# An image with the program and nothing else, for `docker load` or `podman load`. Needs no Docker.
image() {
    program
    python3 packaging/image.py "$made/$name/dupsieve" "$packages/dupsieve-$version-image.tar"
}

# A package for Debian and Ubuntu: the program, its manual, completions, examples and units. Needs `cargo install cargo-deb`.
deb() {
    program
    cargo deb --no-build --profile "$profile" --target "$target" --output "$packages/"
}

# A wheel for every Python from 3.10 on: the module and the program. Its name says the oldest glibc that the module runs with, which is found
# from its symbols; one that PyPI would not take is refused. Needs pip, which fetches maturin.
wheel() {
    program
    DUPSIEVE_PROGRAM=$program MATURIN_PEP517_ARGS="--profile $profile --compatibility pypi --auditwheel check" \
        python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$packages" .
}

# What the program and the module of Python are made of, as CycloneDX. Needs `cargo install cargo-cyclonedx`.
sbom() {
    cargo cyclonedx --format json --features "$features" --describe binaries --target-in-filename --quiet
    sed "s|file://$PWD|file:///build|g" dupsieve_bin_*.cdx.json >"$packages/dupsieve-$version.cdx.json"
    sed "s|file://$PWD|file:///build|g" packaging/python/*.cdx.json >"$packages/dupsieve-python-$version.cdx.json"
    rm dupsieve_bin_*.cdx.json packaging/python/*.cdx.json
}

[ $# -gt 0 ] || set -- front static image deb wheel sbom
for package in "$@"; do
    "$package"
done
cd "$packages"
rm -f SHA256SUMS
sha256sum -- * >.sums
mv .sums SHA256SUMS
cat SHA256SUMS
