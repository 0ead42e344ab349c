#!/usr/bin/env python3
"""Packs the static program into an image, without Docker: packaging/image.py dupsieve-VERSION-x86_64-linux.tar.gz dupsieve-VERSION-image.tar

The image is what the Dockerfile builds: the program and the certificates of the public authorities, as a user without rights. `docker load`
and `podman load` read it. The same program and certificates give the same bytes.
"""

import hashlib
import io
import json
import os
import pathlib
import re
import sys
import tarfile

CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
USER = 65532


def add(archive, name, data, mode=0o644, owner=0):
    """A file of these bytes, or a folder."""
    entry = tarfile.TarInfo(name)
    entry.mode, entry.uid, entry.gid = mode, owner, owner
    if data is None:
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    else:
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))


def packed(files):
    """An archive of such files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for file in files:
            add(archive, *file)
    return out.getvalue()


def main():
    package, image = sys.argv[1:]
    version = re.search(r"dupsieve-(.+)-x86_64-linux", package)[1]
    with tarfile.open(package) as archive:
        program = next(it for it in archive if it.name.endswith("/dupsieve"))
        program = archive.extractfile(program).read()
    files = [("usr", None, 0o755), ("usr/bin", None, 0o755), ("usr/bin/dupsieve", program, 0o755), ("data", None, 0o755, USER)]
    if CERTIFICATES.exists():
        folders = [(name, None, 0o755) for name in ["etc", "etc/ssl", "etc/ssl/certs"]]
        files += folders + [("etc/ssl/certs/ca-certificates.crt", CERTIFICATES.read_bytes())]
    layer = packed(files)
    digest = hashlib.sha256(layer).hexdigest()
    config = json.dumps({
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}", "WorkingDir": "/data", "Volumes": {"/data": {}},
            "Entrypoint": ["/usr/bin/dupsieve"], "Cmd": ["--help"],
            "Labels": {"org.opencontainers.image.revision": os.environ.get("DUPSIEVE_COMMIT", ""), "org.opencontainers.image.version": version},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }, sort_keys=True).encode()
    named = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = json.dumps([{"Config": named, "RepoTags": [f"dupsieve:{version}"], "Layers": [f"{digest}.tar"]}]).encode()
    written = packed([(f"{digest}.tar", layer), (named, config), ("manifest.json", manifest)])
    pathlib.Path(image).write_bytes(written)


if __name__ == "__main__":
    main()
