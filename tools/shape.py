"""The shape of the code as figures: `python -m tools.shape [ROOT] [--check]`.

- Code line: neither blank nor a comment of its own; docstrings and indentation count. Ternaries,
  comprehensions and tuple assignments (a tuple on both sides) are given per 1,000 code lines.
- Parameters: all named ones except `self` and `cls`. Methods: overloads and special ones count.
- Private member touched: `x._name` where x is not `self`, `cls` or `super()`. Not counted: the
  documented names of named tuples, a member that a method reads from another instance of its class,
  and what an imported name of another library offers (`os._exit`). The column "private" counts
  members whose name this repository defines, and after the plus sign those of other libraries.
- Imports: deferred and type-only ones count, the implied import of a parent package does not.
- File that knows the sign: one with a name, attribute or parameter that has `sign` among its words
  (`sign`, `_sign`, `sign_of`), apart from functions of arrays such as `np.sign`.

With `--check` the script prints one sentence for each broken limit, and exits with 1 if there is
one. A member of another library is accepted if its line carries `noqa: SLF001`.
"""

import argparse
import ast
import graphlib
import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MAX_MODULE_LINES = 400
MAX_LINE = 100
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6
MAX_METHODS = 15
MAX_EVIDENCE_MODULES = 1
LARGE_CLASSES_ALLOWED = {"Study", "Store"}

# Before the laboratory had a distribution of its own it was a package of the product.
OLD_LABORATORY = "ceibo.paper."
OLD_COMPRESSION = {"ceibo.paper.compression"}
OLD_COMPRESSION |= {f"ceibo.paper.compression.{x}" for x in ("compress", "compressible", "lowrank")}
PARTS = {"ceibo": "product", "ceibo_lab": "laboratory", "pages": "pages"}
FOLDERS = {"ceibo": "src", "ceibo_lab": "lab/src", "pages": "."}
NAMED_TUPLE = {"_fields", "_field_defaults", "_asdict", "_make", "_replace"}
ARRAY_MODULES = {"np", "numpy", "torch", "math"}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Test = Callable[[ast.AST], bool]


@dataclass(frozen=True)
class Module:
    """One source file, parsed."""

    name: str
    place: str
    is_package: bool
    lines: list[str]
    code: list[str]
    nodes: list[ast.AST]
    functions: list[Function]
    classes: list[ast.ClassDef]

    def count(self, holds: Test) -> int:
        return sum(map(holds, self.nodes))


def read_modules(root: Path) -> Iterator[Module]:
    """Every module of the product, of the laboratory and of the pages' writers."""
    for package, folder in FOLDERS.items():
        for path in sorted((root / folder / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            lines = text.splitlines()
            nodes = list(ast.walk(ast.parse(text)))
            is_package = path.name == "__init__.py"
            inner = path.parent if is_package else path.with_suffix("")
            yield Module(
                name=".".join(inner.relative_to(root / folder).parts),
                place=path.relative_to(root).as_posix(),
                is_package=is_package,
                lines=lines,
                code=[line for line in lines if line.strip() and not line.lstrip().startswith("#")],
                nodes=nodes,
                functions=[node for node in nodes if isinstance(node, Function)],
                classes=[node for node in nodes if isinstance(node, ast.ClassDef)],
            )


def part_of(module: Module) -> str:
    """The distribution to which a module belongs."""
    if f"{module.name}.".startswith(OLD_LABORATORY) and module.name not in OLD_COMPRESSION:
        return "laboratory"
    return PARTS[module.name.split(".")[0]]


def package_of(module: Module) -> str:
    """The top-level package of the product in which a module lies."""
    if module.name in OLD_COMPRESSION:
        return "compression"
    parts = module.name.split(".")
    return parts[1] if len(parts) > 1 + (not module.is_package) else "top level"


def groups(modules: Sequence[Module]) -> dict[str, list[Module]]:
    """The rows of the tables."""
    product = [module for module in modules if part_of(module) == "product"]
    rows = {"product": product}
    for module in sorted(product, key=package_of):
        rows.setdefault(f"  {package_of(module)}", []).append(module)
    for part in ("laboratory", "pages"):
        rows[part] = [module for module in modules if part_of(module) == part]
    rows["all"] = list(modules)
    return {name: members for name, members in rows.items() if members}


def length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def docstring_lines(module: Module) -> int:
    owners = [node for node in module.nodes if isinstance(node, DOCUMENTED)]
    return sum(length(node.body[0]) for node in owners if ast.get_docstring(node) is not None)


def parameters(function: Function) -> int:
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in named)


def is_tuple_assignment(node: ast.AST) -> bool:
    sides = [node.targets[0], node.value] if isinstance(node, ast.Assign) else [None]
    return all(isinstance(side, ast.Tuple) for side in sides)


def builds_evidence(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Evidence"


def knows_sign(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ARRAY_MODULES:
        return False
    fields = [getattr(node, field, None) for field in ("id", "attr", "arg", "name")]
    return any("sign" in field.split("_") for field in fields if isinstance(field, str))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def defined_privates(nodes: Iterable[ast.AST]) -> set[str]:
    """Private names that the code defines: functions, variables, attributes of self."""
    names = set()
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
    return set(filter(is_private, names))


def touched_privates(module: Module, own: set[str]) -> Iterator[ast.Attribute]:
    """Accesses to private members of other objects; `own` are the names this repository defines."""
    same_class = set()
    for owner in module.classes:
        inside = list(ast.walk(owner))
        names = defined_privates(inside)
        accesses = [node for node in inside if isinstance(node, ast.Attribute)]
        same_class |= {n for n in accesses if n.attr in names and isinstance(n.value, ast.Name)}
    imports = [node for node in module.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            receiver = ast.unparse(node.value)
            expected = receiver in ("self", "cls", "super()") or node.attr in NAMED_TUPLE
            of_library = receiver in imported and node.attr not in own
            if not expected and not of_library and node not in same_class:
                yield node


def import_graph(modules: Sequence[Module]) -> dict[str, set[str]]:
    """The modules of this repository that each module imports, wherever in the file."""
    graph: dict[str, set[str]] = {module.name: set() for module in modules}
    for module in modules:
        package = module.name.split(".")[: None if module.is_package else -1]
        found = graph[module.name]
        for node in module.nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*above, *filter(None, [node.module])])
                names = [f"{base}.{alias.name}" for alias in node.names]
                found |= {name if name in graph else base for name in names}
        found &= graph.keys() - {module.name}
    return graph


def import_cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Cycles of imports; to find the next one, an import of the last one is left out."""
    remaining = {name: set(ends) for name, ends in graph.items()}
    found: list[list[str]] = []
    while True:
        try:
            graphlib.TopologicalSorter(remaining).prepare()
        except graphlib.CycleError as error:
            cycle = error.args[1][::-1]  # the sorter lists the imported before the importing
            remaining[cycle[0]].discard(cycle[1])
            found.append(cycle)
        else:
            return found


def large_classes(modules: Sequence[Module]) -> Iterator[tuple[str, str, list[str]]]:
    """Classes with too many methods: file, name, and the names of the methods."""
    for module in modules:
        for owner in module.classes:
            methods = [node.name for node in owner.body if isinstance(node, Function)]
            if len(methods) > MAX_METHODS:
                yield module.place, owner.name, methods


def p90(values: Sequence[int]) -> float:
    if len(values) < 2:
        return float(sum(values))
    return statistics.quantiles(values, n=10, method="inclusive")[-1]


def sizes(modules: Sequence[Module]) -> dict[str, str]:
    lines = [len(module.lines) for module in modules]
    functions = [function for module in modules for function in module.functions]
    lengths = [length(function) for function in functions]
    widths = [parameters(function) for function in functions]
    return {
        "lines": f"{sum(lines):,}",
        "modules": f"{len(lines)}",
        "median / p90": f"{statistics.median(lines):.0f} / {p90(lines):.0f}",
        "functions": f"{len(lengths):,}",
        "median / p90 length": f"{statistics.median(lengths or [0]):g} / {p90(lengths):.0f}",
        f">{MAX_FUNCTION_LINES} lines": f"{sum(each > MAX_FUNCTION_LINES for each in lengths)}",
        f">{MAX_PARAMETERS} params": f"{sum(each > MAX_PARAMETERS for each in widths)}",
        "largest": f"{max(lines)}",
        "module": max(modules, key=lambda module: len(module.lines)).name,
    }


def style(modules: Sequence[Module], own: set[str]) -> dict[str, str]:
    total = max(sum(len(module.lines) for module in modules), 1)
    code = [line for module in modules for line in module.code] or [""]
    touched = [node.attr in own for module in modules for node in touched_privates(module, own)]

    def count(holds: Test) -> int:
        return sum(module.count(holds) for module in modules)

    def rate(holds: Test) -> str:
        return f"{1000 * count(holds) / len(code):.0f}"

    return {
        "mean line": f"{statistics.mean(map(len, code)):.1f}",
        f">{MAX_LINE}": f"{sum(len(line) > MAX_LINE for each in modules for line in each.lines)}",
        "of code": f"{sum(len(line) > MAX_LINE for line in code) / len(code):.1%}",
        "ternaries": rate(lambda node: isinstance(node, ast.IfExp)),
        "compr.": rate(lambda node: isinstance(node, COMPREHENSIONS)),
        "tuples": rate(is_tuple_assignment),
        "docstrings": f"{sum(map(docstring_lines, modules)) / total:.0%}",
        "asserts": f"{count(lambda node: isinstance(node, ast.Assert))}",
        "super()": f"{count(lambda node: isinstance(node, ast.Name) and node.id == 'super')}",
        "private": f"{sum(touched)} + {len(touched) - sum(touched)}",
        "per 1,000 lines": f"{1000 * len(touched) / total:.1f}",
    }


def table(rows: dict[str, dict[str, str]]) -> str:
    lines = [["", *rows["all"]], *([name, *cells.values()] for name, cells in rows.items())]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = []
    for name, *cells in lines:
        texts.append("  ".join([name.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]))
    return "\n".join([*texts, ""])


def places(title: str, modules: Sequence[Module], count: Callable[[Module], int]) -> str:
    counts = {module.place: count(module) for module in modules if count(module)}
    lines = [f"{title}: {sum(counts.values())} in {len(counts)} files"]
    return "\n".join(lines + [f"{number:6}  {place}" for place, number in counts.items()])


def report(modules: Sequence[Module], own: set[str], root: Path) -> Iterator[str]:
    rows = groups(modules)
    yield table({name: sizes(members) for name, members in rows.items()})
    yield table({name: style(members, own) for name, members in rows.items()})
    yield f"classes with more than {MAX_METHODS} methods:"
    for _, name, methods in large_classes(modules):
        public = {method for method in methods if not method.startswith("_")}
        private = sum(map(is_private, methods))
        yield f"{len(methods):6}  {name} ({len(public)} public names, {private} private methods)"
    graph = import_graph(modules)
    yield f"imports between modules: {sum(map(len, graph.values()))}"
    yield f"import cycles: {len(import_cycles(graph))}"
    yield places("Evidence(...)", modules, lambda each: each.count(builds_evidence))
    yield places("the sign", modules, lambda each: each.count(knows_sign))
    yield places("private members touched", modules, lambda m: len([*touched_privates(m, own)]))
    folders = [folder for folder in ("src", "lab", "pages", ".") if (root / folder).is_dir()]
    for folder in folders if shutil.which("duplicates") else []:
        command = ["duplicates", "--repo", str(root / folder), "--seconds", "120"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        yield f"repeated passages in {folder}: {result.stdout.partition(chr(10))[0]}"


def broken_limits(modules: Sequence[Module], own: set[str]) -> Iterator[str]:
    """One sentence for each limit that the code breaks."""
    for module in modules:
        if len(module.lines) > MAX_MODULE_LINES:
            yield f"{module.place} has {len(module.lines)} lines, more than {MAX_MODULE_LINES}."
        for number, line in enumerate(module.lines, start=1):
            if len(line) > MAX_LINE:
                yield f"{module.place}:{number} has {len(line)} characters, more than {MAX_LINE}."
        for node in touched_privates(module, own):
            if node.attr in own or "noqa: SLF001" not in module.lines[node.lineno - 1]:
                yield f"{module.place}:{node.lineno} touches {ast.unparse(node)}, which is private."
    for cycle in import_cycles(import_graph(modules)):
        yield f"These modules import one another: {' -> '.join(cycle)}."
    builders = [module.place for module in modules if module.count(builds_evidence)]
    if len(builders) > MAX_EVIDENCE_MODULES:
        yield f"Evidence is built in {len(builders)} modules: {', '.join(builders)}."
    for place, name, methods in large_classes(modules):
        if name not in LARGE_CLASSES_ALLOWED:
            yield f"{name} in {place} has {len(methods)} methods, more than {MAX_METHODS}."


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="The shape of the code as figures.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--check", action="store_true", help="fail if a limit is broken")
    options = parser.parse_args(arguments)
    modules = list(read_modules(options.root))
    if not modules:
        parser.error(f"{options.root} holds no source of ceibo")
    own = defined_privates(node for module in modules for node in module.nodes)
    if not options.check:
        print(*report(modules, own, options.root), sep="\n")
        return 0
    sentences = list(broken_limits(modules, own))
    print(*sentences or ["Every limit is kept."], sep="\n")
    return int(len(sentences) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
