"""Small faults, one at a time: every mutant of a module's functions, in place of one node of the syntax tree."""

from __future__ import annotations

import ast
import copy
import dataclasses
import types
from collections.abc import Iterator
from pathlib import Path

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}


Place = tuple[tuple[str, int | None], ...]
"""From a function to a node in it: names of fields, and indices where they hold lists."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One fault.

    Attributes:
        tree: of the module, whole.
        path: of its file.
        node, function: of the function that the fault lies in, and its qualified name.
        place: the way to the node that changes.
        variant: what stands there instead.
    """

    tree: ast.Module
    path: Path
    node: ast.FunctionDef
    function: str
    place: Place
    variant: ast.AST

    @property
    def row(self) -> dict[str, object]:
        """Where it is and what changes, in words."""
        old = _at(self.node, self.place)
        where = {"line": getattr(old, "lineno", 0), "column": getattr(old, "col_offset", 0)}
        return {"function": self.function, **where, "before": _brief(old), "after": _brief(self.variant)}

    def code(self) -> types.CodeType:
        """Of the function with the fault."""
        old = _at(self.node, self.place)
        _put(self.node, self.place, self.variant)
        module = compile(ast.fix_missing_locations(self.tree), str(self.path), "exec", dont_inherit=True)
        _put(self.node, self.place, old)
        return _find(module, self.function)


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in a node's place."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARE:
            yield _with(node, ops=[_COMPARE[type(op)]()])
        case ast.BinOp(op=op) if type(op) in _BINARY and not _is_text(node):
            yield _with(node, op=_BINARY[type(op)]())
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield _with(node, value=not value)
        case ast.Constant(value=int(value) | float(value)):
            yield _with(node, value=value + 1)
        case ast.IfExp(body=body, orelse=orelse):
            yield _with(node, body=orelse, orelse=body)
        case ast.If(test=test) | ast.While(test=test) if not _is_flipped(test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield _with(node, value=ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Raise() | ast.AugAssign():
            yield ast.Pass()
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()


def of_module(path: Path) -> list[Mutant]:
    """Every mutant of the functions in a file. Annotations, decorators and the texts of errors are left alone."""
    tree = ast.parse(path.read_text("utf-8"))
    return [
        Mutant(tree, path, function, qualified, place, variant)
        for qualified, function in _functions(tree, "")
        for place in _places(function)
        for variant in variants(_at(function, place))
    ]


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _places(node: ast.AST, before: Place = ()) -> Iterator[Place]:
    """The ways to every node of a function's body."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "decorator_list", "returns", "args", "type_comment") and isinstance(
            node, (ast.FunctionDef, ast.AnnAssign, ast.arg)
        ):
            continue
        if isinstance(node, ast.Raise) or isinstance(value, ast.JoinedStr):
            continue  # what an error says
        children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for i, child in children:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                place = (*before, (field, i))
                yield place
                yield from _places(child, place)


def _at(node: ast.AST, place: Place) -> ast.AST:
    for field, i in place:
        value = getattr(node, field)
        node = value if i is None else value[i]
    return node


def _put(node: ast.AST, place: Place, new: ast.AST) -> None:
    holder, (field, i) = _at(node, place[:-1]), place[-1]
    if i is None:
        setattr(holder, field, new)
    else:
        getattr(holder, field)[i] = new


def _find(code: types.CodeType, qualified: str) -> types.CodeType:
    for name in qualified.split("."):
        code = next(one for one in code.co_consts if isinstance(one, types.CodeType) and one.co_name == name)
    return code


def _with(node: ast.AST, **changes: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in changes.items():
        setattr(new, name, value)
    return new


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(s, ast.JoinedStr) or isinstance(getattr(s, "value", None), str) for s in sides)


def _is_flipped(test: ast.expr) -> bool:
    """Is the opposite of a condition among the variants of the condition itself?"""
    is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    opposites = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
    return is_not or (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], opposites))


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _brief(node: ast.AST) -> str:
    words = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).splitlines()[0]
    return words if len(words) <= 70 else words[:67] + "..."
