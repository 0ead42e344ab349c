#!/usr/bin/env bash
# Builds packages into target/packages, with their checksums: packaging/build.sh [program] [static] [image] [deb] [wheel] [sbom]; the last
# five by default. packaging/try.sh tries what is there.
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

# Builds the program, with further arguments of cargo, at the path that is given first.
build() {
    if [ -n "${PROGRAM:-}" ]; then
        install -D "$PROGRAM" "$1"
    else
        cargo build --locked --profile "$profile" --bin dupsieve --features "$features" "${@:2}"
    fi
}

# The manual pages and the completions, by a program that runs here.
texts() {
    rm -rf "$made"
    "$1" man "$made/man" >/dev/null
    local shell
    for shell in bash zsh fish; do
        "$1" completions "$shell" >"$made/completions.$shell"
    done
}

# The program as this machine builds it.
program() {
    build "target/$folder/dupsieve"
    cp "target/$folder/dupsieve" "$packages/dupsieve"
}

# A program that needs no library of the machine it runs on, with its manual and completions. Needs `rustup target add
# x86_64-unknown-linux-musl` and musl-tools.
static() {
    local target=x86_64-unknown-linux-musl name=dupsieve-$version-x86_64-linux
    local program=target/$target/$folder/dupsieve
    build "$program" --target "$target"
    texts "$program"
    install -D "$program" "$made/$name/dupsieve"
    cp -r "$made/man" "$made"/completions.* README.md LICENSE "$made/$name/"
    tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --directory "$made" "$name" |
        gzip -n >"$packages/$name.tar.gz"
}

# An image with the static program and nothing else, for `docker load` or `podman load`. Needs `static` before, and no Docker.
image() {
    python3 packaging/image.py "$packages/dupsieve-$version-x86_64-linux.tar.gz" "$packages/dupsieve-$version-image.tar"
}

# A package for Debian and Ubuntu: the program, its manual, completions, examples and units. Needs `cargo install cargo-deb`.
deb() {
    build "target/$folder/dupsieve"
    texts "target/$folder/dupsieve"
    cargo deb --no-build --profile "$profile" --output "$packages/"
}

# A wheel for every Python from 3.10 on: the module and the program. Needs pip, which fetches maturin.
wheel() {
    build "target/$folder/dupsieve"
    DUPSIEVE_PROGRAM=$PWD/target/$folder/dupsieve MATURIN_PEP517_ARGS="--profile $profile" \
        python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$packages" .
}

# What the program is made of, as CycloneDX. Needs `cargo install cargo-cyclonedx`.
sbom() {
    cargo cyclonedx --format json --features "$features" --describe binaries --target-in-filename --quiet
    sed "s|file://$PWD|file:///build|g" dupsieve_bin_*.cdx.json >"$packages/dupsieve-$version.cdx.json"
    rm dupsieve_bin_*.cdx.json
}

[ $# -gt 0 ] || set -- static image deb wheel sbom
for package in "$@"; do
    "$package"
done
cd "$packages"
rm -f SHA256SUMS
sha256sum -- * | tee /dev/stderr >.sums && mv .sums SHA256SUMS
