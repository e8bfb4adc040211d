"""TensorFlow's protobuf messages as classes, and the wire's variable-length integers."""
