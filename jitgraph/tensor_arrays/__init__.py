"""TensorArrays and lists of tensors: the public class, the ops, and what stands behind them at run time."""
