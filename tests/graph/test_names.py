"""Unique names and name scopes."""
import pytest

from jitgraph.graph.names import NameTable


def test_names_are_unique_without_regard_to_case():
    table = NameTable()
    assert [table.unique(n) for n in ("a", "A", "a", "a_1", "b")] == ["a", "A_1", "a_2", "a_1_1", "b"]


def test_asking_without_marking_reserves_nothing():
    table = NameTable()
    table.unique("a")
    assert table.unique("a", mark_as_used=False) == table.unique("a") == "a_1"


def test_scopes():
    table = NameTable()
    assert table.enter("s") == "s" and table.unique("x") == "s/x"
    assert table.enter("t") == "s/t" and table.unique("x") == "s/t/x"
    assert table.enter("s/") == "s" and table.unique("x") == "s/x_1"
    assert table.enter("") == "" and table.enter("s") == "s_1"


def test_imported_names_are_taken_but_their_scopes_are_free():
    table = NameTable()
    table.reserve("Net/layer/w")
    assert table.unique("net/layer/w") == "net/layer/w_1" and table.enter("net") == "net"


@pytest.mark.parametrize("name", ["has space", "_top", "a:0", "ü", "a>b", "a\\b"])
def test_names_that_are_not_valid(tf, name):
    with pytest.raises(ValueError, match="is not a valid"):
        tf.constant(1, name=name)


def test_a_component_may_begin_with_an_underscore(tf):
    with tf.name_scope("a"):
        assert tf.constant(1, name="_b").name == "a/_b:0"


def test_name_scope_takes_the_graph_of_its_values(tf):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0)
    with tf.name_scope(None, "outside", [x]) as scope:
        assert scope == "outside/" and tf.get_default_graph() is graph
        tf.constant(2.0)
    assert tf.get_default_graph() is not graph
    with pytest.raises(ValueError, match="At least one of name"):
        tf.name_scope(None, None, [x]).__enter__()


def test_a_scope_is_left_after_an_error(tf):
    with pytest.raises(RuntimeError, match="in the block"), tf.name_scope("a"):
        raise RuntimeError("in the block")
    assert tf.constant(1, name="k").name == "k:0"


def test_a_product_with_a_sparse_matrix_stands_in_its_scope(tf):
    sparse, dense = tf.SparseTensor([[0, 1]], [1.0], [2, 3]), tf.ones([3, 2])
    assert tf.sparse_tensor_dense_matmul(sparse, dense).name == "SparseTensorDenseMatMul/SparseTensorDenseMatMul:0"
    assert tf.sparse.matmul(sparse, dense, name="product").name == "product/SparseTensorDenseMatMul:0"


def test_names_may_be_bytes(tf):
    with tf.name_scope(b"a"):
        assert tf.constant(1, name=b"e").name == "a/e:0"
    assert tf.get_variable(b"v", []).name == "v:0"
