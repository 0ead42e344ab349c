"""The build backend of `pip install .`: maturin, which builds the module, and before it the program, which the wheel brings along.

DUPSIEVE_PROGRAM names a program that is built already. Without it the program is built with all features.
"""

import os
import shutil
import subprocess
from pathlib import Path

import maturin
from maturin import *  # noqa: F403 - the hooks that stay as they are

ROOT = Path(__file__).resolve().parents[2]
# `data` of [tool.maturin]: what is in its folder `scripts` gets onto the path.
SCRIPTS = ROOT / "target" / "wheel.data" / "scripts"
SCRIPTS.mkdir(parents=True, exist_ok=True)
BUILD = ["cargo", "build", "--release", "--locked", "--bin", "dupsieve", "--features", "object-store,segmenter"]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    program = os.environ.get("DUPSIEVE_PROGRAM")
    if program is None:
        target = ROOT / "target"
        subprocess.run([*BUILD, "--target-dir", target], cwd=ROOT, check=True)
        program = target / "release" / "dupsieve"
    shutil.copy2(program, SCRIPTS / "dupsieve")
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
