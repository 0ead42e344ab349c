# An image with the static program and nothing else. It runs as no particular user and writes to /data alone:
#
#     docker build -t dupsieve:0.2.0 .
#     docker run --rm --read-only --user "$(id -u):$(id -g)" -v "$PWD:/data" dupsieve:0.2.0 run daily.toml --date 2026-11-21
FROM rust:1.95-alpine AS build
# hadolint ignore=DL3018
RUN apk add --no-cache ca-certificates gcc make musl-dev
WORKDIR /build
COPY . .
ARG DUPSIEVE_COMMIT
ARG FEATURES=object-store,segmenter
RUN --mount=type=cache,target=/build/target --mount=type=cache,target=/usr/local/cargo/registry \
    cargo build --release --locked --bin dupsieve --features "$FEATURES" \
    && install -D target/release/dupsieve /image/usr/bin/dupsieve \
    && install -D /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt \
    && mkdir /data

FROM scratch
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
WORKDIR /data
VOLUME ["/data"]
ENTRYPOINT ["/usr/bin/dupsieve"]
CMD ["--help"]
