"""Models of linear and hidden layers: what their constructors refuse."""
import pytest


@pytest.mark.parametrize("make", [
    lambda learn: learn.DNNLinearCombinedClassifier(dnn_hidden_units=[3]),
    lambda learn: learn.DNNLinearCombinedClassifier(linear_feature_columns=[], dnn_feature_columns=[], dnn_hidden_units=[3]),
    lambda learn: learn.DNNLinearCombinedRegressor(dnn_hidden_units=[3]),
    lambda learn: learn.DNNLinearCombinedEstimator(learn.multi_class_head(2), dnn_hidden_units=[3])])
def test_a_model_without_columns(tf, make):
    with pytest.raises(ValueError, match="Either linear_feature_columns or dnn_feature_columns must be defined"):
        make(tf.contrib.learn)
