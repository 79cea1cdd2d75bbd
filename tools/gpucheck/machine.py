"""What the results were measured on."""

import os
import platform
import shutil
import sys
from pathlib import Path

from .programs import Missing, Program, now, output_of

QUERY = ["name", "driver_version", "compute_cap", "memory.total", "clocks.sm", "clocks.max.sm", "clocks.mem", "power.limit",
         "temperature.gpu"]
CUDA_PLACES = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]


def nvidia_smi():
    """What it says of the first GPU; None without one."""
    answer = output_of(["nvidia-smi", "--query-gpu=" + ",".join(QUERY), "--format=csv,noheader,nounits", "--id=0"])
    if not answer:
        return None
    return dict(zip(QUERY, (value.strip() for value in answer.splitlines()[0].split(","))))


def paths():
    """PATH with where nvcc may be, and where pip puts meson and ninja beside this Python."""
    more = [os.path.dirname(sys.executable)] + [os.path.join(place, "bin") for place in CUDA_PLACES if place]
    return os.pathsep.join([os.environ.get("PATH", "")] + more)


def site_packages():
    return [Path(folder) / "nvidia" for folder in sys.path if (Path(folder) / "nvidia").is_dir()]


def environment():
    """For the programs: GROUPDNN_* of the caller are left out; NVIDIA's libraries in Python's packages are found, cuDNN
    there before others."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GROUPDNN_") or key == "GROUPDNN_CUDNN"}
    env["PATH"] = paths()
    folders = [str(folder) for place in site_packages() for folder in sorted(place.glob("*/lib")) if folder.is_dir()]
    if folders:
        env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [env.get("LD_LIBRARY_PATH")] + folders))
    for place in site_packages():
        library = place / "cudnn" / "lib" / "libcudnn.so.9"
        if library.is_file():
            env.setdefault("GROUPDNN_CUDNN", str(library))
    return env


def need(program):
    path = shutil.which(program, path=paths())
    if not path:
        raise Missing("%s is not there: install it, or put its folder on PATH" % program)
    return path


def facts(check):
    """The GPU, the software, and the sources, as one object."""
    root = str(check.root)
    nvcc = output_of([shutil.which("nvcc", path=paths()) or "nvcc", "--version"])
    info = [record for record in Program(check.tool("info", "--json", "-"), check.env, check.log).run(now() + 60)
            if record.get("item") != "option"]
    return {
        "gpu": nvidia_smi(), "device": check.device, "nvcc": nvcc.splitlines()[-1] if nvcc else None,
        "info": info, "commit": output_of(["git", "-C", root, "rev-parse", "HEAD"]),
        "changed": bool(output_of(["git", "-C", root, "status", "--porcelain"])),
        "python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count(),
    }
