"""What test cases assert of arrays, tensors, structures of them, protocol buffers and errors."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from absl.testing import absltest

from jitgraph.graph.composite import CompositeTensor
from jitgraph.graph.devices import DeviceSpec
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.errors import OpError
from jitgraph.graph.tensor import Tensor

_HALVES = ("float16", "bfloat16")


def _wide(array: np.ndarray) -> np.ndarray:
    """The array in a dtype that NumPy computes with."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor, or what a run gives for one."""
    return hasattr(value, "nested_row_splits")


class Assertions(absltest.TestCase):
    """The assertions of ``tf.test.TestCase``, absl's and those of arrays; arguments of these may be tensors, which
    ``evaluate`` gives values."""

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors; see ``TestCase``."""
        raise NotImplementedError

    def _array(self, value: Any) -> np.ndarray:
        if isinstance(value, Tensor) or hasattr(value, "_as_graph_element"):
            value = self.evaluate(value)
        if isinstance(value, np.ndarray):
            return value
        try:
            return np.array(value)
        except ValueError:
            return np.array(value, dtype=object)        # rows of several lengths are compared as lists

    # -- close ---------------------------------------------------------------------------------------------------------

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """That two arrays, or structures of arrays, have near elements: ``|a - b| <= atol + rtol * |b|``.

        Fails if shapes, keys or lengths differ.  NaN equals NaN.
        """
        if is_ragged(a) or is_ragged(b):
            self._close_structures(self._rows(a), self._rows(b), rtol, atol, [], msg)
            return self._check_ragged_ranks(a, b, msg)
        self._close_structures(a, b, rtol, atol, [], msg)

    def _GetNdArray(self, a: Any) -> np.ndarray:
        """The value of a tensor, or of what is one already, as an array: tests of libraries call it."""
        return self._array(a)

    def _rows(self, value: Any) -> Any:
        """The elements of a ragged or dense tensor as lists in lists."""
        if isinstance(value, (Tensor, CompositeTensor)):
            value = self.evaluate(value)
        if is_ragged(value):
            return value.to_list()
        return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else self._listed(value)

    def _listed(self, value: Any) -> Any:
        return [self._listed(one) for one in value] if isinstance(value, (list, tuple)) else self._array(value).tolist()

    def _check_ragged_ranks(self, a: Any, b: Any, msg: str | None) -> None:
        if not isinstance(a, (list, tuple)) and not isinstance(b, (list, tuple)):
            first, second = (one.ragged_rank if is_ragged(one) else 0 for one in (a, b))
            self.assertEqual(first, second, msg)

    def _close_structures(self, a: Any, b: Any, rtol: float, atol: float, path: list, msg: str | None) -> None:
        at = "".join(f"[{p}]" for p in path)
        a, b = (x._asdict() if hasattr(x, "_asdict") else x for x in (a, b))
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{at} vs b{at}. {msg or ''}")
        if isinstance(a, Mapping):
            self.assertCountEqual(a.keys(), b.keys(),
                                  f"mismatched keys: a{at} has keys {list(a)}, but b{at} has keys {list(b)}. {msg or ''}")
            for key in a:
                self._close_structures(a[key], b[key], rtol, atol, [*path, key], msg)
        elif isinstance(a, (list, tuple)) and not self._is_plain(a, b):
            self.assertEqual(len(a), len(b),
                             f"Mismatched length: a{at} has {len(a)} items, but b{at} has {len(b)} items. {msg or ''}")
            for index, (one, other) in enumerate(zip(a, b)):
                self._close_structures(one, other, rtol, atol, [*path, index], msg)
        else:
            try:
                self._close_arrays(a, b, rtol, atol, f"Mismatched value: a{at} is different from b{at}. {msg or ''}")
            except TypeError as error:
                raise TypeError(f"Error: a{at} has {type(a)}, but b{at} has {type(b)}. {error}. {msg or ''}") from error

    def _is_plain(self, a: Any, b: Any) -> bool:
        """Whether lists are arrays in themselves."""
        try:
            return all(self._array(x).dtype != object for x in (a, b))
        except (ValueError, TypeError, NotImplementedError):        # tensors are no arrays yet
            return False

    def _close_arrays(self, a: Any, b: Any, rtol: float, atol: float, msg: str) -> None:
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg}")
        a, b = _wide(a), _wide(b)
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return
        off = ~np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        places = np.where(off) if a.ndim else ()
        first, second = (x[places] if a.ndim else x for x in (a, b))
        where = f"not close where = {places}\n" if a.ndim else ""
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, equal_nan=True, err_msg=(
            f"{msg}\n{where}not close lhs = {first}\nnot close rhs = {second}\n"
            f"not close dif = {np.abs(np.subtract(first, second, dtype=np.result_type(a, b, np.float64)))}\n"
            f"not close tol = {atol + rtol * np.abs(second)}\ndtype = {a.dtype}, shape = {a.shape}"))

    def assertAllCloseAccordingToType(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, float_rtol: float = 1e-6,
                                      float_atol: float = 1e-6, half_rtol: float = 1e-3, half_atol: float = 1e-3,
                                      bfloat16_rtol: float = 1e-2, bfloat16_atol: float = 1e-2, msg: str | None = None) -> None:
        """As ``assertAllClose``, with the tolerances of the less precise of the two dtypes."""
        a, b = self._array(a), self._array(b)
        kinds = {a.dtype.name, b.dtype.name}
        if kinds & {"float32", "complex64", *_HALVES}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in kinds:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in kinds:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """That some elements are not near."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """That two numbers differ by at most `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1} != {f2} +/- {err}{f' ({msg})' if msg else ''}")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: str | None = None) -> None:
        """That two sequences have one length and elements that differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None) -> None:
        """That the norm of the difference of two arrays is below `err`."""
        one, other = self._array(ndarray1), self._array(ndarray2)
        self.assertEqual(one.shape, other.shape, msg)
        self.assertTrue(np.linalg.norm(one - other) < err, f"ndarrays differ by more than {err}. {msg or ''}")

    # -- equal ---------------------------------------------------------------------------------------------------------

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """That two arrays, or ragged tensors, have the same shape and elements; NaN equals NaN."""
        if is_ragged(a) or is_ragged(b):
            self.assertEqual(self._rows(a), self._rows(b), msg)
            return self._check_ragged_ranks(a, b, msg)
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. Contents: {b}. {msg or ''}")
        same = a == b
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(a), np.isnan(b)))
        if np.all(same):
            return
        places = np.where(np.logical_not(same)) if a.ndim else ()
        first, second = (x[places] if a.ndim else x for x in (a, b))
        where = f"not equal where = {places}\n" if a.ndim else ""
        np.testing.assert_array_equal(a, b, err_msg=f"{msg or ''}\n{where}not equal lhs = {first}\nnot equal rhs = {second}")
        self.fail(f"Arrays are not equal: {a!r} and {b!r}")     # to NumPy they may be

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """That some elements differ."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertShapeEqual(self, np_array: np.ndarray, tf_tensor: Any, msg: str | None = None) -> None:
        """That an ndarray has the static shape of a tensor.  Raises TypeError for other things."""
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """That an array or tensor has a dtype."""
        if isinstance(target, list):
            for one in target:
                self.assertDTypeEqual(one, expected_dtype)
            return
        dtype = target.dtype if isinstance(target, Tensor) else self._array(target).dtype
        self.assertEqual(as_dtype(dtype).base_dtype, as_dtype(expected_dtype), f"expected {expected_dtype}, got {dtype}")

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """That two device strings mean the same."""
        one, other = (DeviceSpec.from_string(str(d or "")).to_string() for d in (device1, device2))
        self.assertEqual(one, other, f"Devices {one} and {other} are not equal. {msg or ''}")

    # -- order and membership ------------------------------------------------------------------------------------------

    def _assert_where(self, a: Any, holds: Callable, text: str) -> None:
        values = self._array(a)
        wrong = np.logical_not(holds(values))
        if np.any(wrong):
            places = np.argwhere(wrong)
            shown = ", ".join(f"{values[tuple(p)]!r} at {p.tolist()}" for p in places[:10])
            self.fail(f"{text}; {len(places)} of {values.size} elements are not: {shown}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """That every element is greater than a number."""
        self._assert_where(a, lambda v: v > comparison_target, f"expected all > {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """That every element is less than a number."""
        self._assert_where(a, lambda v: v < comparison_target, f"expected all < {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """That no element is less than a number."""
        self._assert_where(a, lambda v: v >= comparison_target, f"expected all >= {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """That no element is greater than a number."""
        self._assert_where(a, lambda v: v <= comparison_target, f"expected all <= {comparison_target}")

    def assertAllInRange(self, target: Any, lower_bound: Any, upper_bound: Any, open_lower_bound: bool = False,
                         open_upper_bound: bool = False) -> None:
        """That every element lies in a range; fails for values without order."""
        values = self._array(target)
        if values.dtype.kind not in "iuf" and values.dtype.name != "bfloat16":
            self.fail(f"The value of {target!r} does not have an ordered numeric type, instead it has type: {values.dtype}")
        text = f"{'(' if open_lower_bound else '['}{lower_bound}, {upper_bound}{')' if open_upper_bound else ']'}"
        self._assert_where(values, lambda v: np.logical_and(
            v > lower_bound if open_lower_bound else v >= lower_bound,
            v < upper_bound if open_upper_bound else v <= upper_bound), f"expected all in {text}")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """That every element is in a set."""
        extra = set(self._array(target).ravel().tolist()) - set(expected_set)
        if extra:
            raise AssertionError(f"{len(extra)} unique element(s) are not in the set {set(expected_set)}: {sorted(extra)[:20]}")

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """That two collections have the same elements, in any order."""
        self.assertCountEqual(first, second, msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """That a string begins with another."""
        self.assertTrue(actual.startswith(expected_start), f"{actual!r} does not start with {expected_start!r}. {msg or ''}")

    # -- protocol buffers ----------------------------------------------------------------------------------------------

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None) -> None:
        """That two protocol buffers are equal; the first may be text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            from google.protobuf import text_format

            expected = text_format.Parse(expected, type(message)())
        self.assertEqual(type(expected).__name__, type(message).__name__, msg)
        self.assertMultiLineEqual(_sorted_text(expected), _sorted_text(message), msg)

    def assertProtoEqualsVersion(self, expected: Any, actual: Any, producer: int | None = None, min_consumer: int = 0,
                                 msg: str | None = None) -> None:
        """As ``assertProtoEquals``, for a GraphDef whose text leaves the versions out."""
        from jitgraph.facade.version import GRAPH_DEF_VERSION

        text = f"versions {{ producer: {GRAPH_DEF_VERSION if producer is None else producer} min_consumer: {min_consumer} }}"
        self.assertProtoEquals(f"{text}\n{expected}", actual, msg=msg)

    # -- errors --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type: Any, expected_err_re_or_predicate: Any) -> Iterator[None]:  # type: ignore[override]
        """That the block raises such an error: one for which a function is true, or a pattern is found in its message."""
        try:
            yield
        except exception_type as error:
            expected = expected_err_re_or_predicate
            text = "\n".join([error.message, *_names_of(error.op)]) if isinstance(error, OpError) else str(error)
            if not (expected(error) if callable(expected) else re.search(expected, text)):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesRegexp(self, expected_exception: Any, expected_regex: Any, *args: Any, **kwargs: Any) -> Any:
        """The older name of ``assertRaisesRegex``, which Python 3.12 has no longer."""
        return self.assertRaisesRegex(expected_exception, expected_regex, *args, **kwargs)

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """That the block raises an OpError; see ``assertRaisesWithPredicateMatch``."""
        # not that of a class beside this one: absl's of the same name takes functions alone
        return Assertions.assertRaisesWithPredicateMatch(self, OpError, expected_err_re_or_predicate)


def _names_of(op: Any) -> list[str]:
    return [] if op is None else [f"{op.name} ({op.type})"]


def _sorted_text(message: Any) -> str:
    """The message as text, its maps in the order of their keys."""
    from google.protobuf import text_format

    return text_format.MessageToString(message, use_index_order=True)


