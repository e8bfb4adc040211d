"""Linear models trained by stochastic dual coordinate ascent (Shalev-Shwartz and Zhang, 2013): the graph of their steps."""
from __future__ import annotations

from typing import Any

from jitgraph.app.logs import warn
from jitgraph.control.order_ops import group
from jitgraph.estimator.canned.divided_weights import Division
from jitgraph.estimator.canned.sharded_tables import ShardedTable
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones_like, zeros, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.searching import unique, where_v2
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.dual_ascent.sdca_ops import sdca_fprint, sdca_optimizer_v2
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import maximum, multiply, subtract
from jitgraph.ops.elementwise.cast import cast, to_double
from jitgraph.ops.elementwise.composite_values import sign, square
from jitgraph.ops.elementwise.elementary import exp, sigmoid
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.functions import log_poisson_loss, sigmoid_cross_entropy_with_logits
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.ops.reduce.segment import segment_sum
from jitgraph.summary.summaries import scalar
from jitgraph.variables.assignments import assign_add, scatter_add
from jitgraph.variables.partitioners import PartitionedVariable
from jitgraph.variables.variable import Variable

LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_WEIGHTS = ("sparse_features_weights", "dense_features_weights")


class SparseColumn:
    """The sparse features of a batch: feature `feature_indices[i]` of example `example_indices[i]` is `feature_values[i]`, or 1.

    Indices are int64 [n], sorted by example; values float32 [n] or None.
    """

    def __init__(self, example_indices: Any, feature_indices: Any, feature_values: Any):
        with name_scope(None, "SparseFeatureColumn", [example_indices, feature_indices]):
            self._examples = convert_to_tensor(example_indices, dtypes.int64, name="example_indices")
            self._features = convert_to_tensor(feature_indices, dtypes.int64, name="feature_indices")
        self._values = None
        if feature_values is not None:
            with name_scope(None, "SparseFeatureColumn", [feature_values]):
                self._values = convert_to_tensor(feature_values, dtypes.float32, name="feature_values")

    @property
    def example_indices(self) -> Tensor:
        """int64 [n]"""
        return self._examples

    @property
    def feature_indices(self) -> Tensor:
        """int64 [n]"""
        return self._features

    @property
    def feature_values(self) -> Tensor | None:
        """float32 [n], or None where all are 1."""
        return self._values


def parts(variable: Any) -> list[Any]:
    """The variables of one that may be partitioned."""
    return list(variable) if _is_parted(variable) else [variable]


def _is_parted(variable: Any) -> bool:
    return isinstance(variable, (list, PartitionedVariable))


def _whole(values: Any) -> list[Tensor]:
    return [convert_to_tensor(concat(list(value), axis=0) if _is_parted(value) else value) for value in values]


def _check(items: Any, lists: Any, given: Any) -> None:
    for item in items:
        if given[item] is None:
            raise ValueError(f"{item} must be specified.")
    for item in lists:
        if not isinstance(given[item], list):
            raise ValueError(item + " must be a list.")


class DualModel:
    """A linear model with L1 and L2 penalties, and the steps that train it.

    `examples` holds sparse_features (a list of SparseColumn), dense_features (a list of float32 [batch, width]), example_labels,
    example_weights (float32 [batch]) and example_ids (string [batch]); `variables` the lists sparse_features_weights and
    dense_features_weights, whose elements may be partitioned along their rows; `options` loss_type,
    symmetric_l1_regularization, symmetric_l2_regularization, and perhaps num_loss_partitions, num_table_shards, adaptive.
    Raises ValueError where one of them is missing or unknown, or a penalty is out of its range.
    """

    _slot_suffix = "_unshrunk"
    _slots_are_resources: bool | None = True
    _table: Any = ShardedTable
    _doubled = staticmethod(to_double)

    def __init__(self, examples: dict, variables: dict, options: dict):
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        if options["loss_type"] not in LOSSES:
            raise ValueError("Unsupported loss_type: ", options["loss_type"])
        _check(("example_labels", "example_weights", "example_ids", "sparse_features", "dense_features"),
               ("sparse_features", "dense_features"), examples)
        _check(_WEIGHTS, _WEIGHTS, variables)
        _check(("loss_type", "symmetric_l2_regularization", "symmetric_l1_regularization"), (), options)
        self._check_penalties(options["symmetric_l1_regularization"], options["symmetric_l2_regularization"])
        self._examples, self._variables, self._options = examples, variables, options
        self._slots: dict[str, list] = {name: [[self._slot(v) for v in variable] if _is_parted(variable) else self._slot(variable)
                              for variable in variables[name]] for name in _WEIGHTS}
        # fingerprints of examples never begin with 0 or 1
        self._hashtable = self._table(dtypes.int64, dtypes.float32, [0.0] * 4, [0, 0], [1, 1], options.get("num_table_shards") or 1)
        scalar("approximate_duality_gap", self.approximate_duality_gap())
        scalar("examples_seen", self._hashtable.size())

    def _check_penalties(self, l1: float, l2: float) -> None:
        if l2 <= 0.0:
            raise ValueError("symmetric_l2_regularization should be positive.")
        if l2 <= 1.0:
            warn("symmetric_l2_regularization for SDCA should typically be larger than for online optimization methods. "
                 "Recommended value is of the order of the average L2 norm of the training examples.")
        if l1 < 0.0:
            raise ValueError("symmetric_l1_regularization should be non-negative.")

    def _slot(self, variable: Any) -> Variable:
        """Where the weights stand before the proximal step."""
        return Variable(zeros_like(variable.initialized_value(), dtypes.float32), name=variable.op.name + self._slot_suffix,
                        use_resource=self._slots_are_resources)

    @property
    def _l1(self) -> float:
        return self._options["symmetric_l1_regularization"]

    @property
    def _l2(self) -> float:
        return self._options["symmetric_l2_regularization"]

    @property
    def _stated_l2(self) -> float:
        return self._options["symmetric_l2_regularization"]

    def _all_parts(self) -> list[Any]:
        return [part for name in _WEIGHTS for variable in self._variables[name] for part in parts(variable)]

    def _l1_loss(self) -> Tensor:
        with name_scope("sdca/l1_loss"):
            sums = [reduce_sum(absolute(cast(convert_to_tensor(v), dtypes.float64))) for v in self._all_parts()]
            return self._l1 * add_n(sums)

    def _l2_loss(self, l2: float) -> Tensor:
        with name_scope("sdca/l2_loss"):
            sums = [reduce_sum(square(cast(convert_to_tensor(v), dtypes.float64))) for v in self._all_parts()]
            return l2 * add_n(sums) / 2.0

    def _scores(self, examples: dict) -> Tensor:
        """Weights times features: [batch]."""
        with name_scope("sdca/prediction"):
            batch = shape_of(examples["example_ids"])[0]
            found = zeros([batch])
            for column, weights in zip(examples["sparse_features"], _whole(self._variables["sparse_features_weights"])):
                product = segment_sum(multiply(gather(weights, column.feature_indices), column.feature_values),
                                      column.example_indices)
                found += pad(product, [[0, batch - shape_of(product)[0]]])
            dense = _whole(examples["dense_features"])
            for features, weights in zip(dense, _whole(self._variables["dense_features_weights"])):
                found += squeeze(matmul(features, expand_dims(weights, -1)))
        return found

    def predictions(self, examples: dict) -> Tensor:
        """Scores of examples; of "logistic_loss" their sigmoids, of "poisson_loss" their exponentials: float32 [batch]."""
        _check(("example_weights", "sparse_features", "dense_features"), ("sparse_features", "dense_features"), examples)
        found = self._scores(examples)
        if self._options["loss_type"] == "logistic_loss":
            with name_scope("sdca/logistic_prediction"):
                return sigmoid(found)
        if self._options["loss_type"] == "poisson_loss":
            with name_scope("sdca/poisson_prediction"):
                return exp(found)
        return found

    def minimize(self, global_step: Any = None, name: str | None = None) -> Any:
        """The operation that takes all examples of a batch once; it adds 1 to `global_step` afterwards."""
        with name_scope(name, "sdca/minimize"):
            columns = self._examples["sparse_features"]
            keys = sdca_fprint(convert_to_tensor(self._examples["example_ids"]))
            states = self._hashtable.lookup(keys)
            features: list[Tensor] = []
            weights: list[Tensor] = []
            divisions: list[Division | None] = []
            for slot, column in zip(self._slots["sparse_features_weights"], columns):
                ids = cast(unique(cast(column.feature_indices, dtypes.int32))[0], dtypes.int64)
                division = Division(list(slot), ids, self._where) if _is_parted(slot) else None
                features.append(ids)
                divisions.append(division)
                weights.append(division.gathered() if division else gather(convert_to_tensor(slot), ids))
            new_states, sparse, dense = self._step(columns, features, weights, states)
            with control_dependencies([new_states]):
                updates = [self._hashtable.insert(keys, new_states)]
                for slot, division, ids, change in zip(self._slots["sparse_features_weights"], divisions, features, sparse):
                    updates += division.added(change) if division else [scatter_add(slot, ids, change)]
                for slot, change in zip(self._slots["dense_features_weights"], dense):
                    if _is_parted(slot):
                        changes = split(change, [v.shape.as_list()[0] for v in slot])
                        updates += [assign_add(v, one) for v, one in zip(slot, changes)]
                    else:
                        updates.append(assign_add(slot, change))
            if global_step is None:
                return group(*updates)
            with control_dependencies(updates):
                return assign_add(global_step, 1, name=name).op

    _where = staticmethod(where_v2)

    def _step(self, columns: list, features: list[Tensor], weights: list[Tensor], states: Tensor) -> Any:
        return sdca_optimizer_v2(
            [column.example_indices for column in columns], [column.feature_indices for column in columns],
            [column.feature_values for column in columns if column.feature_values is not None],
            _whole(self._examples["dense_features"]), convert_to_tensor(self._examples["example_weights"]),
            convert_to_tensor(self._examples["example_labels"]), features, weights, _whole(self._slots["dense_features_weights"]),
            states, loss_type=self._options["loss_type"], l1=self._l1, l2=self._l2,
            num_loss_partitions=self._options.get("num_loss_partitions", 1), num_inner_iterations=1,
            adaptive=self._options.get("adaptive", True))

    def update_weights(self, train_op: Any) -> Any:
        """The operation that gives the weights their new values, by the proximal step of the L1 penalty, after `train_op`."""
        with control_dependencies([train_op]):
            updates = [v.assign(s) for name in _WEIGHTS for variable, slot in zip(self._variables[name], self._slots[name])
                       for v, s in zip(parts(variable), parts(slot))]
        return self._shrunk(updates)

    def _shrunk(self, updates: list[Any]) -> Any:
        if self._l1 <= 0:
            return group(*updates)
        with control_dependencies(updates):
            by = self._l1 / self._l2
            return group(*[v.assign(sign(v) * maximum(0.0, absolute(v) - by)) for v in self._all_parts()])

    def approximate_duality_gap(self) -> Tensor:
        """Primal minus dual objective over all examples seen, by their weight: float64 []; NaN where there are none."""
        with name_scope("sdca/approximate_duality_gap"):
            _, values = self._hashtable.export_sharded()
            sums: list[Tensor] = []
            for shard in values:
                with control_dependencies(sums):                # one after the other: each needs memory
                    sums.append(reduce_sum(self._doubled(shard), 0))
            total = add_n(sums)
            primal, dual, weight = total[1], total[2], total[3]
            return (primal + dual + self._l1_loss() + 2.0 * self._l2_loss(self._l2)) / weight

    def unregularized_loss(self, examples: dict) -> Tensor:
        """The mean loss of examples: float64 []."""
        _check(("example_labels", "example_weights", "sparse_features", "dense_features"), ("sparse_features", "dense_features"),
               examples)
        with name_scope("sdca/unregularized_loss"):
            scores = cast(self._scores(examples), dtypes.float64)
            labels = cast(convert_to_tensor(examples["example_labels"]), dtypes.float64)
            weights = cast(convert_to_tensor(examples["example_weights"]), dtypes.float64)
            kind = self._options["loss_type"]
            if kind == "squared_loss":
                weighted = multiply(square(subtract(labels, scores)), weights)
                return reduce_sum(weighted) / (2.0 * reduce_sum(weights))
            if kind == "logistic_loss":
                losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=scores)
            elif kind == "poisson_loss":
                losses = log_poisson_loss(targets=labels, log_input=scores)
            else:
                ones = ones_like(scores)
                signs = subtract(2 * labels, ones)
                losses = relu(subtract(ones, multiply(signs, scores)))
            return reduce_sum(multiply(losses, weights)) / reduce_sum(weights)

    def regularized_loss(self, examples: dict) -> Tensor:
        """The mean loss of examples with the penalties: float64 []."""
        _check(("example_labels", "example_weights", "sparse_features", "dense_features"), ("sparse_features", "dense_features"),
               examples)
        with name_scope("sdca/regularized_loss"):
            weights = convert_to_tensor(examples["example_weights"])
            penalty = self._l1_loss() + self._l2_loss(self._stated_l2)
            return penalty / reduce_sum(cast(weights, dtypes.float64)) + self.unregularized_loss(examples)
