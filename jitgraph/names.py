"""The public names, in one table: which module gives each.

A line ``"module": "a b nn.c=d"`` says that ``tf.a`` is ``module.a``, ``tf.b`` is ``module.b`` and ``tf.nn.c`` is
``module.d`` (without ``=``, the last part of the name).  Modules are relative to ``jitgraph``.  Names are resolved when
they are first used, so that importing jitgraph costs next to nothing.

A namespace such as ``tf.nn`` is made of the names that begin with ``nn.``.  Where a package of that name exists
(``jitgraph/train/``), it must answer for them itself: ``__getattr__ = names.namespace_getattr("train")``.
"""
from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

TABLE: dict[str, str] = {
    "graph.dtypes": """
        DType as_dtype float16 half bfloat16 float32 float64 double int8 int16 int32 int64 uint8 uint16 uint32 uint64
        complex64 complex128 bool=bool_ string resource variant qint8 quint8 qint16 quint16 qint32 QUANTIZED_DTYPES
        dtypes.DType dtypes.as_dtype dtypes.float16 dtypes.half dtypes.bfloat16 dtypes.float32 dtypes.float64
        dtypes.double dtypes.int8 dtypes.int16 dtypes.int32 dtypes.int64 dtypes.uint8 dtypes.uint16 dtypes.uint32
        dtypes.uint64 dtypes.complex64 dtypes.complex128 dtypes.bool=bool_ dtypes.string dtypes.resource dtypes.variant
        dtypes.qint8 dtypes.quint8 dtypes.qint16 dtypes.quint16 dtypes.qint32 dtypes.QUANTIZED_DTYPES""",
    "graph.shapes": "TensorShape Dimension dimension_value dimension_at_index",
    "graph.errors": """
        OpError errors.OpError errors.CancelledError errors.UnknownError errors.InvalidArgumentError
        errors.DeadlineExceededError errors.NotFoundError errors.AlreadyExistsError errors.PermissionDeniedError
        errors.ResourceExhaustedError errors.FailedPreconditionError errors.AbortedError errors.OutOfRangeError
        errors.UnimplementedError errors.InternalError errors.UnavailableError errors.DataLossError
        errors.UnauthenticatedError errors.exception_type_from_error_code errors.error_code_from_exception_type
        errors.OK errors.CANCELLED errors.UNKNOWN errors.INVALID_ARGUMENT errors.DEADLINE_EXCEEDED errors.NOT_FOUND
        errors.ALREADY_EXISTS errors.PERMISSION_DENIED errors.RESOURCE_EXHAUSTED errors.FAILED_PRECONDITION
        errors.ABORTED errors.OUT_OF_RANGE errors.UNIMPLEMENTED errors.INTERNAL errors.UNAVAILABLE errors.DATA_LOSS
        errors.UNAUTHENTICATED""",
    "graph.graph": "Graph",
    "graph.operation": "Operation",
    "graph.tensor": "Tensor",
    "graph.composite": "IndexedSlices IndexedSlicesValue SparseTensor SparseTensorValue convert_to_tensor_or_sparse_tensor",
    "graph.collections": "GraphKeys",
    "graph.devices": "DeviceSpec",
    "graph.stack": "get_default_graph reset_default_graph get_default_session",
    "graph.scopes": """
        name_scope op_scope control_dependencies device container colocate_with add_to_collection add_to_collections
        get_collection get_collection_ref get_all_collection_keys init_scope""",
    "graph.seeds": "set_random_seed get_seed random.set_random_seed random.get_seed",
    "graph.convert": """
        convert_to_tensor=public_convert_to_tensor register_tensor_conversion_function
        convert_to_tensor_or_indexed_slices""",
    "graph.gradient_registry": "RegisterGradient NotDifferentiable=not_differentiable NoGradient=not_differentiable",
    "graph.constant_value": "get_static_value=constant_value contrib.util.constant_value",
    "formats.tensor_proto": """
        make_tensor_proto make_ndarray contrib.util.make_tensor_proto contrib.util.make_ndarray""",
    "formats.messages": """
        GraphDef NodeDef AttrValue NameAttrList MetaGraphDef OpDef TensorProto=TensorProto VariableDef ConfigProto GPUOptions
        GraphOptions OptimizerOptions RunOptions RunMetadata Summary Event SummaryMetadata HistogramProto SessionLog
        LogMessage train.Example=Example train.Features=Features train.Feature=Feature train.FeatureList=FeatureList
        train.FeatureLists=FeatureLists train.SequenceExample=SequenceExample train.BytesList=BytesList
        train.FloatList=FloatList train.Int64List=Int64List train.SaverDef=SaverDef train.ClusterDef=ClusterDef
        train.JobDef=JobDef train.ServerDef=ServerDef train.QueueRunnerDef=QueueRunnerDef
        summary.Summary summary.SummaryDescription summary.Event summary.SessionLog summary.TaggedRunMetadata""",
    "runtime.session": "Session InteractiveSession",
    "runtime.stats": "session_stats",
    "ops.constant": "constant",
    "ops.control": "no_op group tuple=tuple_",
    "variables": """
        Variable VariableAggregation VariableSynchronization global_variables all_variables local_variables
        trainable_variables model_variables moving_average_variables variables_initializer initialize_variables
        global_variables_initializer initialize_all_variables local_variables_initializer initialize_local_variables
        report_uninitialized_variables assert_variables_initialized is_variable_initialized
        assign assign_add assign_sub count_up_to scatter_update scatter_add scatter_sub scatter_mul scatter_div
        scatter_min scatter_max scatter_nd_update scatter_nd_add scatter_nd_sub""",
    "variable_scopes": """
        variable_scope VariableScope get_variable get_local_variable get_variable_scope variable_op_scope
        no_regularizer AUTO_REUSE""",
    "template": "make_template",
    "partitioners": """
        fixed_size_partitioner variable_axis_size_partitioner min_max_variable_partitioner""",
    "variable_initializers": """
        zeros_initializer ones_initializer constant_initializer random_uniform_initializer random_normal_initializer
        truncated_normal_initializer uniform_unit_scaling_initializer variance_scaling_initializer
        orthogonal_initializer glorot_uniform_initializer glorot_normal_initializer
        initializers.zeros=zeros_initializer initializers.ones=ones_initializer initializers.constant=constant_initializer
        initializers.random_uniform=random_uniform_initializer initializers.random_normal=random_normal_initializer
        initializers.truncated_normal=truncated_normal_initializer
        initializers.uniform_unit_scaling=uniform_unit_scaling_initializer
        initializers.variance_scaling=variance_scaling_initializer initializers.orthogonal=orthogonal_initializer
        initializers.identity=identity_initializer initializers.glorot_uniform=glorot_uniform_initializer
        initializers.glorot_normal=glorot_normal_initializer initializers.he_normal initializers.he_uniform
        initializers.lecun_normal initializers.lecun_uniform initializers.global_variables=global_variables_initializer
        initializers.variables=variables_initializer initializers.local_variables=local_variables_initializer""",
    "public": """
        newaxis VERSION GIT_VERSION COMPILER_VERSION version.VERSION version.GIT_VERSION version.COMPILER_VERSION
        GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER
        version.GRAPH_DEF_VERSION version.GRAPH_DEF_VERSION_MIN_CONSUMER version.GRAPH_DEF_VERSION_MIN_PRODUCER
        executing_eagerly disable_eager_execution disable_v2_behavior enable_resource_variables
        disable_resource_variables resource_variables_enabled disable_v2_tensorshape""",
    "ops.math": """
        add subtract multiply scalar_mul divide div truediv realdiv floordiv floor_div div_no_nan mod floormod
        truncatediv truncatemod pow abs negative sign square squared_difference maximum minimum add_n accumulate_n
        math.add math.subtract math.multiply math.scalar_mul math.divide math.truediv math.floordiv math.floormod
        math.mod math.pow math.abs math.negative math.sign math.square math.squared_difference math.maximum
        math.minimum math.add_n math.accumulate_n math.divide_no_nan=div_no_nan math.multiply_no_nan
        math.reciprocal_no_nan""",
    "ops.cast": """
        cast saturate_cast bitcast to_float to_double to_int32 to_int64 to_bfloat16 to_complex64 to_complex128
        dtypes.cast dtypes.saturate_cast""",
    "ops.compare": """
        equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor
        math.equal math.not_equal math.less math.less_equal math.greater math.greater_equal math.logical_and
        math.logical_or math.logical_not math.logical_xor bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor
        bitwise.invert bitwise.left_shift bitwise.right_shift""",
    "ops.complex_numbers": """
        real imag conj angle complex math.real math.imag math.conj math.angle""",
    "ops.elementary": """
        sqrt rsqrt reciprocal exp expm1 log log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh
        sigmoid log_sigmoid floor ceil rint round is_nan is_inf is_finite
        math.sqrt math.rsqrt math.reciprocal math.exp math.expm1 math.log math.log1p math.sin math.cos math.tan
        math.asin math.acos math.atan math.atan2 math.sinh math.cosh math.tanh math.asinh math.acosh math.atanh
        math.sigmoid math.log_sigmoid math.floor math.ceil math.rint math.round math.is_nan math.is_inf math.is_finite
        nn.sigmoid nn.tanh nn.log_sigmoid debugging.is_nan debugging.is_inf debugging.is_finite""",
    "ops.matmul": "matmul linalg.matmul sparse_matmul",
    "ops.reduce": """
        reduce_sum reduce_mean reduce_prod reduce_max reduce_min reduce_all reduce_any reduce_logsumexp count_nonzero
        argmax argmin arg_max arg_min math.reduce_sum math.reduce_mean math.reduce_prod math.reduce_max
        math.reduce_min math.reduce_all math.reduce_any math.reduce_logsumexp math.count_nonzero math.argmax
        math.argmin math.reduce_std math.reduce_variance math.reduce_euclidean_norm""",
    "gradients": """
        gradients hessians AggregationMethod UnconnectedGradients""",
    "custom_gradient": "custom_gradient grad_pass_through",
    "test.gradient_checker": "test.compute_gradient test.compute_gradient_error",
    "ops.join": """
        concat parallel_stack split stack unstack""",
    "ops.identity": """
        ensure_shape identity identity_n placeholder placeholder_with_default stop_gradient""",
    "ops.shape": """
        expand_dims rank reshape shape shape_n size squeeze manip.reshape""",
    "ops.fill": """
        fill one_hot ones ones_like zeros zeros_like""",
    "ops.gather": """
        gather gather_nd scatter_nd manip.gather_nd manip.scatter_nd""",
    "ops.random": """
        multinomial random_crop random_normal random_shuffle random_uniform random.categorical
        random.multinomial truncated_normal random.normal=random_normal random.uniform=random_uniform
        random.truncated_normal random.shuffle=random_shuffle""",
    "ops.slicing": """
        slice strided_slice""",
    "ops.softmax": """
        math.log_softmax math.softmax nn.log_softmax nn.softmax nn.softmax_cross_entropy_with_logits
        nn.softmax_cross_entropy_with_logits_v2 nn.sparse_softmax_cross_entropy_with_logits""",
    "ops.activation": """
        math.softplus math.softsign nn.crelu nn.elu nn.leaky_relu nn.relu nn.relu6 nn.selu nn.softplus
        nn.softsign""",
    "ops.bias": """
        nn.bias_add nn.relu_layer nn.xw_plus_b""",
    "ops.sequences": """
        range linspace lin_space cumsum cumprod math.cumsum math.cumprod math.cumulative_logsumexp""",
    "ops.clip": """
        clip_by_value clip_by_norm clip_by_global_norm clip_by_average_norm global_norm nn.l2_loss""",
    "ops.special": """
        erf erfc lgamma digamma polygamma zeta betainc igamma igammac lbeta check_numerics math.erf math.erfc
        math.lgamma math.digamma math.polygamma math.zeta math.betainc math.igamma math.igammac math.lbeta math.xlogy
        math.xdivy math.bessel_i0 math.bessel_i1 math.bessel_i0e math.bessel_i1e math.nextafter
        debugging.check_numerics""",
    "ops.products": """
        tensordot cross trace norm linalg.tensordot linalg.cross linalg.trace linalg.norm math.polyval""",
    "ops.counts": """
        bincount histogram_fixed_width confusion_matrix math.bincount math.confusion_matrix
        histogram_fixed_width_bins""",
}

# names of TensorFlow that are not here: what to write instead
INSTEAD: dict[str, str] = {
    "enable_eager_execution": "jitgraph runs graphs: build one and run it with tf.Session()",
    "function": "jitgraph compiles every Session.run; call the Python function to build its nodes",
    "keras": "use tf.layers, or tf.nn with tf.get_variable",
    "GradientTape": "use tf.gradients(y, x)",
    "enable_v2_behavior": "jitgraph is TensorFlow 1's graph language; write tf.Session() and feed_dict",
}


@functools.cache
def table() -> dict[str, str]:
    """All public names: dotted name -> "module:attribute"."""
    found: dict[str, str] = {}
    for module, entries in TABLE.items():
        for entry in entries.split():
            name, _, attribute = entry.partition("=")
            found[name] = f"jitgraph.{module}:{attribute or name.rpartition('.')[2]}"
    return found


@functools.cache
def namespaces() -> dict[str, frozenset[str]]:
    """For each namespace ("" is the top, "nn", "contrib.util" ...) the names directly in it, namespaces included."""
    members: dict[str, set[str]] = {"": set()}
    for name in table():
        while name:
            outer, _, last = name.rpartition(".")
            members.setdefault(outer, set()).add(last)
            name = outer
    return {prefix: frozenset(names) for prefix, names in members.items()}


def resolve(name: str) -> Any:
    """The object behind a public name such as "add" or "nn.relu", or the namespace "nn".

    Raises AttributeError, in one sentence that says what to write instead, if there is none.
    """
    place = table().get(name)
    if place is None:
        if name in namespaces():
            return namespace(name)
        raise AttributeError(_not_there(name))
    module, _, attribute = place.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise AttributeError(f"tf.{name} is not there yet: it belongs into {module}.") from None
        raise


def _not_there(name: str) -> str:
    instead = INSTEAD.get(name)
    if instead:
        return f"tf.{name} is not part of jitgraph: {instead}."
    import difflib

    prefix, _, last = name.rpartition(".")
    near = difflib.get_close_matches(last, namespaces().get(prefix, ()), 1, 0.75)
    if near:
        found = f"{prefix}.{near[0]}" if prefix else near[0]
        return f"tf.{name} is not there: did you mean tf.{found}?"
    elsewhere = [public for public in table() if public.rpartition(".")[2] == last]
    if elsewhere:
        return f"tf.{name} is not there: did you mean tf.{elsewhere[0]}?"
    return f"tf.{name} is not there: see dir(tf{'.' + prefix if prefix in namespaces() and prefix else ''}) for what is."


class Namespace(ModuleType):
    """A module such as ``tf.nn``, made of the public names with that prefix, each resolved at its first use."""

    def __init__(self, prefix: str):
        super().__init__(f"jitgraph.{prefix}", f"The names tf.{prefix}.*.")
        self.__dict__["_prefix"] = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = resolve(f"{self.__dict__['_prefix']}.{name}")
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted(namespaces()[self.__dict__["_prefix"]] | {n for n in self.__dict__ if not n.startswith("_")})


@functools.cache
def namespace(prefix: str) -> ModuleType:
    """The module of a namespace: the package of that name if there is one, else a Namespace."""
    if importlib.util.find_spec("jitgraph") and _is_package(prefix):
        return importlib.import_module(f"jitgraph.{prefix}")
    return Namespace(prefix)


def _is_package(prefix: str) -> bool:
    try:
        spec = importlib.util.find_spec(f"jitgraph.{prefix}")
    except (ModuleNotFoundError, ValueError):
        return False
    return spec is not None and spec.origin is not None


def namespace_getattr(prefix: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package ``jitgraph/PREFIX/`` that is also a public namespace."""

    def getter(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return resolve(f"{prefix}.{name}")

    return getter
