"""Messages of trees are written and read as TensorFlow's are."""
import importlib

# what TensorFlow 1.15.5 writes for the tree of `grown`
WRITTEN = bytes.fromhex(
    "12580a00a206530a4d0a4b0a220a00221e0a02080112020802180122120a070a050a0361676510031a050d000020400a130a"
    "0208012a0d0a0b0a0911000000000000d03f0a100a0208022a0a12080a0608071202180312020805")


def grown(m):
    """Two leaves below a comparison, in an ensemble of one."""
    tree = m.DecisionTree()
    root, left, right = tree.nodes.add(), tree.nodes.add(), tree.nodes.add()
    root.node_id.value, left.node_id.value, right.node_id.value = 0, 1, 2
    root.binary_node.left_child_id.value, root.binary_node.right_child_id.value = 1, 2
    root.binary_node.default_direction = m.BinaryNode.RIGHT
    test = root.binary_node.inequality_left_child_test
    test.feature_id.id.value, test.type, test.threshold.float_value = "age", m.InequalityTest.GREATER_THAN, 2.5
    left.leaf.vector.value.add().double_value = 0.25
    right.leaf.sparse_vector.sparse_value[7].int32_value = 3
    model = m.Model()
    member = model.ensemble.members.add()
    member.submodel.decision_tree.CopyFrom(tree)
    member.submodel_id.value = 5
    model.ensemble.summation_combination_technique.SetInParent()
    return model


def test_an_ensemble_is_written_as_tensorflow_writes_it(tf):
    importlib.import_module("jitgraph.compat").install()
    from tensorflow.contrib.decision_trees.proto import generic_tree_model_pb2 as m

    model = grown(m)
    assert model.SerializeToString(deterministic=True) == WRITTEN
    read = m.Model.FromString(WRITTEN)
    assert read.WhichOneof("model") == "ensemble" and read == model
    assert read.ensemble.members[0].submodel.decision_tree.nodes[0].binary_node.default_direction == m.BinaryNode.RIGHT
    assert m.InequalityTest.DESCRIPTOR.full_name == "tensorflow.decision_trees.InequalityTest"
    assert m.ModelAndFeatures is tf.contrib.decision_trees.proto.generic_tree_model_pb2.ModelAndFeatures
    assert {one.name for one in m.ModelAndFeatures.DESCRIPTOR.fields} == {"features", "model", "additional_data"}
