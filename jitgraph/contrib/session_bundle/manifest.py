"""``tf.contrib.session_bundle.manifest_pb2``: what an export says of its inputs, its outputs and its files."""
from __future__ import annotations

from jitgraph.protobuf.messages import serving  # type: ignore[attr-defined]

Signatures = serving.Signatures
Signature = serving.Signature
RegressionSignature = serving.RegressionSignature
ClassificationSignature = serving.ClassificationSignature
GenericSignature = serving.GenericSignature
TensorBinding = serving.TensorBinding
AssetFile = serving.AssetFile
