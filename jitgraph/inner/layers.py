"""The other names that ``tensorflow.python.layers``' modules give their layers."""
from __future__ import annotations

from jitgraph.layers.convolutional import Conv1D, Conv2D, Conv3D, conv1d, conv2d, conv3d
from jitgraph.layers.core import Dense
from jitgraph.layers.normalization import BatchNormalization
from jitgraph.layers.separable import SeparableConv2D, separable_conv2d
from jitgraph.layers.transposed import Conv2DTranspose, Conv3DTranspose, conv2d_transpose, conv3d_transpose

Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
SeparableConvolution2D = SeparableConv2D
Convolution2DTranspose = Deconvolution2D = Deconv2D = Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Deconv3D = Conv3DTranspose
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
separable_convolution2d = separable_conv2d
convolution2d_transpose = deconvolution2d = deconv2d = conv2d_transpose
convolution3d_transpose = deconvolution3d = deconv3d = conv3d_transpose
FullyConnected = Dense
BatchNorm = BatchNormalization
