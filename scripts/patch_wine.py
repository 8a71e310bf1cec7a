"""Work around gaps in Debian's Wine 8.0, so that Python and compiled packages run in it.

    patch_wine.py python FOLDER      once, after CPython for Windows is unpacked
    patch_wine.py packages FOLDER    after packages were installed; may be repeated

Windows itself needs none of this:
- `platform` uses the module _wmi, which calls propsys.VariantToString. The module is disabled.
- CopyFile2 is missing. shutil is changed to copy without it.
- bcryptprimitives.dll is missing. Rust programs take random numbers from it, so a replacement is
built.
- The C runtime has no complex functions such as crealf. Libraries that import them get a small
library, built with mingw, that defines them and forwards everything else.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pefile

MATH = b"api-ms-win-crt-math-l1-1-0.dll"
OURS = b"kempelen-crt-complex-l1-10.dll"  # same length as the original name, which it overwrites
RANDOM = """\
#include <windows.h>
#include <ntsecapi.h>
BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, size); }
"""
REAL_VALUED = {"cabs", "carg", "creal", "cimag"}
FUNCTIONS = (
    "cabs|cacosh?|carg|casinh?|catanh?|ccosh?|cexp|cimag|clog|clog10|cpow|cproj|creal|csinh?|csqrt|"
    "ctanh?"
)
COMPLEX = re.compile(rf"({FUNCTIONS})(f?)")
# Windows passes a complex number as a structure of two numbers.
PRELUDE = """\
#include <complex.h>
typedef struct { double re, im; } pair;
typedef struct { float re, im; } pairf;
#define IN(x) ((x).re + (x).im * I)
"""


def patch_python(folder: Path) -> None:
    """Disable or replace parts of CPython that call functions missing in Wine."""
    wmi = folder / "DLLs" / "_wmi.pyd"
    if wmi.exists():
        wmi.rename(wmi.with_suffix(".off"))
    (folder / "Lib" / "sitecustomize.py").write_text(
        "import _winapi\n\nvars(_winapi).pop('CopyFile2', None)\n"
    )
    work = folder.parent / "random"
    built = build(RANDOM, ["EXPORTS", "ProcessPrng"], work, "-ladvapi32")
    install(built, "bcryptprimitives.dll")


def patch_packages(folder: Path) -> None:
    """Build the library of complex functions, and make libraries that need it import it."""
    imported = {
        path: names
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".pyd", ".dll") and MATH in path.read_bytes()
        if any(map(COMPLEX.fullmatch, names := math_imports(path)))
    }
    if not imported:
        return
    install(
        build_complex(set().union(*imported.values()), folder.parent / "complex"), OURS.decode()
    )
    for path in imported:
        path.write_bytes(path.read_bytes().replace(MATH, OURS))


def math_imports(path: Path) -> set[str]:
    """Return the functions that a library imports from the C runtime's math API set."""
    library = pefile.PE(str(path), fast_load=True)
    library.parse_data_directories([pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_IMPORT"]])
    entries = getattr(library, "DIRECTORY_ENTRY_IMPORT", [])
    return {
        each.name.decode()
        for entry in entries
        if entry.dll.lower() == MATH
        for each in entry.imports
        if each.name
    }


def build_complex(names: set[str], folder: Path) -> Path:
    """Build a library that exports these math functions, and return its path."""
    source, exports = [PRELUDE], [f"LIBRARY {OURS.decode()}", "EXPORTS"]
    for name in sorted(names):
        match = COMPLEX.fullmatch(name)
        if match:
            source.append(definition(name, match[1], match[2]))
            exports.append(f"{name}=our_{name}")
        else:
            exports.append(f"{name}=ucrtbase.{name}")
    return build("\n".join(source), exports, folder)


def build(source: str, exports: list[str], folder: Path, *options: str) -> Path:
    """Compile C source into a library in `folder`, and return its path."""
    folder.mkdir(exist_ok=True)
    (folder / "source.c").write_text(source)
    (folder / "source.def").write_text("\n".join(exports) + "\n")
    built = folder / "built.dll"
    command = ["x86_64-w64-mingw32-gcc", "-O2", "-shared", "-static-libgcc", "-o", built]
    subprocess.check_call([*command, folder / "source.c", folder / "source.def", *options])
    return built


def install(library: Path, name: str) -> None:
    """Copy a library into the system folder of Windows."""
    system = Path(os.environ["WINEPREFIX"]) / "drive_c" / "windows" / "system32"
    (system / name).write_bytes(library.read_bytes())


def definition(name: str, function: str, suffix: str) -> str:
    """Return C source that defines a complex function with structures as arguments and result."""
    pair, number = f"pair{suffix}", "float" if suffix else "double"
    call = f"{function}{suffix}(IN(x){', IN(y)' if function == 'cpow' else ''})"
    arguments = f"{pair} x, {pair} y" if function == "cpow" else f"{pair} x"
    if function in REAL_VALUED:
        return f"{number} our_{name}({arguments}) {{ return {call}; }}"
    return (
        f"{pair} our_{name}({arguments}) {{ {number} complex z = {call}; "
        f"return ({pair}){{ creal{suffix}(z), cimag{suffix}(z) }}; }}"
    )


if __name__ == "__main__":
    {"python": patch_python, "packages": patch_packages}[sys.argv[1]](Path(sys.argv[2]))
