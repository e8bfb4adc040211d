"""Summaries as rows of a database of SQLite, in TensorBoard's tables."""
from __future__ import annotations

import random
import sqlite3
import time
from typing import Any

import numpy as np

from jitgraph.graph.errors import InvalidArgumentError

_TABLES = """
    Ids (id INTEGER PRIMARY KEY)
    Descriptions (id INTEGER PRIMARY KEY, description TEXT)
    Tensors (rowid INTEGER PRIMARY KEY, series INTEGER, step INTEGER, dtype INTEGER, computed_time REAL, shape TEXT, data BLOB)
    TensorStrings (rowid INTEGER PRIMARY KEY, tensor_rowid INTEGER NOT NULL, idx INTEGER NOT NULL, data BLOB)
    Tags (rowid INTEGER PRIMARY KEY, run_id INTEGER, tag_id INTEGER NOT NULL, inserted_time DOUBLE, tag_name TEXT, \
display_name TEXT, plugin_name TEXT, plugin_data BLOB)
    Runs (rowid INTEGER PRIMARY KEY, experiment_id INTEGER, run_id INTEGER NOT NULL, inserted_time REAL, started_time REAL, \
finished_time REAL, run_name TEXT)
    Experiments (rowid INTEGER PRIMARY KEY, user_id INTEGER, experiment_id INTEGER NOT NULL, inserted_time REAL, \
started_time REAL, is_watching INTEGER, experiment_name TEXT)
    Users (rowid INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, inserted_time REAL, user_name TEXT, email TEXT)
    Graphs (rowid INTEGER PRIMARY KEY, run_id INTEGER, graph_id INTEGER NOT NULL, inserted_time REAL, graph_def BLOB)
    Nodes (rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, node_name TEXT, op TEXT, device TEXT, \
node_def BLOB)
    NodeInputs (rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, idx INTEGER NOT NULL, \
input_node_id INTEGER NOT NULL, input_node_idx INTEGER, is_control INTEGER)
"""
_INDICES = """
    TensorSeriesStepIndex ON Tensors (series, step) WHERE series IS NOT NULL AND step IS NOT NULL
    TensorStringIndex ON TensorStrings (tensor_rowid, idx)
    TagIdIndex ON Tags (tag_id)
    TagRunNameIndex ON Tags (run_id, tag_name) WHERE run_id IS NOT NULL AND tag_name IS NOT NULL
    RunIdIndex ON Runs (run_id)
    RunNameIndex ON Runs (experiment_id, run_name) WHERE run_name IS NOT NULL
    ExperimentIdIndex ON Experiments (experiment_id)
    ExperimentNameIndex ON Experiments (user_id, experiment_name) WHERE experiment_name IS NOT NULL
    UserIdIndex ON Users (user_id)
    UserNameIndex ON Users (user_name) WHERE user_name IS NOT NULL
    UserEmailIndex ON Users (email) WHERE email IS NOT NULL
    GraphIdIndex ON Graphs (graph_id)
    GraphRunIndex ON Graphs (run_id) WHERE run_id IS NOT NULL
    NodeIdIndex ON Nodes (graph_id, node_id)
    NodeNameIndex ON Nodes (graph_id, node_name) WHERE node_name IS NOT NULL
    NodeInputsIndex ON NodeInputs (graph_id, node_id, idx)
"""
_BITS = (23, 31, 39, 47)            # of ids: more where short ones are used up


class SummaryDatabase:
    """A run in a database: takes Events and writes what they hold.

    `uri`: the path of the file, or "file:PATH"; `experiment`, `run` and `user`: to what the run belongs, "" to nothing.  Raises
    InvalidArgumentError for a file that cannot be opened.
    """

    def __init__(self, uri: str, experiment: str, run: str, user: str):
        try:
            self._db = sqlite3.connect(uri, uri=uri.startswith("file:"), check_same_thread=False)
            for kind, lines in (("TABLE", _TABLES), ("UNIQUE INDEX", _INDICES)):
                for line in lines.strip().splitlines():
                    self._db.execute(f"CREATE {kind} IF NOT EXISTS {line.strip()}")
        except sqlite3.Error as error:
            raise InvalidArgumentError(None, None, f"{uri}: {error}") from None
        self._names = experiment, run, user
        self._run: int | None = None
        self._tags: dict[str, int] = {}

    # -- ids ----------------------------------------------------------------------------------------------------------

    def _new_id(self) -> int:
        for bits in [bits for bits in _BITS for _ in range(10)]:
            found = random.getrandbits(bits) or 1
            try:
                self._db.execute("INSERT INTO Ids (id) VALUES (?)", (found,))
                return found
            except sqlite3.IntegrityError:
                continue
        raise InvalidArgumentError(None, None, "no id is left in the table Ids")

    def _one(self, query: str, *values: Any) -> Any:
        found = self._db.execute(query, values).fetchone()
        return None if found is None else found[0]

    def _insert(self, table: str, **columns: Any) -> None:
        places = ", ".join("?" * len(columns))
        self._db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", tuple(columns.values()))

    def _user_id(self, name: str, now: float) -> int | None:
        if not name:
            return None
        found = self._one("SELECT user_id FROM Users WHERE user_name = ?", name)
        if found is None:
            found = self._new_id()
            self._insert("Users", user_id=found, user_name=name, inserted_time=now)
        return int(found)

    def _experiment_id(self, user: int | None, name: str, now: float, started: float) -> int | None:
        if not name:
            return None
        found = self._one("SELECT experiment_id FROM Experiments WHERE user_id IS ? AND experiment_name = ?", user, name)
        if found is None:
            found = self._new_id()
            self._insert("Experiments", user_id=user, experiment_id=found, experiment_name=name, inserted_time=now,
                         started_time=started, is_watching=0)
        else:
            self._db.execute("UPDATE Experiments SET started_time = min(started_time, ?) WHERE experiment_id = ?", (started, found))
        return int(found)

    def _run_id(self, now: float, started: float) -> int | None:
        experiment, run, user = self._names
        if self._run is None and run:
            owner = self._experiment_id(self._user_id(user, now), experiment, now, started)
            self._run = self._new_id()
            self._db.execute("DELETE FROM Runs WHERE experiment_id IS ? AND run_name = ?", (owner, run))
            self._insert("Runs", experiment_id=owner, run_id=self._run, run_name=run, inserted_time=now, started_time=started)
        return self._run

    def _tag_id(self, tag: str, metadata: Any, now: float, started: float) -> int:
        run = self._run_id(now, started)
        if tag not in self._tags:
            self._tags[tag] = found = self._new_id()
            self._insert("Descriptions", id=found, description=metadata.summary_description)
            plugin = metadata.plugin_data
            self._insert("Tags", run_id=run, tag_id=found, tag_name=tag, inserted_time=now,
                         display_name=metadata.display_name, plugin_name=plugin.plugin_name, plugin_data=plugin.content)
        return self._tags[tag]

    # -- what a writer does -------------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Takes a serialized Event in."""
        from jitgraph.protobuf.messages import Event

        event: Any = Event.FromString(data)
        now = time.time()
        if event.graph_def:
            self._write_graph(event.graph_def, now, event.wall_time)
        for value in event.summary.value:
            array, metadata = _described(value)
            self._write_tensor(self._tag_id(value.tag, metadata, now, event.wall_time), event.step, array, event.wall_time)

    def _write_tensor(self, tag: int, step: int, array: np.ndarray, computed: float) -> None:
        from jitgraph.graph.dtypes import as_dtype

        dtype = as_dtype("string" if array.dtype == object else array.dtype)
        shape = ",".join(map(str, array.shape))
        texts = array.dtype == object and array.ndim > 0
        data = None if texts else _bytes(array.item()) if array.dtype == object else array.tobytes()
        cursor = self._db.execute("INSERT OR REPLACE INTO Tensors (series, step, dtype, computed_time, shape, data) VALUES "
                                  "(?, ?, ?, ?, ?, ?)", (tag, step, dtype.as_datatype_enum, computed, shape, data))
        if texts:
            for number, item in enumerate(array.ravel().tolist()):
                self._insert("TensorStrings", tensor_rowid=cursor.lastrowid, idx=number, data=_bytes(item))

    def _write_graph(self, data: bytes, now: float, computed: float) -> None:
        from jitgraph.protobuf.messages import GraphDef

        run, graph_id = self._run_id(now, computed), self._new_id()
        graph: Any = GraphDef.FromString(data)
        places = {node.name: number for number, node in enumerate(graph.node)}
        for number, node in enumerate(graph.node):
            name_op_device = {"node_name": node.name, "op": node.op, "device": node.device}
            for idx, given in enumerate(node.input):
                name, _, output = given.removeprefix("^").partition(":")
                self._insert("NodeInputs", graph_id=graph_id, node_id=number, idx=idx, input_node_id=places[name],
                             input_node_idx=int(output or 0), is_control=int(given.startswith("^")))
            for field in ("name", "op", "device", "input"):
                node.ClearField(field)
            self._insert("Nodes", graph_id=graph_id, node_id=number, **name_op_device, node_def=node.SerializeToString())
        del graph.node[:]
        self._db.execute("DELETE FROM Graphs WHERE run_id IS ?", (run,))
        self._insert("Graphs", run_id=run, graph_id=graph_id, inserted_time=now, graph_def=graph.SerializeToString())

    def flush(self) -> None:
        """Brings out what was written."""
        self._db.commit()

    def close(self) -> None:
        """Ends the run, and closes the file."""
        if self._run is not None:
            self._db.execute("UPDATE Runs SET finished_time = ? WHERE run_id = ?", (time.time(), self._run))
        self._db.commit()
        self._db.close()


def _bytes(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _described(value: Any) -> tuple[np.ndarray, Any]:
    """(the tensor, the metadata) of one value of a Summary, in the forms that TensorBoard's plugins read."""
    from jitgraph.graph.protos.tensor_proto import make_ndarray
    from jitgraph.protobuf.messages import SummaryMetadata

    metadata: Any = SummaryMetadata.FromString(value.metadata.SerializeToString())
    kind = value.WhichOneof("value")
    if kind == "tensor":
        return np.asarray(make_ndarray(value.tensor)), metadata
    array, plugin = _OLDER[kind](value)
    metadata.plugin_data.plugin_name = metadata.plugin_data.plugin_name or plugin
    return array, metadata


def _histogram(value: Any) -> tuple[np.ndarray, str]:
    limits, ends = list(value.histo.bucket_limit), np.finfo(np.float64)
    edges = [float(ends.tiny), *limits[:-1]], [*limits[:-1], float(ends.max)]
    return np.stack([*edges, list(value.histo.bucket)], axis=1).astype(np.float64), "histograms"


def _texts(*items: Any) -> np.ndarray:
    return np.array([_bytes(item) for item in items], object)


_OLDER: dict[str, Any] = {
    "simple_value": lambda value: (np.array(value.simple_value, np.float32), "scalars"),
    "histo": _histogram,
    "image": lambda value: (_texts(str(value.image.width), str(value.image.height), value.image.encoded_image_string), "images"),
    "audio": lambda value: (_texts(value.audio.encoded_audio_string, b"").reshape(1, 2), "audio"),
}
