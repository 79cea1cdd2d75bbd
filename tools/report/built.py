"""What the compiler makes of the kernels: compiled as kernels/meson.build has it, and read from its files."""

import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KERNELS = ROOT / "kernels"
PACKAGE = "nvidia-cuda-nvdisasm==13.5.37"
# CUDA's usual places, for shells whose PATH lacks it.
PLACES = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]

# A line of kernels.def. threads and dynamic: numbers, or None where they depend on the problem.
# instances: those that are compiled for it, none where it runs as another kernel.
Kernel = namedtuple("Kernel", "file name instances threads dynamic")


class Missing(Exception):
    """The machine lacks something."""


class Wrong(Exception):
    """The call or its input is wrong."""


def number(text):
    return int(text) if re.fullmatch(r"\d+", text) else None


def kernel_list(text):
    """The kernels of a kernels.def."""
    kernels = []
    for line in re.findall(r"^GDNN_KERNEL\((.*)\)\s*$", text, flags=re.M):
        fields, depth = [""], 0
        for letter in line:
            depth += (letter == "(") - (letter == ")")
            if letter == "," and not depth:
                fields.append("")
            else:
                fields[-1] += letter
        fields = [field.strip() for field in fields]
        if len(fields) != 10:
            raise Wrong("kernels.def: %d fields instead of 10 in GDNN_KERNEL(%s)" % (len(fields), line))
        file, name, code, _, layouts, dtypes, epilogues, _, _, grid = fields
        words = ("NCHW", "NHWC") if layouts == "ANY" else layouts.split("|")
        ends = ("", "_plain") if "PLAIN" in epilogues else ("",)
        instances = ["gdnn_%s_%s_%s%s" % (name, layout.strip().lower(), dtype.strip().lower(), end)
                     for layout in words for dtype in dtypes.split("|") for end in ends if code == name]
        plain = re.match(r"GRID\((\d+),", grid)
        kernels.append(Kernel(file, name, instances, number(plain[1]) if plain else None, 0 if plain else None))
    return kernels


def kernel_of(kernels, symbol):
    """The line of kernels.def to which an instance belongs; None if it is of none."""
    fitting = [kernel for kernel in kernels if symbol.startswith("gdnn_%s_" % kernel.name)]
    return max(fitting, key=lambda kernel: len(kernel.name), default=None)


def compiler_flags(text):
    """What kernels/meson.build gives to nvcc, without what is about warnings: a kernel that spills is to be seen here."""
    found = re.search(r"^kernel_flags = \[(.*?)\]", text, flags=re.M | re.S)
    if not found:
        raise Wrong("kernels/meson.build: no list kernel_flags")
    flags = [quoted or str(KERNELS) for quoted, _ in re.findall(r"'([^']*)'|(meson\.current_source_dir\(\))", found[1])]
    kept = []
    for flag in flags:
        if kept and kept[-1] in ("-Xptxas", "-Werror") and re.match(r"-?warn|all-warnings", flag):
            kept.pop()
        else:
            kept.append(flag)
    return kept


def find_tool(name):
    """A program of CUDA; None where it is not."""
    for place in [None, *filter(None, PLACES)]:
        path = shutil.which(name) if place is None else shutil.which(os.path.join(place, "bin", name))
        if path:
            return path
    return None


def find_nvcc():
    nvcc = find_tool("nvcc")
    if not nvcc:
        raise Missing("no nvcc on PATH, nor in CUDA_HOME or /usr/local/cuda: install CUDA 12.4 or later")
    return nvcc


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")


def compile_kernel(nvcc, file, arch, folder):
    """Compiles kernels/<file>.cu for an architecture, unless the same was compiled before: the cubin, and what ptxas said
    of it."""
    source = KERNELS / (file + ".cu")
    if not source.is_file():
        raise Wrong("kernels.def names %s, but there is no %s" % (file, source))
    flags = compiler_flags((KERNELS / "meson.build").read_text())
    virtual = 80 if arch >= 80 else 75 # as kernels/meson.build has it
    command = [nvcc, "-cubin", "-gencode", "arch=compute_%d,code=sm_%d" % (virtual, arch), "-lineinfo", *flags, "-Xptxas", "-v",
               str(source)]
    key = hashlib.sha256(repr(command).encode() + run([nvcc, "--version"]).stdout.encode())
    for path in [source, *sorted(KERNELS.glob("*.h"))]:
        key.update(path.read_bytes())
    cubin = folder / ("%s.sm_%d.%s.cubin" % (file, arch, key.hexdigest()[:16]))
    said = cubin.with_suffix(".txt")
    if not (cubin.is_file() and said.is_file()):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("%s.sm_%d.*" % (file, arch)):
            old.unlink()
        unfinished = cubin.with_suffix(".%d" % os.getpid())
        done = run([*command, "-o", str(unfinished)])
        if done.returncode:
            raise Wrong("%s does not compile for sm_%d:\n%s" % (source, arch, done.stderr.strip()))
        said.write_text(done.stderr)
        unfinished.replace(cubin)
    return cubin, said.read_text()


def resources(text):
    """What `ptxas -v` says: name of the function to its registers, spills and so on."""
    found = {}
    name = None
    for line in text.splitlines():
        if not line.startswith(("ptxas info", " ")):
            continue # warnings name other functions
        start = re.search(r"(?:Compiling entry function '|Function properties for )([^\s']+)", line)
        if start:
            name = start[1]
            if "Compiling" in line:
                found[name] = {"registers": None, "spill_stores": 0, "spill_loads": 0, "stack": 0, "static": 0,
                               "barriers": 0}
            continue
        use = found.get(name)
        if not use:
            continue
        for key, pattern in (("stack", r"(\d+) bytes stack frame"), ("spill_stores", r"(\d+) bytes spill stores"),
                             ("spill_loads", r"(\d+) bytes spill loads"), ("registers", r"Used (\d+) registers"),
                             ("barriers", r"used (\d+) barriers"), ("static", r"(\d+) bytes smem")):
            value = re.search(pattern, line)
            if value:
                use[key] = int(value[1])
    return {name: use for name, use in found.items() if use["registers"] is not None}


def code_sizes(data):
    """Bytes of machine code of every function of a cubin: the sizes of the sections .text.<name> of a 64-bit ELF file."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise Wrong("the compiler made no 64-bit ELF file")
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    names = sections[names_index][4]
    found = {}
    for section in sections:
        start = names + section[0]
        name = data[start:data.index(b"\0", start)].decode()
        if name.startswith(".text."):
            found[name[len(".text."):]] = section[5]
    return found


def find_nvdisasm(folder):
    """The disassembler: of CUDA, or what install() got; None without."""
    return find_tool("nvdisasm") or next((str(p) for p in sorted((folder / "nvdisasm").rglob("bin/nvdisasm"))), None)


def install(folder):
    done = run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps",
                "--no-compile", "--upgrade", "--target", str(folder / "nvdisasm"), PACKAGE])
    if done.returncode:
        raise Missing("pip could not install %s:\n%s" % (PACKAGE, done.stderr.strip()))


def disassemble(nvdisasm, cubin):
    done = run([nvdisasm, "-c", str(cubin)])
    if done.returncode:
        raise Missing("%s cannot read what nvcc made (is it older than nvcc?):\n%s" % (nvdisasm, done.stderr.strip()))
    return done.stdout
