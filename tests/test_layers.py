"""The house rules that a reader relies on: which way imports point, no cycles, and files that fit in a head."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {"jitgraph": "jitgraph", "compiler": "jitgraph.compiler", "runtime": "jitgraph.runtime"}
LONGEST_FILE = 600
LONGEST_FUNCTION = 70
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def modules():
    """{dotted name: path} of every module of the three folders, under the name it is imported by."""
    found = {}
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join([package, *parts]).removesuffix(".__init__")] = path
    return found


MODULES = modules()
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}


def layer(name):
    """0 for the graph language, 1 for the compiler, 2 for the runtime."""
    return {"jitgraph.compiler": 1, "jitgraph.runtime": 2}.get(".".join(name.split(".")[:2]), 0)


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def statements(tree, nested):
    """The import statements of a module: those run on import, or, with nested, those inside functions too."""
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if is_type_checking(node) or (
            not nested and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        ):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        pending.extend(ast.iter_child_nodes(node))


def named(name, nested=False):
    """(module, line) of all that the module `name` imports, whether it is there or not."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in statements(TREES[name], nested):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        else:
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            # `from package import submodule` depends on the submodule; of anything else, on the package itself.
            inner = [f"{base}.{alias.name}" for alias in node.names]
            targets = [target if target in MODULES else base for target in inner]
        yield from ((target, node.lineno) for target in targets)


def imported(name, nested=False):
    """{module of ours: line} that the module `name` imports."""
    result = {}
    for target, line in named(name, nested):
        if target in MODULES and target != name:
            result.setdefault(target, line)
    return result


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_name_modules_that_are_there(name):
    """Type checkers pass over those that are not, and an import inside a function fails only where it is run."""
    ours = [(target, line) for target, line in named(name, nested=True) if target.partition(".")[0] == "jitgraph"]
    assert not [(target, line) for target, line in ours if target not in MODULES]


def reaches_up(name):
    """Only the facade and the command line know the layers above the graph language."""
    return name == "jitgraph" or name.startswith("jitgraph.cli")


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_point_down(name):
    at_import, anywhere = imported(name), imported(name, nested=True)
    up = {target: line for target, line in anywhere.items() if layer(target) > layer(name)}
    if reaches_up(name):
        up = {target: line for target, line in up.items() if name == "jitgraph" and target in at_import}
    assert not up, f"{name} imports from a layer above it: {up}"


@pytest.mark.parametrize("name", sorted(name for name in MODULES if name.startswith("jitgraph.graph")))
def test_the_graph_package_stands_alone(name):
    """It may use protobuf's messages, and leaves, modules that on load need nothing but it: the table of names."""
    inside = lambda target: target.startswith(("jitgraph.graph", "jitgraph.protobuf"))
    outside = {target: line for target, line in imported(name).items() if not inside(target)}
    outside = {target: line for target, line in outside.items() if not all(map(inside, imported(target)))}
    assert not outside, f"{name} imports on load from outside jitgraph.graph: {outside}"


def test_no_import_cycles():
    edges = {name: imported(name) for name in MODULES}
    done, path = set(), []

    def visit(name):
        if name in done:
            return
        if name in path:
            pytest.fail("import cycle: " + " -> ".join([*path[path.index(name) :], name]))
        path.append(name)
        for target in edges[name]:
            visit(target)
        done.add(path.pop())

    for name in edges:
        visit(name)


LARGEST_CIRCLE = 3


def circles(edges):
    """The sets of modules of which each reaches the others by imports (Tarjan, 1972)."""
    order, lowest, stack, found = {}, {}, [], []

    def visit(name):
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for target in edges[name]:
            if target not in order:
                visit(target)
            if target in stack:
                lowest[name] = min(lowest[name], lowest[target])
        if lowest[name] == order[name]:
            start = stack.index(name)
            found.append(sorted(stack[start:]))
            del stack[start:]

    for name in edges:
        if name not in order:
            visit(name)
    return found


def test_circles_are_found():
    edges = {"a": ["b"], "b": ["c", "d"], "c": ["a"], "d": ["e"], "e": ["d"], "f": ["a"]}
    assert sorted(circles(edges)) == [["a", "b", "c"], ["d", "e"], ["f"]]


def test_few_modules_import_each_other_inside_functions():
    """An import inside a function may put off work; it must not hide that two rooms cannot be understood apart."""
    found = circles({name: imported(name, nested=True) for name in MODULES})
    assert not [circle for circle in found if len(circle) > LARGEST_CIRCLE]


def room(name):
    """The folder that a module stands in: jitgraph.ops for jitgraph.ops.image.image_crop, jitgraph.contrib.crf for its files."""
    parts = name.split(".")
    return ".".join(parts[: 3 if parts[1:2] == ["contrib"] else 2])


def test_rooms_stand_above_one_another():
    """Of two rooms one stands above the other, or neither knows the other: imports inside functions count, too."""
    rooms = {room(name): set() for name in MODULES}
    for name in MODULES:
        rooms[room(name)].update(room(target) for target in imported(name, nested=True))
    found = circles({name: sorted(below - {name}) for name, below in rooms.items()})
    assert not [circle for circle in found if len(circle) > 1]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_files_and_functions_are_short(name):
    lines = MODULES[name].read_text().count("\n")
    assert lines < LONGEST_FILE, f"{MODULES[name].relative_to(ROOT)} has {lines} lines: it is two things"
    long = {
        f"{node.name} (line {node.lineno})": own_lines(node)
        for node in ast.walk(TREES[name])
        if isinstance(node, FUNCTIONS) and own_lines(node) > LONGEST_FUNCTION
    }
    assert not long, f"functions over {LONGEST_FUNCTION} lines in {MODULES[name].relative_to(ROOT)}: {long}"


def own_lines(function):
    """The lines of a function without those of the functions defined in it, which are counted by themselves."""
    inner, pending = 0, list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        if isinstance(node, FUNCTIONS):
            inner += node.end_lineno - node.lineno + 1
        else:
            pending.extend(ast.iter_child_nodes(node))
    return function.end_lineno - function.lineno + 1 - inner


def test_the_public_api_is_typed():
    for folder in FOLDERS:
        assert (ROOT / folder / "py.typed").exists(), f"{folder}/py.typed tells type checkers to read the annotations"
