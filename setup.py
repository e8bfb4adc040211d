"""Maps the three top-level folders to the one import name; everything else stands in pyproject.toml.

`jitgraph/`, `compiler/` and `runtime/` become `jitgraph`, `jitgraph.compiler` and `jitgraph.runtime`. The list of
subpackages is found, not kept by hand, and pyproject.toml can say only one of the two.
"""

from setuptools import find_packages, setup

FOLDERS = {"jitgraph": "jitgraph", "jitgraph.compiler": "compiler", "jitgraph.runtime": "runtime"}

packages = [
    name
    for package, folder in FOLDERS.items()
    for name in [package, *(f"{package}.{sub}" for sub in find_packages(folder))]
]
data = ["py.typed", "*.pyi", "*.html", "*.j2", "*.css", "*.js", "*.json", "*.tsv", "*.npz", "samples/*.csv"]

setup(packages=packages, package_dir=FOLDERS, package_data={"": data}, include_package_data=False)
