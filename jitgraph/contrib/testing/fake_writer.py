"""``FakeSummaryWriter``: a writer of summaries that keeps them, for tests."""
from __future__ import annotations

from typing import Any, ClassVar

from jitgraph.protobuf.messages import Summary
from jitgraph.summary import file_writer


class FakeSummaryWriter:
    """Keeps summaries, graphs and session logs in memory; ``install()`` puts it in the place of ``tf.summary.FileWriter``."""

    _replaced: ClassVar[Any] = None

    def __init__(self, logdir: str, graph: Any = None):
        self._logdir, self._graph = logdir, graph
        self.summaries: dict[int, list[Any]] = {}
        self._added_graphs: list[Any] = []
        self._added_meta_graphs: list[Any] = []
        self._added_session_logs: list[Any] = []
        self._added_run_metadata: dict[str, Any] = {}

    @classmethod
    def install(cls) -> None:
        """Has hooks and ``tf.summary.FileWriterCache`` make writers of this class.  Raises ValueError if they do already."""
        if FakeSummaryWriter._replaced is not None:
            raise ValueError("FakeSummaryWriter already installed.")
        FakeSummaryWriter._replaced = file_writer.FileWriter
        file_writer.FileWriter = FakeSummaryWriter          # type: ignore[assignment, misc]

    @classmethod
    def uninstall(cls) -> None:
        """Takes ``install`` back.  Raises ValueError if there is nothing to take back."""
        if FakeSummaryWriter._replaced is None:
            raise ValueError("FakeSummaryWriter not installed.")
        file_writer.FileWriter = FakeSummaryWriter._replaced  # type: ignore[misc]
        FakeSummaryWriter._replaced = None

    def assert_summaries(self, test_case: Any, expected_logdir: str | None = None, expected_graph: Any = None,
                         expected_summaries: dict[int, dict[str, float]] | None = None, expected_added_graphs: list | None = None,
                         expected_added_meta_graphs: list | None = None, expected_session_logs: list | None = None) -> None:
        """Has `test_case` fail unless what came is what is expected: {step: {tag: number}} of summaries, and what is not None.

        "global_step/sec" does not count.
        """
        if expected_logdir is not None:
            test_case.assertEqual(expected_logdir, self._logdir)
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, values in (expected_summaries or {}).items():
            test_case.assertTrue(step in self.summaries, msg=f"Missing step {step} from {list(self.summaries)}.")
            found = {value.tag: value.simple_value for summary in self.summaries[step] for value in summary.value
                     if value.tag != "global_step/sec"}
            test_case.assertEqual(values, found)
        for expected, came in ((expected_added_graphs, self._added_graphs), (expected_session_logs, self._added_session_logs),
                               (expected_added_meta_graphs, self._added_meta_graphs)):
            if expected is not None:
                test_case.assertEqual(expected, came)

    def add_summary(self, summ: Any, current_global_step: int) -> None:
        """Keeps a Summary, or its bytes."""
        self.summaries.setdefault(current_global_step, []).append(Summary.FromString(summ) if isinstance(summ, bytes) else summ)

    def add_graph(self, graph: Any, global_step: int | None = None, graph_def: Any = None) -> None:
        """Keeps a graph.  Raises ValueError for a negative step, and for a GraphDef."""
        _check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._added_graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: int | None = None) -> None:
        """Keeps a MetaGraphDef.  Raises ValueError for a negative step."""
        _check_step(global_step)
        self._added_meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Any, global_step: int | None = None) -> None:
        """Keeps a SessionLog."""
        self._added_session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: int | None = None) -> None:
        """Keeps RunMetadata.  Raises ValueError for a negative step."""
        _check_step(global_step)
        self._added_run_metadata[tag] = run_metadata

    def flush(self) -> None:
        """Nothing to do."""

    def reopen(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


def _check_step(global_step: int | None) -> None:
    if global_step is not None and global_step < 0:
        raise ValueError(f"Invalid global_step {global_step}.")
