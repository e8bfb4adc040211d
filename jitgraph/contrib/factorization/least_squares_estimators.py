"""``tf.contrib.factorization.WALSMatrixFactorization``: alternating least squares as an estimator that is fitted."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.factorization.least_squares import WALSModel
from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.model_ops import ModeKeys, ModelFnOps
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.ops.arrays.fill import fill, ones_like
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import logical_not
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.summary.summaries import scalar
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunHook
from jitgraph.variables.assignments import assign, assign_add, scatter_update
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable import Variable


class _SweepHook(SessionRunHook):
    """Runs steps of rows until all were seen, then of columns, and so on; prepares each sweep."""

    def __init__(self, is_row_sweep: Any, is_done: Any, init_op: Any, row_ops: list, col_ops: list, row_step: Any, col_step: Any,
                 switch: Any):
        self._is_row_sweep, self._is_done, self._init_op, self._switch = is_row_sweep, is_done, init_op, switch
        self._prepare, self._step = {True: row_ops, False: col_ops}, {True: row_step, False: col_step}
        self._begun = False

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Begins a sweep if the one before is over; asks for its step."""
        session = run_context.session
        done = session.run(self._is_done)
        if not self._begun:
            logs.info("SweepHook running init op.")
            session.run(self._init_op)
        if done:
            logs.info("SweepHook starting the next sweep.")
            session.run(self._switch)
        of_rows = bool(session.run(self._is_row_sweep))
        if done or not self._begun:
            logs.info("SweepHook running prep ops for the {} sweep.".format("row" if of_rows else "col"))
            for one in self._prepare[of_rows]:
                session.run(one)
        self._begun = True
        logs.info("Next fit step starting.")
        return SessionRunArgs(fetches=[self._step[of_rows]])


class _GlobalStepHook(SessionRunHook):
    """Counts the steps."""

    def __init__(self) -> None:
        step = get_global_step()
        self._count = None if step is None else assign_add(step, 1, name="global_step_incr").op

    def before_run(self, run_context: Any) -> None:
        """Adds one."""
        if self._count is not None:
            run_context.session.run(self._count)


class _StopAtSweepHook(SessionRunHook):
    """Stops after so many sweeps."""

    def __init__(self, last: int):
        self._last = last

    def begin(self) -> None:
        """Looks for the counter."""
        name = WALSMatrixFactorization.COMPLETED_SWEEPS
        try:
            self._completed = get_default_graph().get_tensor_by_name(f"{name}:0")
        except KeyError:
            raise RuntimeError(f"{name} counter should be created to use StopAtSweepHook.") from None

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Reads it when the step is over, since a fetch in the step itself would be of what was before."""
        if run_context.session.run(self._completed) >= self._last:
            run_context.request_stop()


def _kept(value: Any, name: str) -> Any:
    return Variable(value, trainable=False, name=name, collections=[GraphKeys.GLOBAL_VARIABLES])


class _Training:
    """The variables and operations of sweeps over rows and columns."""

    def __init__(self, model: WALSModel, input_rows: Any, input_cols: Any, params: dict[str, Any]):
        self.is_row_sweep = _kept(True, "is_row_sweep")
        self.is_done = _kept(False, "is_sweep_done")
        self.completed = _kept(0, WALSMatrixFactorization.COMPLETED_SWEEPS)
        self.loss = _kept(0.0, WALSMatrixFactorization.LOSS)
        self.error = _kept(0.0, WALSMatrixFactorization.RWSE)
        scalar("loss", self.loss)
        scalar("root_weighted_squared_error", self.error)
        scalar("completed_sweeps", self.completed)
        reset_rows, row_step = self._axis(input_rows, params["num_rows"], lambda x: model.update_row_factors(x, False), "rows")
        reset_columns, col_step = self._axis(input_cols, params["num_cols"], lambda x: model.update_col_factors(x, True), "cols")
        switch = group(assign(self.is_row_sweep, logical_not(self.is_row_sweep)), reset_rows, reset_columns,
                       name="sweep_switch_op")
        sweep = _SweepHook(self.is_row_sweep, self.is_done, model.worker_init,
                           [model.row_update_prep_gramian_op, model.initialize_row_update_op],
                           [model.col_update_prep_gramian_op, model.initialize_col_update_op], row_step, col_step, switch)
        self.hooks: list[SessionRunHook] = [sweep, _GlobalStepHook()]
        if params["max_sweeps"] is not None:
            self.hooks.append(_StopAtSweepHook(params["max_sweeps"]))

    def _axis(self, sp_input: Any, count: int, update: Callable, name: str) -> tuple:
        """(what forgets which were seen, a step over rows or columns)"""
        none = fill(dims=[count], value=False)
        with colocate_with(none):
            seen = _kept(none, f"processed_{name}")
        _, update_op, loss, regularization, weights = update(sp_input)
        indices = sp_input.indices[:, 0]
        with control_dependencies([update_op, assign(self.loss, loss + regularization), assign(self.error, sqrt(loss / weights))]):
            with colocate_with(seen):
                marked = scatter_update(seen, indices, ones_like(indices, dtype=dtypes.bool_),
                                        name=f"update_processed_{name}_indices")
            with control_dependencies([marked]):
                done = reduce_all(seen)
                step = group(assign(self.is_done, done), assign_add(self.completed, cast(done, dtypes.int32)),
                             name=f"{name}_sweep_train_op")
        return seen.initializer, step


def _model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> ModelFnOps:
    assert labels is None
    if mode not in (ModeKeys.TRAIN, ModeKeys.INFER, ModeKeys.EVAL):
        raise ValueError(f"mode={mode} is not recognized.")
    training = mode == ModeKeys.TRAIN
    names = "row_init", "col_init", "num_row_shards", "num_col_shards", "row_weights", "col_weights", "unobserved_weight"
    model = WALSModel(params["num_rows"], params["num_cols"], params["embedding_dimension"],
                      regularization=params["regularization_coeff"],
                      use_factors_weights_cache=params["use_factors_weights_cache_for_training"] and training,
                      use_gramian_cache=params["use_gramian_cache_for_training"] and training,
                      **{name: params[name] for name in names})
    rows, columns = features[WALSMatrixFactorization.INPUT_ROWS], features[WALSMatrixFactorization.INPUT_COLS]
    if training:
        graph = _Training(model, rows, columns, params)
        return ModelFnOps(mode=mode, predictions={}, loss=graph.loss, eval_metric_ops={}, train_op=no_op(),
                          training_hooks=graph.hooks)
    of_rows = features[WALSMatrixFactorization.PROJECT_ROW]
    if mode == ModeKeys.INFER:
        weights = features.get(WALSMatrixFactorization.PROJECTION_WEIGHTS)
        found = cond(of_rows, lambda: model.project_row_factors(rows, False, weights),
                     lambda: model.project_col_factors(columns, True, weights))
        return ModelFnOps(mode=mode, predictions={WALSMatrixFactorization.PROJECTION_RESULT: found}, loss=None, eval_metric_ops={},
                          train_op=no_op(), training_hooks=[])

    def loss_of(updated: tuple) -> Any:
        return updated[2] + updated[3]

    loss = cond(of_rows, lambda: loss_of(model.update_row_factors(rows, False)),
                lambda: loss_of(model.update_col_factors(columns, True)))
    return ModelFnOps(mode=mode, predictions={}, loss=loss, eval_metric_ops={}, train_op=no_op(), training_hooks=[])


class WALSMatrixFactorization(Estimator):
    """Factors of a matrix; the arguments are those of ``WALSModel``, `max_sweeps` stops the training.

    Features: `INPUT_ROWS` and `INPUT_COLS`, SparseTensors of rows and of columns (those transposed); to predict and evaluate also
    `PROJECT_ROW`, which of both is meant, and perhaps `PROJECTION_WEIGHTS`.  Raises ValueError for more than one worker.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(self, num_rows: int, num_cols: int, embedding_dimension: int, unobserved_weight: float = 0.1,
                 regularization_coeff: float | None = None, row_init: Any = "random", col_init: Any = "random",
                 num_row_shards: int = 1, num_col_shards: int = 1, row_weights: Any = 1, col_weights: Any = 1,
                 use_factors_weights_cache_for_training: bool = True, use_gramian_cache_for_training: bool = True,
                 max_sweeps: int | None = None, model_dir: Any = None, config: Any = None):
        params = {name: value for name, value in locals().items() if name not in ("self", "model_dir", "config", "__class__")}
        super().__init__(model_fn=_model_fn, params=params, model_dir=model_dir, config=config)
        self._row_factors_names = [f"row_factors_shard_{i}" for i in range(num_row_shards)]
        self._col_factors_names = [f"col_factors_shard_{i}" for i in range(num_col_shards)]
        if self._config is not None and self._config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")

    def get_row_factors(self) -> list:
        """The shards of the factors of rows, as arrays."""
        return [self.get_variable_value(name) for name in self._row_factors_names]

    def get_col_factors(self) -> list:
        """The shards of the factors of columns, as arrays."""
        return [self.get_variable_value(name) for name in self._col_factors_names]

    def get_projections(self, input_fn: Any) -> Iterator[Any]:
        """Yields the factors of the rows or columns of the input."""
        return (found[self.PROJECTION_RESULT] for found in self.predict(input_fn=input_fn))
