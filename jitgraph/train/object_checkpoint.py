"""``tf.train.Checkpoint``: the variables that objects hold, saved and restored by the names of attributes."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from jitgraph.formats.bundle_reader import BundleReader
from jitgraph.formats.files import local_path
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import device
from jitgraph.graph.stack import get_default_session
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import placeholder_with_default
from jitgraph.protobuf import messages
from jitgraph.train.checkpoint_state import update_state_file
from jitgraph.train.object_graph import OBJECT_GRAPH, Match, ObjectGraph, PythonState, is_trackable
from jitgraph.train.saver import Saver
from jitgraph.variables.saveables import SaveableObject, SaveSpec
from jitgraph.variables.variable import Variable


def session_to_save(session: Any = None) -> Any:
    """The session, or the default one.  Raises ValueError if there is none."""
    session = session or get_default_session()
    if session is None:
        raise ValueError("a checkpoint of a graph is saved and restored in a session: give it, or call inside of one")
    return session


class SavedText(SaveableObject):
    """A string that is saved, and not restored."""

    def __init__(self, value: bytes, name: str):
        tensor = constant(value, dtypes.string)
        super().__init__(tensor, [SaveSpec(tensor, "", name)], name)

    def restore(self, restored_tensors: list, restored_shapes: list | None) -> Operation:
        """Nothing to do."""
        return self.op.op


class Checkpoint:
    """Objects that are saved together, by the names of the keywords: variables, optimizers, layers, modules, lists, dicts of them.

    More can be set as attributes.  Raises ValueError for other objects.
    """

    _held: dict[str, Any]
    _savers: dict[tuple, Saver]
    _counting: Any

    def __init__(self, **kwargs: Any):
        self.__dict__["_held"] = {}
        self.__dict__["_savers"] = {}
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value):
                raise ValueError(f"`Checkpoint` was expecting a trackable object (an object derived from `TrackableBase`), got "
                                 f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow "
                                 "Python API and manages state), please open an issue.")
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if is_trackable(value):
            self._held[name] = value
        object.__setattr__(self, name, value)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(self._held.items())

    def _counter(self, session: Any = None) -> Any:
        if "save_counter" not in self._held:
            with device("/cpu:0"):
                self._held["save_counter"] = counter = Variable(0, dtype=dtypes.int64, name="save_counter", trainable=False,
                                                                use_resource=True)
            self.__dict__["_counting"] = counter.assign_add(1)
            if session is not None:
                session.run(counter.initializer)
        return self._held["save_counter"]

    @property
    def save_counter(self) -> Any:
        """The variable that counts what was saved, int64."""
        return self._counter()

    def write(self, file_prefix: Any, session: Any = None) -> str:
        """Writes a checkpoint of that name; gives it.  Raises ValueError without a session."""
        session = session_to_save(session)
        held = ObjectGraph(self)
        every = held.variables()
        states = {key: one for key, one in every.items() if isinstance(one, PythonState)}
        key = (get_default_graph(), tuple((name, id(one)) for name, one in every.items()))
        saver = None if states else self._savers.get(key)
        if saver is None:
            with get_default_graph().name_scope("save"):
                items: list[Any] = [SavedText(held.to_proto().SerializeToString(), OBJECT_GRAPH)]
                items += [SavedText(text_bytes(one.serialize()), name) for name, one in states.items()]
                items += held.saveables().values()
            variables = {name: one for name, one in every.items() if name not in states}
            saver = Saver({**variables, **{item.name: item for item in items}}, max_to_keep=None)
            self._savers[key] = saver
        path = os.fspath(file_prefix)
        os.makedirs(os.path.dirname(local_path(path)) or ".", exist_ok=True)
        return str(saver.save(session, path, write_meta_graph=False, write_state=False))

    def save(self, file_prefix: Any, session: Any = None) -> str:
        """Writes a checkpoint of that name and the number of times that this was done; gives its name.

        The file "checkpoint" in the folder names it as the newest.
        """
        session = session_to_save(session)
        self._counter(session)
        number = session.run(self._counting)
        path = self.write(f"{os.fspath(file_prefix)}-{number}", session)
        update_state_file(os.path.dirname(path), path, [path], save_relative_paths=True)
        return path

    def restore(self, save_path: Any) -> Any:
        """What restores the checkpoint: its ``run_restore_ops()`` or ``initialize_or_restore()`` reads the values.

        `save_path` None: nothing is restored, but variables can be initialized.  Raises an error of ``tf.errors`` if there is no
        such checkpoint.
        """
        self._counter()
        if save_path is None:
            return InitializationOnlyStatus(self)
        reader = BundleReader(os.fspath(save_path))
        if OBJECT_GRAPH not in reader:
            return NameBasedSaverStatus(self, reader)
        proto = messages.TrackableObjectGraph()
        proto.ParseFromString(text_bytes(reader.read(OBJECT_GRAPH).item()))
        return CheckpointLoadStatus(self, reader, proto)


def text_bytes(value: Any) -> bytes:
    """A string as bytes."""
    return value.encode() if isinstance(value, str) else value


def _initialize(values: list, session: Any) -> None:
    session.run([one.initializer for one in values if isinstance(one, Variable)])


def _every(root: Any) -> list:
    graph = ObjectGraph(root)
    return [*graph.nodes, *graph.slots.values()]


class CheckpointLoadStatus:
    """What restores a checkpoint: variables that are there when it is asked to."""

    def __init__(self, root: Any, reader: BundleReader, proto: Any):
        self._root, self._reader, self._proto = root, reader, proto
        self._restored: dict[int, PythonState] = {}
        self._restoring: list[Any] | None = None        # the operations of what restores itself
        self._restore_states(self._match())

    def _restore_states(self, match: Match) -> None:
        """Reads what is kept in Python, which waits for no session, once."""
        for key, value in match.values():
            if isinstance(value, PythonState) and id(value) not in self._restored:
                self._restored[id(value)] = value
                value.deserialize(self._reader.read(key).item())

    def _match(self) -> Match:
        return Match(self._proto, self._root)

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises AssertionError if the checkpoint has more objects than the program, or the program more."""
        match = self.assert_existing_objects_matched()._match()
        for number, node in enumerate(self._proto.nodes):
            if number not in match.objects:
                raise AssertionError(f"Unresolved object in checkpoint {number}: {node}")
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises AssertionError if the program has objects that the checkpoint has not."""
        unused = self._match().unused()
        if unused:
            raise AssertionError("Some Python objects were not bound to checkpointed values, likely due to changes in the Python "
                                 f"program: {unused}")
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises AssertionError if nothing of the checkpoint is in the program."""
        match = self._match()
        if len(match.objects) <= 1:
            unused = match.unused()
            if unused:
                raise AssertionError("Nothing except the root object matched a checkpointed value. Typically this means that the "
                                     "checkpoint does not match the Python program. The following objects have no matching "
                                     f"checkpointed value: {unused}")
            raise AssertionError(f"Nothing to load. No dependencies have been added to {self._root} yet.")
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """The status: nothing is said of what the program does not have."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Reads the values of the variables that the checkpoint has."""
        session, match = session_to_save(session), self._match()
        self._restore_states(match)
        for key, value in match.values():
            if isinstance(value, Variable):
                value.load(_fitting(self._reader.read(key), value), session)
        if self._restoring is None:
            read = [saveable.restore([self._read_as_restored(spec.name) for spec in saveable.specs], None)
                    for saveable in match.saveables().values()]
            self._restoring = [operation for operation in read if operation is not None]
        session.run(self._restoring)

    def _read_as_restored(self, key: str) -> Tensor:
        """A value of the checkpoint, of whose shape the graph knows nothing, as of what a saver reads in a run."""
        return placeholder_with_default(constant(self._reader.read(key)), None)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Reads the values of the variables that the checkpoint has, and initializes the others."""
        session = session_to_save(session)
        _initialize(self._match().unused(), session)
        self.run_restore_ops(session)


def _fitting(found: np.ndarray, variable: Any) -> np.ndarray:
    if not variable.shape.is_compatible_with(found.shape):
        raise ValueError(f"The variable {variable.name} has shape {variable.shape}, but the checkpoint has a value of shape "
                         f"{found.shape} for it.")
    return found


class InitializationOnlyStatus:
    """What initializes variables, where there is no checkpoint."""

    def __init__(self, root: Any):
        self._root = root

    def _refuse(self, session: Any = None) -> Any:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_consumed = assert_existing_objects_matched = assert_nontrivial_match = run_restore_ops = _refuse

    def expect_partial(self) -> InitializationOnlyStatus:
        """The status."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initializes the variables of the objects."""
        _initialize(_every(self._root), session_to_save(session))


class NameBasedSaverStatus:
    """What restores a checkpoint of ``tf.train.Saver``, by the names of variables."""

    def __init__(self, root: Any, reader: BundleReader):
        self._root, self._reader = root, reader

    def _missing(self) -> list:
        own = self._root._held.get("save_counter")
        return [one for one in _every(self._root)
                if isinstance(one, Variable) and one is not own and one.op.name not in self._reader]

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Raises AssertionError if a variable of the program is not in the checkpoint, or the other way round."""
        missing = self._missing()
        if missing:
            raise AssertionError(f"Unresolved object in checkpoint: {missing}")
        names = {one.op.name for one in _every(self._root) if isinstance(one, Variable)}
        unused = [name for name in self._reader.names() if name not in names]
        if unused:
            raise AssertionError(f"Some variables in the checkpoint were not matched to objects: {unused}")
        return self

    def assert_existing_objects_matched(self) -> NameBasedSaverStatus:
        """Raises AssertionError if a variable of the program is not in the checkpoint."""
        missing = self._missing()
        if missing:
            raise AssertionError(f"Object not assigned a value from checkpoint: {missing}")
        return self

    assert_nontrivial_match = assert_existing_objects_matched

    def expect_partial(self) -> NameBasedSaverStatus:
        """The status."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Reads the values of all variables that the checkpoint has."""
        session = session_to_save(session)
        for one in _every(self._root):
            if isinstance(one, Variable) and one.op.name in self._reader:
                one.load(_fitting(self._reader.read(one.op.name), one), session)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Reads the values; the counter of the checkpoint begins at 0."""
        session = session_to_save(session)
        _initialize([self._root.save_counter], session)
        self.run_restore_ops(session)


