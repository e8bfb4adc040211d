"""Decision trees and what is made of several, as messages: ``tensorflow.contrib.decision_trees.proto.generic_tree_model_pb2``."""
from __future__ import annotations

from jitgraph.protobuf.messages import decision_trees  # type: ignore[attr-defined]

Model = decision_trees.Model
ModelAndFeatures = decision_trees.ModelAndFeatures
Ensemble = decision_trees.Ensemble
Summation = decision_trees.Summation
Averaging = decision_trees.Averaging
DecisionTree = decision_trees.DecisionTree
TreeNode = decision_trees.TreeNode
BinaryNode = decision_trees.BinaryNode
SparseVector = decision_trees.SparseVector
Vector = decision_trees.Vector
Leaf = decision_trees.Leaf
FeatureId = decision_trees.FeatureId
ObliqueFeatures = decision_trees.ObliqueFeatures
InequalityTest = decision_trees.InequalityTest
Value = decision_trees.Value
