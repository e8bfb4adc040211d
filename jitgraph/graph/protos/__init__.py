"""The graph as messages: attributes, tensors, nodes, functions and whole graphs, to and from GraphDefs."""
