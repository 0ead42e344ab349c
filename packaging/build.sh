#!/usr/bin/env bash
# Builds packages into target/packages: packaging/build.sh [program] [static] [deb] [wheel] [sbom]; the last four by default.
# PROFILE=dev builds without optimisation, to try the packaging itself.
set -euo pipefail
cd "$(dirname "$0")/.."
unset CARGO_TARGET_DIR

profile=${PROFILE:-release}
folder=$([ "$profile" = dev ] && echo debug || echo "$profile")
packages=target/packages
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

# The program as this machine builds it.
program() {
    cargo build --locked --profile "$profile" --bin dupsieve --features "$features"
    cp "target/$folder/dupsieve" "$packages/dupsieve"
}

# A program that needs no library of the machine it runs on. Needs `rustup target add x86_64-unknown-linux-musl` and musl-tools.
static() {
    local target=x86_64-unknown-linux-musl
    cargo build --locked --profile "$profile" --target "$target" --bin dupsieve --features "$features"
    cp "target/$target/$folder/dupsieve" "$packages/dupsieve-static"
}

# A package for Debian and Ubuntu: the program, its manual, completions, examples and units. Needs `cargo install cargo-deb`.
deb() {
    local program=target/$folder/dupsieve made=target/packaging
    cargo build --locked --profile "$profile" --bin dupsieve --features "$features"
    rm -rf "$made"
    "$program" man "$made/man" >/dev/null
    local shell
    for shell in bash zsh fish; do
        "$program" completions "$shell" >"$made/completions.$shell"
    done
    cargo deb --no-build --profile "$profile" --output "$packages/"
}

# A wheel: the module for Python, and the program. Needs pip, which fetches maturin.
wheel() {
    cargo build --locked --profile "$profile" --bin dupsieve --features "$features"
    DUPSIEVE_PROGRAM=$PWD/target/$folder/dupsieve MATURIN_PEP517_ARGS="--profile $profile" \
        python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$packages" .
}

# What the program is made of, as CycloneDX. Needs `cargo install cargo-cyclonedx`.
sbom() {
    cargo cyclonedx --format json --features "$features" --describe binaries --target-in-filename --quiet
    sed "s|file://$PWD|file:///build|g" dupsieve_bin_*.cdx.json >"$packages/dupsieve.cdx.json"
    rm dupsieve_bin_*.cdx.json
}

[ $# -gt 0 ] || set -- static deb wheel sbom
for package in "$@"; do
    "$package"
done
(cd "$packages" && sha256sum -- *)
