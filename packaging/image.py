#!/usr/bin/env python3
"""Packs the static program into an image, without Docker: packaging/image.py PROGRAM dupsieve-VERSION-image.tar

The image is what the Dockerfile builds: the program and the certificates of the public authorities, as a user without rights. The archive is
an OCI image layout with the `manifest.json` of Docker beside it, so every version of `docker load`, `podman load` and `skopeo` reads it. The
same program and certificates give the same bytes.
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


def as_json(value):
    return json.dumps(value, sort_keys=True).encode()


def main():
    program, image = map(pathlib.Path, sys.argv[1:])
    version = re.search(r"dupsieve-(.+)-image", image.name)[1]
    files = [("usr", None, 0o755), ("usr/bin", None, 0o755), ("usr/bin/dupsieve", program.read_bytes(), 0o755), ("data", None, 0o755, USER)]
    if CERTIFICATES.exists():
        folders = [(name, None, 0o755) for name in ["etc", "etc/ssl", "etc/ssl/certs"]]
        files += folders + [("etc/ssl/certs/ca-certificates.crt", CERTIFICATES.read_bytes())]
    blobs = []

    def blob(data):
        """Adds a blob, and gives its digest."""
        digest = hashlib.sha256(data).hexdigest()
        blobs.append((f"blobs/sha256/{digest}", data))
        return digest

    def described(data, kind, **more):
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{blob(data)}", "size": len(data), **more}

    layer = packed(files)
    layers = [described(layer, "layer.v1.tar")]
    config = as_json({
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}", "WorkingDir": "/data", "Volumes": {"/data": {}},
            "Entrypoint": ["/usr/bin/dupsieve"], "Cmd": ["--help"],
            "Labels": {"org.opencontainers.image.revision": os.environ.get("DUPSIEVE_COMMIT", ""), "org.opencontainers.image.version": version},
        },
        "rootfs": {"type": "layers", "diff_ids": [layers[0]["digest"]]},
    })
    manifest = as_json({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                        "config": described(config, "config.v1+json"), "layers": layers})
    named = {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"docker.io/library/dupsieve:{version}"}
    index = {"schemaVersion": 2, "manifests": [described(manifest, "manifest.v1+json", annotations=named)]}
    of_layer, of_config = blobs[0][0], blobs[1][0]
    docker = [{"Config": of_config, "RepoTags": [f"dupsieve:{version}"], "Layers": [of_layer]}]
    image.write_bytes(packed([
        ("oci-layout", as_json({"imageLayoutVersion": "1.0.0"})), ("index.json", as_json(index)), ("manifest.json", as_json(docker)), *blobs,
    ]))


if __name__ == "__main__":
    main()
