"""Writes ops_tf115.tsv, the ops that TensorFlow 1.15 registers: run it with a Python that has TensorFlow 1.15.

    python tests/ops/data/write_ops.py > tests/ops/data/ops_tf115.tsv

A row is an op type, its signature in the grammar of ``jitgraph.graph.signature``, "stateful" or nothing, its gradient ("yes",
"not differentiable", or nothing where asking for it is an error), the dtypes that its type attributes may have, and those
for which a CPU kernel is registered ("none" where there is no CPU kernel at all).
"""
import collections
import json
import sys

SHORT = {"half": "float16", "float": "float32", "double": "float64"}


def dtype_name(enum, dtypes):
    if enum > 100:                     # allowed types are never references; some kernels say so all the same
        enum -= 100
    name = dtypes.as_dtype(enum).name
    return SHORT.get(name, name)


def argument(arg):
    kind = arg.type_attr or arg.type_list_attr
    if not kind:
        from tensorflow.python.framework import dtypes

        kind = dtype_name(arg.type, dtypes)
    kind = "[%s]" % kind if arg.type_list_attr else kind  # noqa: UP031
    kind = "%s*%s" % (arg.number_attr, kind) if arg.number_attr else kind  # noqa: UP031
    return "%s: %s%s" % (arg.name, "&" if arg.is_ref else "", kind)  # noqa: UP031


def value_text(value):
    from tensorflow.python.framework import dtypes

    which = value.WhichOneof("value")
    if which == "list":
        parts = value.list
        for field in ("s", "i", "f", "b", "type", "shape"):
            found = list(getattr(parts, field))
            if found:
                return "[%s]" % ", ".join(scalar_text(field, one, dtypes) for one in found)  # noqa: UP031
        return "[]"
    return scalar_text(which, getattr(value, which), dtypes)


def scalar_text(which, value, dtypes):
    if which == "type":
        return dtype_name(value, dtypes)
    if which == "s":
        return json.dumps(value.decode("latin-1"))
    if which == "f":
        return "%.8g" % value  # noqa: UP031
    if which == "shape":
        return "None" if value.unknown_rank else "[%s]" % ", ".join(str(d.size) for d in value.dim)  # noqa: UP031
    if which == "tensor":
        from tensorflow.python.framework import tensor_util

        array = tensor_util.MakeNdarray(value)
        return array.dtype.name + str(array.tolist())
    return str(value)


def attribute(attr):
    text = "%s: %s" % (attr.name, attr.type)  # noqa: UP031
    if attr.has_minimum:
        text += " >= %d" % attr.minimum  # noqa: UP031
    if attr.allowed_values.list.s:
        text += " {%s}" % ", ".join(json.dumps(one.decode()) for one in attr.allowed_values.list.s)  # noqa: UP031
    if attr.HasField("default_value"):
        text += " = " + value_text(attr.default_value)
    return text


def signature(op):
    attrs = "; " + ", ".join(attribute(attr) for attr in op.attr) if op.attr else ""
    outputs = " -> " + ", ".join(argument(arg) for arg in op.output_arg) if op.output_arg else ""
    return "%s(%s%s)%s" % (op.name, ", ".join(argument(arg) for arg in op.input_arg), attrs, outputs)  # noqa: UP031


def sets_text(sets, dtypes):
    return "; ".join("%s: %s" % (name, " ".join(sorted({dtype_name(t, dtypes) for t in types})))  # noqa: UP031
                     for name, types in sets.items())


def main():
    import tensorflow as tf
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python import pywrap_tensorflow
    from tensorflow.python.framework import dtypes, kernels, ops

    registered = op_def_pb2.OpList()
    registered.ParseFromString(pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList()))
    constraints, on_cpu = collections.defaultdict(dict), set()
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type != "CPU" or kernel.label:
            continue
        on_cpu.add(kernel.op)
        for constraint in kernel.constraint:
            constraints[kernel.op].setdefault(constraint.name, set()).update(constraint.allowed_values.list.type)
    gradients = ops._gradient_registry._registry
    print("# ops of TensorFlow %s" % tf.__version__)  # noqa: UP031
    print("type\tsignature\tstateful\tgradient\tallowed\tkernels")
    for op in sorted(registered.op, key=lambda op: op.name):
        if op.name.startswith("_") or op.name == "DefaultAttrs":        # of the runtime, and of a test
            continue
        gradient = ""
        if op.name in gradients:
            gradient = "yes" if gradients[op.name]["type"] is not None else "not differentiable"
        allowed = collections.OrderedDict((attr.name, attr.allowed_values.list.type) for attr in op.attr
                                          if attr.allowed_values.list.type)
        found = collections.OrderedDict(sorted(constraints[op.name].items()))
        print("\t".join([op.name, signature(op), "stateful" if op.is_stateful else "", gradient,
                         sets_text(allowed, dtypes), sets_text(found, dtypes) if op.name in on_cpu else "none"]))


if __name__ == "__main__":
    sys.exit(main())
