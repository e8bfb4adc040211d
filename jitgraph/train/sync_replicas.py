"""``tf.train.SyncReplicasOptimizer``: one step of several workers together."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.scopes import control_dependencies, device, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import fill
from jitgraph.resources.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from jitgraph.resources.queues import FIFOQueue
from jitgraph.train.hooks.run_hooks import SessionRunHook
from jitgraph.train.optimizer import Optimizer
from jitgraph.train.queue_runner import QueueRunner
from jitgraph.train.sessions.session_manager import _ready
from jitgraph.variables.assignments import assign
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_collections import global_variables, report_uninitialized_variables


class SyncReplicasOptimizer(Optimizer):
    """Averages the gradients of several workers and applies them once: all workers take each step together.

    Gradients go to accumulators, which drop those of an older step.  The chief applies their mean when enough have
    come, and then puts a token for each worker into a queue, on which workers wait for the next step.  Give
    ``make_session_run_hook(is_chief)`` to the monitored session.

    Args:
      opt: the optimizer that applies the mean.
      replicas_to_aggregate: how many gradients make a step.
      total_num_replicas: how many workers there are; as many if None.
      variable_averages: an ExponentialMovingAverage that is updated after each step.
      variables_to_average: of which variables.
      use_locking: has no effect.
      name: the name scope.
    """

    def __init__(self, opt: Optimizer, replicas_to_aggregate: int, total_num_replicas: int | None = None,
                 variable_averages: Any = None, variables_to_average: Any = None, use_locking: bool = False,
                 name: str = "sync_replicas"):
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        super().__init__(use_locking, name)
        logs.info("SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate, total)
        self._opt = opt
        self._replicas_to_aggregate, self._total_num_replicas = replicas_to_aggregate, total
        self._variable_averages, self._variables_to_average = variable_averages, variables_to_average
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._gradients_applied = False
        self._accumulator_list: list[tuple[Any, str]] = []

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list:
        """The gradients of this worker, by the optimizer inside."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """An operation that hands in this worker's gradients and waits for the next step.

        Raises ValueError without gradients, without a global step, or for a gradient of an unknown kind.
        """
        pairs = list(grads_and_vars or ())
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        no_op()     # TensorFlow places the local step beside it
        self._local_step = Variable(0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                                    dtype=global_step.dtype.base_dtype, name="sync_rep_local_step")
        self.local_step_init_op = assign(self._local_step, global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            handed_in, means = self._accumulate(pairs)
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(zip(means, [variable for _, variable in pairs]), global_step)
                self._sync_token_queue = FIFOQueue(-1, global_step.dtype.base_dtype, shapes=(), name="sync_token_q",
                                                   shared_name="sync_token_q")
                dummy_queue = FIFOQueue(1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue")
                with control_dependencies(handed_in):
                    token = self._sync_token_queue.dequeue()
                train_op = assign(self._local_step, token)
                self._chief_queue_runner = QueueRunner(dummy_queue, [self._step_op(update)])
            starts = [self.local_step_init_op]
            for accumulator, where in self._accumulator_list:
                with device(where):
                    starts.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = group(*starts)
        self._gradients_applied = True
        return train_op

    def _accumulate(self, pairs: list) -> tuple[list, list]:
        """(operations that hand in the gradients, the means that the chief takes)"""
        handed_in: list[Any] = []
        means: list[Any] = []
        for gradient, variable in pairs:
            with device(variable.device):
                if gradient is None:
                    means.append(None)
                    continue
                shared = variable.name + "/grad_accum"
                if isinstance(gradient, Tensor):
                    dense = ConditionalAccumulator(gradient.dtype, shape=variable.get_shape(), shared_name=shared)
                    handed_in.append(dense.apply_grad(gradient, local_step=self._local_step))
                    means.append(dense.take_grad(self._replicas_to_aggregate))
                    self._accumulator_list.append((dense, variable.device))
                elif isinstance(gradient, IndexedSlices):
                    sparse = SparseConditionalAccumulator(gradient.dtype, shape=(), shared_name=shared)
                    handed_in.append(sparse.apply_indexed_slices_grad(gradient, local_step=self._local_step))
                    means.append(sparse.take_indexed_slices_grad(self._replicas_to_aggregate))
                    self._accumulator_list.append((sparse, variable.device))
                else:
                    raise ValueError("Unknown grad type!")
        return handed_in, means

    def _step_op(self, update: Any) -> Any:
        """What the chief runs again and again: a step, then a token for each worker."""
        with control_dependencies([update]):
            tokens = fill([self._tokens_per_step], self._global_step)
            done = self._sync_token_queue.enqueue_many((tokens,))
        if self._variable_averages is None:
            return done
        with control_dependencies([done]), name_scope(""):
            return self._variable_averages.apply(self._variables_to_average)

    def get_chief_queue_runner(self) -> QueueRunner:
        """The QueueRunner that applies the means.  Raises ValueError before ``apply_gradients``."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """An operation that puts the first tokens into the queue, as many as gradients make a step if -1.

        Raises ValueError before ``apply_gradients``, and for too few tokens.
        """
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            return self._sync_token_queue.enqueue_many((fill([num_tokens], self._global_step),))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """The hook of the monitored session of a worker, or of the chief."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)

    # -- what the optimizer inside has

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the optimizer inside."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of the slots of the optimizer inside."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list:
        """The variables of the optimizer inside."""
        return self._opt.variables()


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Starts the local step, and on the chief the tokens and the thread that applies the means."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int):
        self._optimizer, self._is_chief, self._num_tokens = optimizer, is_chief, num_tokens

    def begin(self) -> None:
        """Makes the node with the first tokens.  Raises ValueError before ``apply_gradients``."""
        if not self._optimizer._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._runner, self._tokens_op = None, None
        self._local_init_op = self._optimizer.local_step_init_op
        if self._is_chief:
            self._local_init_op = self._optimizer.chief_init_op
            self._runner = self._optimizer.get_chief_queue_runner()
            self._tokens_op = self._optimizer.get_init_tokens_op(self._num_tokens)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts them.  Raises RuntimeError if global variables are not initialised."""
        ready, message = _ready(self._optimizer.ready_for_local_init_op, session,
                                "Model is not ready for SyncReplicasOptimizer local init.")
        if not ready:
            raise RuntimeError("Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                               f"Init op: {self._local_init_op.name}, error: {message}")
        session.run(self._local_init_op)
        if self._tokens_op is not None:
            session.run(self._tokens_op)
        if self._runner is not None:
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)
