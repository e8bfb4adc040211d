"""Checkpoints of objects hold the variables of recurrent cells, by the names these were added by."""
import pytest

VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
CELLS = {
    "basic": (lambda c: c.BasicRNNCell(1), ["bias", "kernel"]),
    "gru": (lambda c: c.GRUCell(1), ["candidate.Sbias", "candidate.Skernel", "gates.Sbias", "gates.Skernel"]),
    "lstm": (lambda c: c.LSTMCell(1, use_peepholes=True, num_proj=1),
             ["bias", "kernel", "projection.Skernel", "w_f_diag", "w_i_diag", "w_o_diag"]),
    "dropout": (lambda c: c.DropoutWrapper(c.BasicRNNCell(1)), ["cell/bias", "cell/kernel"]),
    "residual": (lambda c: c.ResidualWrapper(c.BasicRNNCell(1)), ["cell/bias", "cell/kernel"]),
    "device": (lambda c: c.DeviceWrapper(c.BasicRNNCell(1), "/cpu:0"), ["cell/bias", "cell/kernel"]),
    "multi": (lambda c: c.MultiRNNCell([c.BasicRNNCell(1), c.DropoutWrapper(c.BasicLSTMCell(1))]),
              ["cell-0/bias", "cell-0/kernel", "cell-1/cell/bias", "cell-1/cell/kernel"]),
}


@pytest.mark.parametrize("name", CELLS)
def test_variables_of_cells_come_back(tf, tmp_path, name):
    make, keys = CELLS[name]
    cell = make(tf.nn.rnn_cell)
    cell(tf.ones([1, 1]), cell.zero_state(1, tf.float32))
    checkpoint = tf.train.Checkpoint(cell=cell)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([v.assign(tf.fill(v.shape, 40.0)) for v in cell.variables])
        path = checkpoint.save(str(tmp_path / "ckpt"), session=session)
        session.run([v.assign(tf.zeros(v.shape)) for v in cell.variables])
        checkpoint.restore(path).assert_consumed().run_restore_ops(session)
        assert all((value == 40).all() for value in session.run(list(cell.variables)))
    found = sorted(key for key, _ in tf.train.list_variables(path) if key.startswith("cell/"))
    assert found == [f"cell/{key}{VALUE}" for key in keys]
