"""Every public name of the packages has a docstring, and every public function documents its parameters and result."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"

# Packages and modules whose docstrings are enforced.
PACKAGES = ["ncgc", "ncgc_bench"]
# The docstring of a command is its help text, which describes the options elsewhere: only its presence is checked.
COMMANDS = ["ncgc/cli/commands", "ncgc_bench/cli"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Documented:
    """A public function or method and what its docstring covers."""

    where: str
    name: str
    doc: str
    parameters: tuple[str, ...]
    needs_returns: bool
    is_method: bool

    @property
    def undocumented(self) -> list[str]:
        """Parameters that the ``Args:`` section does not name."""
        named = _named_parameters(self.doc)
        return [parameter for parameter in self.parameters if parameter not in named]

    @property
    def lacks_returns(self) -> bool:
        """Whether a result is annotated but described in neither ``Returns:`` nor ``Yields:``."""
        return self.needs_returns and not re.search(r"^(Returns|Yields):", self.doc, re.MULTILINE)

    def problem(self) -> str | None:
        """What is missing, or None."""
        missing = []
        if self.undocumented:
            missing.append(f"Args: {', '.join(self.undocumented)}")
        if self.lacks_returns:
            missing.append("Returns:")
        return f"{self.where} {self.name}: {'; '.join(missing)}" if missing else None


def _named_parameters(doc: str) -> set[str]:
    """Names in the ``Args:`` section; one entry may name several, as in ``graph, split: …``.

    >>> sorted(_named_parameters("Sum.\\n\\nArgs:\\n    a, b: numbers.\\n        more: of it\\n    *rest: others.\\n"))
    ['a', 'b', 'rest']
    """
    section = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)*)", doc, re.MULTILINE)
    if section is None:
        return set()
    entries = re.findall(r"^    ([\w*][\w*, ]*):", section.group(1), re.MULTILINE)
    return {name.strip(" *") for entry in entries for name in entry.split(",")}


def _parameters(node: Function, is_method: bool) -> tuple[str, ...]:
    """Names of the parameters, without ``self`` or ``cls``, ``*args``, ``**kwargs`` and private ones."""
    positional = [*node.args.posonlyargs, *node.args.args]
    if is_method and "staticmethod" not in _decorators(node):
        positional = positional[1:]
    names = [argument.arg for argument in (*positional, *node.args.kwonlyargs)]
    return tuple(name for name in names if not name.startswith("_"))


def _decorators(node: Function) -> set[str]:
    """Last name of every decorator: ``functools.cached_property`` → ``cached_property``."""
    plain = [decorator.func if isinstance(decorator, ast.Call) else decorator for decorator in node.decorator_list]
    return {ast.unparse(decorator).rpartition(".")[2] for decorator in plain}


def _needs_returns(node: Function) -> bool:
    """Whether the function is annotated to return something; a context manager may yield nothing."""
    nothing = {"None", "NoReturn", "Never", "Iterator[None]", "Generator[None]", "Generator[None, None, None]"}
    return node.returns is not None and ast.unparse(node.returns).strip("'\"") not in nothing


def _modules(parts: list[str]) -> list[Path]:
    """Python files of packages and modules, given relative to ``src``."""
    found = [path for part in parts for path in ([SRC / part] if part.endswith(".py") else (SRC / part).rglob("*.py"))]
    return sorted(found)


def _public_definitions(body: list[ast.stmt], inside: str = "") -> Iterator[tuple[str, ast.ClassDef | Function, bool]]:
    """Qualified name and node of each public class, function and method, and whether it is a method.

    Overloads and property setters are left out: their docstring is that of the implementation or of the getter.
    """
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _public_definitions(node.body, inside)
        if not isinstance(node, ast.ClassDef | Function) or node.name.startswith("_"):
            continue
        name = f"{inside}{node.name}"
        if isinstance(node, ast.ClassDef):
            yield name, node, False
            yield from _public_definitions(node.body, f"{name}.")
        elif not _decorators(node) & {"overload", "setter", "deleter"}:
            yield name, node, bool(inside)


def _where(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(SRC)}:{getattr(node, 'lineno', 1)}"


def _documented(parts: list[str]) -> list[Documented]:
    """All public functions and methods of these packages, without properties and commands.

    One line documents a method without parameters: its summary is its result.
    """
    commands = set(_modules(COMMANDS))
    return [
        Documented(
            where=_where(path, node),
            name=name,
            doc=ast.get_docstring(node) or "",
            parameters=_parameters(node, is_method),
            needs_returns=_needs_returns(node) and (not is_method or bool(_parameters(node, is_method))),
            is_method=is_method,
        )
        for path in _modules(parts)
        if path not in commands
        for name, node, is_method in _public_definitions(ast.parse(path.read_text("utf-8")).body)
        if isinstance(node, Function) and not _decorators(node) & {"property", "cached_property"}
    ]


def _contracts() -> dict[str, list[Documented]]:
    """Fully documented methods of both packages by their bare name: a method that implements one need not repeat it."""
    found = defaultdict(list)
    for method in _documented(["ncgc", "ncgc_bench"]):
        if method.is_method and method.doc and method.problem() is None:
            found[method.name.rpartition(".")[2]].append(method)
    return found


def _implements(method: Documented, contracts: dict[str, list[Documented]]) -> bool:
    """Whether a documented method has the same name and describes all parameters, and the result, of this one."""
    return any(
        set(method.parameters) <= _named_parameters(contract.doc)
        and (contract.needs_returns or not method.needs_returns)
        for contract in contracts[method.name.rpartition(".")[2]]
    )


def _listed(problems: list[str]) -> str:
    return "\n".join([f"{len(problems)} without complete docstrings:", *problems])


def test_modules_classes_and_functions_have_docstrings() -> None:
    trees = {path: ast.parse(path.read_text("utf-8")) for path in _modules(["ncgc", "ncgc_bench"])}
    documented_members = {
        node.name
        for tree in trees.values()
        for _, node, is_member in _public_definitions(tree.body)
        if is_member and ast.get_docstring(node)
    }
    problems = []
    for path in _modules(PACKAGES):
        if not ast.get_docstring(trees[path]):
            problems.append(f"{path.relative_to(SRC)}: module")
        for name, node, is_member in _public_definitions(trees[path].body):
            if not ast.get_docstring(node) and not (is_member and node.name in documented_members):
                problems.append(f"{_where(path, node)} {name}")
    assert not problems, _listed(problems)


def test_functions_document_parameters_and_result() -> None:
    problems = [function.problem() for function in _documented(PACKAGES) if not function.is_method]
    assert not any(problems), _listed([problem for problem in problems if problem])


def test_methods_document_parameters_and_result() -> None:
    contracts = _contracts()
    problems = [
        problem
        for method in _documented(PACKAGES)
        if method.is_method and (problem := method.problem()) and not _implements(method, contracts)
    ]
    assert not problems, _listed(problems)


@pytest.mark.parametrize("part", [*PACKAGES, *COMMANDS])
def test_listed_packages_exist(part: str) -> None:
    assert _modules([part])
