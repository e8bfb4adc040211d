"""TensorFlow's files and messages: GraphDef, tensors, and what is built of them."""
