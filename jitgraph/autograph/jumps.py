"""Functions without jumps: ``return``, ``break`` and ``continue`` set flags, and what follows them asks the flags.

    while a:              break_ = False
        if b:             while not break_ and a:
            break     ->      if b:
        c                         break_ = True
                              if not break_:
                                  c
"""
from __future__ import annotations

import ast
from collections.abc import Callable

from jitgraph.autograph.tree import LOOPS, SCOPES, assigned, holds, later, operator, read

_JUMPS = (ast.Return, ast.Break, ast.Continue)


class _Loop:
    """The flags of a loop, by name; None until a jump needs them."""

    def __init__(self) -> None:
        self.left: str | None = None
        self.skipped: str | None = None


def without_jumps(body: list[ast.stmt], fresh: Callable[[str], str]) -> list[ast.stmt]:
    """The body of a function, with one return at its end if there are any; `fresh` gives names that are not taken.

    A loop that is left early has the condition to go on as its attribute ``goes_on``.  Raises NotImplementedError for jumps
    out of ``finally``.
    """
    return _Lowering(fresh).function(body)


class _Lowering:
    def __init__(self, fresh: Callable[[str], str]):
        self._fresh = fresh
        self._result, self._returned = fresh("retval_"), fresh("do_return")

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        returns = [one for one in body if holds(one, (ast.Return,))]
        if not returns or returns == [body[-1]] and isinstance(body[-1], ast.Return):
            return [*self._block(body[:len(body) - len(returns)], None)[0], *returns]       # one return at the end stays
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        done, _ = self._block(_both_ways(body[documented:]), None)
        return [*body[:documented], assigned(self._returned, ast.Constant(False)),
                assigned(self._result, operator("UndefinedReturnValue")), *done,
                ast.Return(operator("retval", read(self._result)))]

    def _block(self, body: list[ast.stmt], loop: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        """Statements without jumps, and the flags that they may set which end the block."""
        done: list[ast.stmt] = []
        flags: set[str] = set()
        for place, one in enumerate(body):
            found, flags = self._statement(one, loop)
            done += found
            if isinstance(one, _JUMPS):
                return done, flags
            if flags and body[place + 1:]:
                rest, more = self._block(body[place + 1:], loop)
                tests: list[ast.expr] = [operator("not_", read(flag)) for flag in sorted(flags)]
                test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
                return [*done, ast.copy_location(ast.If(test, rest, []), body[place + 1])], flags | more
        return done, flags

    def _statement(self, one: ast.stmt, loop: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        made: list[ast.stmt]
        if isinstance(one, ast.Return):
            made = [assigned(self._result, one.value or ast.Constant(None)), assigned(self._returned, ast.Constant(True))]
            return [ast.copy_location(each, one) for each in made], {self._returned}
        if isinstance(one, ast.Break) and loop is not None:
            loop.left = loop.left or self._fresh("break_")
            return [ast.copy_location(assigned(loop.left, ast.Constant(True)), one)], {loop.left}
        if isinstance(one, ast.Continue) and loop is not None:
            loop.skipped = loop.skipped or self._fresh("continue_")
            return [ast.copy_location(assigned(loop.skipped, ast.Constant(True)), one)], {loop.skipped}
        if isinstance(one, LOOPS):
            return self._loop(one, loop)
        if isinstance(one, SCOPES) or not holds(one, _JUMPS):
            self._inner_loops(one)
            return [one], set()
        return [one], self._parts(one, loop)

    def _inner_loops(self, one: ast.stmt) -> None:
        """Loops inside of a statement that has no jumps of its own."""
        if not isinstance(one, SCOPES):
            self._parts(one, None)

    def _parts(self, one: ast.stmt, loop: _Loop | None) -> set[str]:
        """Lowers the blocks that a statement is made of."""
        flags: set[str] = set()
        for field in ("body", "handlers", "orelse", "finalbody"):
            block = getattr(one, field, None)
            if not isinstance(block, list) or not block:
                continue
            if field == "finalbody" and any(holds(each, _JUMPS) for each in block):
                raise NotImplementedError("a jump out of finally")
            if field == "handlers":
                for handler in block:
                    handler.body, more = self._block(handler.body, loop)
                    flags |= more
                continue
            if field == "orelse" and isinstance(one, ast.Try) and flags:
                raise NotImplementedError("a jump out of try with else")
            made, more = self._block(block, loop)
            setattr(one, field, made)
            flags |= more
        if isinstance(one, ast.Match):
            for case in one.cases:
                case.body, more = self._block(case.body, loop)
                flags |= more
        return flags

    def _loop(self, one: ast.For | ast.While, outer: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        own = _Loop()
        body, flags = self._block(one.body, own)
        stops = sorted(flag for flag in flags if flag in (own.left, self._returned))
        if own.skipped:
            body = [assigned(own.skipped, ast.Constant(False)), *body]
        one.body = body
        before: list[ast.stmt] = [assigned(own.left, ast.Constant(False))] if own.left else []
        goes_on: ast.expr | None = None
        for flag in stops:
            asked = operator("not_", read(flag))
            goes_on = asked if goes_on is None else operator("and_", later(goes_on), later(asked))
        one.goes_on = goes_on                                                   # type: ignore[union-attr]
        orelse, more = self._block(one.orelse, outer)
        one.orelse = []
        if orelse and stops:
            orelse = [ast.If(operator("not_", read(flag)), orelse, []) for flag in stops[:1]] if len(stops) == 1 else [
                ast.If(ast.BoolOp(ast.And(), [operator("not_", read(flag)) for flag in stops]), orelse, [])]
        return [*before, one, *orelse], (flags & {self._returned}) | more


def _always_returns(body: list[ast.stmt]) -> bool:
    last = body[-1] if body else None
    if isinstance(last, (ast.Return, ast.Raise)):
        return isinstance(last, ast.Return)
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, ast.With) and _always_returns(last.body)


def _both_ways(body: list[ast.stmt]) -> list[ast.stmt]:
    """``if a: return b`` and what follows -> ``if a: return b`` ``else:`` what follows, so that both ways give a value."""
    done: list[ast.stmt] = []
    for place, one in enumerate(body):
        done.append(one)
        if isinstance(one, SCOPES):
            continue
        rest = body[place + 1:]
        if isinstance(one, ast.If) and rest and (_always_returns(one.body) or _always_returns(one.orelse)):
            into = "orelse" if _always_returns(one.body) else "body"
            setattr(one, into, [*getattr(one, into), *rest])
            one.body, one.orelse = _both_ways(one.body), _both_ways(one.orelse)
            return done
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(one, field, None), list):
                setattr(one, field, _both_ways(getattr(one, field)))
        for handler in getattr(one, "handlers", []):
            handler.body = _both_ways(handler.body)
    return done
