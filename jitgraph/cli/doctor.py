"""`jitgraph doctor`: one page on what was sought on this machine, what was found, and what to install."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from jitgraph import environment, installing

EXAMPLES = """\b
Examples:
  jitgraph doctor                     what was found, and what to install
  jitgraph doctor --json              the same for a bug report
Exit code 1 if something without which nothing runs is missing."""

GOOD, MISSING, BROKEN = "ok", "missing", "broken"
LEAST_MEMORY = 512      # MB of a device that should be free: a context takes most of that


@dataclass
class Finding:
    """One line of the report: something sought, what was found, and what to do about it."""

    part: str
    what: str
    found: str
    state: str = GOOD
    advice: str = ""


def doctor(json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> int:
    """Say what jitgraph finds on this machine: versions, CPU, threads, BLAS, the store, CUDA."""
    findings = report()
    if json:
        import json as encoder

        print(encoder.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        _print(findings)
    return 1 if any(finding.state == BROKEN for finding in findings) else 0


def report() -> list[Finding]:
    """Return all findings. A part that cannot be examined is a finding too, never an exception."""
    findings: list[Finding] = []
    for part, examine in PARTS.items():
        try:
            findings += [Finding(part, *rest) for rest in examine()]
        except Exception as error:  # a doctor that falls ill helps nobody
            findings.append(
                Finding(part, "examination", f"{type(error).__name__}: {error}", BROKEN, "please report this")
            )
    return findings


def _print(findings: list[Finding]) -> None:
    from rich.markup import escape

    from jitgraph.app.terminal import console, show, table

    marks = {GOOD: "[green]ok[/]", MISSING: "[yellow]-[/]", BROKEN: "[bold red]BROKEN[/]"}
    rows = table("", "part", "what", "found")
    last = ""
    for finding in findings:
        part = "" if finding.part == last else finding.part
        last = finding.part
        found = escape(finding.found) + (f"\n[dim]{escape(finding.advice)}[/]" if finding.advice else "")
        rows.add_row(marks[finding.state], part, finding.what, found)
    show(console(), rows)


Row = tuple[str, ...]
"""(what, found), then if wanted (state, advice)."""


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _packages() -> list[Row]:
    rows: list[Row] = [
        ("jitgraph", f"{_version('jitgraph') or 'not installed'}, {Path(__file__).parent.parent}"),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"),
    ]
    for package, extras in _requirements().items():
        version = _version(package)
        if version:
            rows.append((package, version))
        elif not extras:
            rows.append((package, "not found", BROKEN, installing.command(package)))
    import tempfile

    rows.append(("system", f"{platform.system()} {platform.machine()}, temporary files in {tempfile.gettempdir()}"))
    return rows


def _requirements() -> dict[str, set[str]]:
    """Return what the installed jitgraph asks for: {package: extras that ask for it, none if all do}."""
    found: dict[str, set[str]] = {}
    always: set[str] = set()
    for line in metadata.requires("jitgraph") or ():
        package = re.split(r"[^A-Za-z0-9._-]", line)[0]
        extras = re.findall(r"""extra == ['"]([^'"]+)""", line)
        found.setdefault(package, set()).update(extras)
        if not extras:
            always.add(package)
    return {package: set() if package in always else extras for package, extras in found.items()}


def _extras() -> list[Row]:
    """Examine the extras one by one: what of each is there, and what is missing."""
    rows: list[Row] = []
    wanted: dict[str, list[str]] = {}
    for package, extras in _requirements().items():
        for extra in sorted(extras):
            wanted.setdefault(extra, []).append(package)
    for extra, packages in sorted(wanted.items()):
        absent = [package for package in packages if _version(package) is None]
        if absent:
            rows.append((extra, f"{', '.join(absent)} not found", MISSING, installing.advice(extra)))
        else:
            rows.append((extra, "  ".join(f"{package} {_version(package)}" for package in packages)))
    return rows


def _cpu() -> list[Row]:
    import llvmlite.binding as llvm

    features = {name for name, present in llvm.get_host_cpu_features().items() if present}
    wanted = ["avx512f", "avx512dq", "avx512bf16", "avx2", "fma", "f16c", "amx-bf16", "neon", "sve"]
    rows: list[Row] = [
        ("name", f"{llvm.get_host_cpu_name()} ({llvm.get_process_triple()})"),
        ("features", " ".join(name for name in wanted if name in features) or "none of " + " ".join(wanted)),
        ("vector width", f"{vector_bits(features)} bits"),
        ("LLVM", ".".join(str(part) for part in llvm.llvm_version_info)),
        *_compiler(),
    ]
    if not features & {"fma", "neon"}:
        rows.append(
            ("fused multiply-add", "not found", MISSING, "kernels run, but elementary functions are slower here")
        )
    return rows


def _compiler() -> list[Row]:
    from jitgraph.compiler import options

    try:
        chosen = options.compiler()
    except ValueError:  # told among the settings
        return []
    return [("kernels", f"{chosen}: {options.COMPILERS[chosen]}; JITGRAPH_COMPILER={'|'.join(options.COMPILERS)}")]


def vector_bits(features: set[str]) -> int:
    """Return the widest vector register, in bits, that these LLVM feature names promise."""
    for bits, names in ((512, {"avx512f"}), (256, {"avx", "avx2"}), (128, {"sse2", "neon"})):
        if features & names:
            return bits
    return 64


def _threads() -> list[Row]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    rows: list[Row] = [("cores", f"{usable} usable of {os.cpu_count()}")]
    try:
        asked = environment.number("JITGRAPH_THREADS")
    except ValueError:  # told among the settings
        return rows
    if asked is None:
        return [*rows, ("kernel threads", f"{usable}; JITGRAPH_THREADS sets another number")]
    return [*rows, ("kernel threads", f"{asked}, by JITGRAPH_THREADS")]


def _settings() -> list[Row]:
    from jitgraph.runtime import settings

    rows: list[Row] = [
        (one.name, repr(one.value), *((BROKEN, one.complaint) if one.complaint else ())) for one in settings.examined()
    ]
    return rows or [("variables", "none set; there are " + ", ".join(settings.VARIABLES))]


def _blas() -> list[Row]:
    import numpy
    import scipy

    rows = []
    for package in (numpy, scipy):
        blas = package.show_config(mode="dicts")["Build Dependencies"]["blas"]
        rows.append((package.__name__, f"{blas['name']} {blas['version']}"))
    limits = [
        f"{name}={os.environ[name]}" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS") if name in os.environ
    ]
    return [*rows, ("limits", " ".join(limits) or "none set")]


def _store() -> list[Row]:
    from jitgraph.runtime import store

    directory = Path(store.directory())
    entries = list(store.entries())
    rows: list[Row] = [("place", f"{directory}, {len(entries)} kernels; JITGRAPH_CACHE sets another")]
    existing = next(folder for folder in [directory, *directory.parents] if folder.exists())
    if os.access(existing, os.W_OK | os.X_OK):
        rows.append(("writable", "yes"))
    else:
        rows.append(("writable", f"no: {existing}", MISSING, "kernels are compiled anew each time; set JITGRAPH_CACHE"))
    free = os.statvfs(existing)
    megabytes = free.f_bavail * free.f_frsize // 2**20
    low = megabytes < 100
    rows.append(("free space", f"{megabytes} MB", *((MISSING, "make room, or set JITGRAPH_CACHE") if low else ())))
    return rows


def _cuda() -> list[Row]:
    """Examine compiler packages, driver and devices. Nothing here needs a GPU, and only a driver is asked about one."""
    from jitgraph.compiler.emit.cuda_compile import missing

    reason = missing()
    rows: list[Row] = [("compiling", "no", MISSING, reason)] if reason else [("compiling", "yes")]
    driver = _driver()
    serves = any(row[0] == "driver" and len(row) == 2 for row in driver)
    return [*rows, *_versions(), *driver, *_libraries(), *_target(serves)]


def _libraries() -> list[Row]:
    """Examine whether cuBLASLt and cuDNN are there, without which generated kernels make products and convolutions, and none by
    tensor cores."""
    from jitgraph.runtime.cuda import cublaslt, cudnn
    from jitgraph.runtime.cuda.installed import NotFound

    rows: list[Row] = []
    for name, module, extra, work in (("cuBLASLt", cublaslt, "cublas", "matrix products"),
                                      ("cuDNN", cudnn, "cudnn", "convolutions")):
        try:
            library, path = module.load()
        except NotFound as error:
            rows.append((name, f"not found: {error}", MISSING,
                         f"generated kernels make {work}, without tensor cores; {installing.advice(extra)}"))
        else:
            rows.append((name, f"{module.version(library)}, {path}"))
    if environment.flag("JITGRAPH_TF32"):
        rows.append(("TF32", "factors of float32 products may be rounded to 11 bits, by JITGRAPH_TF32"))
    return rows


def _versions() -> list[Row]:
    """Examine whether the packages of jitgraph[cuda] that are there belong together: each by itself may load and yet write what
    the others refuse."""
    try:
        from packaging.requirements import Requirement
    except ImportError:         # one of the extra itself: without it the others are not there either
        return []
    rows: list[Row] = []
    for wanted in map(Requirement, metadata.requires("jitgraph") or ()):
        version = _version(wanted.name)
        if wanted.marker is None or not wanted.marker.evaluate({"extra": "cuda"}) or version is None:
            continue
        if not wanted.specifier.contains(version, prereleases=True):
            rows.append((wanted.name, f"{version}, and {wanted.specifier} is needed", MISSING, installing.advice("cuda")))
    return rows


def _driver() -> list[Row]:
    """Examine what NVIDIA's driver says of itself and of its devices."""
    from jitgraph.runtime.cuda.driver import DriverError, NoDriver
    from jitgraph.runtime.cuda.real import RealDriver

    try:
        driver = RealDriver()
    except NoDriver as error:
        return [("driver", "none that serves", MISSING, str(error))]
    rows: list[Row] = [("driver", driver.version())]
    for k, device in enumerate(driver.devices()):
        told = f"{device.name}, compute capability {device.capability[0]}.{device.capability[1]}, "
        told += f"{device.multiprocessors} multiprocessors, {device.memory >> 20} MB"
        try:
            free = driver.memory(k)[0] >> 20
        except DriverError as error:
            rows.append((f"gpu:{k}", told, MISSING, str(error)))
        else:
            few = (MISSING, "other programs have taken its memory (nvidia-smi lists them): end them, or choose another device "
                            "by CUDA_VISIBLE_DEVICES") if free < LEAST_MEMORY else ()
            rows.append((f"gpu:{k}", f"{told}, {free} MB free", *few))
    listed = [entry for entry in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if entry]
    if len(listed) > len(driver.devices()):
        rows.append(("CUDA_VISIBLE_DEVICES", f"{','.join(listed)}, of which {len(driver.devices())} serve", MISSING,
                     "what is listed behind a device that does not exist is hidden: name those of nvidia-smi -L"))
    return rows


def _target(serves: bool) -> list[Row]:
    """Say what sessions run on, which JITGRAPH_TARGET chooses; `serves`: whether a driver does."""
    from jitgraph.compiler import targets

    try:
        target = targets.present()
    except ValueError:  # told among the settings
        return []
    chosen = environment.text("JITGRAPH_TARGET")
    if not target.has_memory:
        return [("sessions", f"run on the CPU; JITGRAPH_TARGET={targets.CUDA.name} lets them run on GPUs")]
    if not serves and chosen == targets.CUDA.name:
        return [("sessions", f"cannot run on {chosen}, by JITGRAPH_TARGET", BROKEN,
                 f"mend the driver, or set JITGRAPH_TARGET={targets.CPU.name}")]
    return [("sessions", f"run on {chosen}, by JITGRAPH_TARGET")]


PARTS: dict[str, Callable[[], list[Any]]] = {
    "packages": _packages,
    "extras": _extras,
    "CPU": _cpu,
    "threads": _threads,
    "settings": _settings,
    "BLAS": _blas,
    "store": _store,
    "CUDA": _cuda,
}
"""What is examined, in the order of the report."""
