"""Normal distributions of vectors."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.distributions.affine import AffineLinearOperator
from jitgraph.contrib.distributions.of_operator import OfOperator
from jitgraph.contrib.distributions.scales import is_diagonal_scale, make_diag_scale
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.divergence import RegisterKL
from jitgraph.distributions.location_scale import Normal
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.identity import LinearOperatorIdentity
from jitgraph.linear_operators.low_rank import LinearOperatorLowRankUpdate
from jitgraph.linear_operators.matrices import LinearOperatorLowerTriangular
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.layout import broadcast_static_shape
from jitgraph.ops.arrays.matrix_parts import matrix_transpose
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_values import assert_near
from jitgraph.ops.elementwise.activation import softplus
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.linalg.matrix_ops import cholesky
from jitgraph.ops.reduce.reductions import reduce_sum


class MultivariateNormalLinearOperator(OfOperator):
    """The distribution of ``scale z + loc``, z being standard normal and `scale` a linear operator."""

    def __init__(self, loc: Any = None, scale: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalLinearOperator"):
        """Raises ValueError without a scale, TypeError if it is not made of floats."""
        parameters = dict(locals())
        name, loc, shapes = self._take(loc, scale, name)
        standard = Normal(loc=zeros([], dtype=scale.dtype), scale=ones([], dtype=scale.dtype))
        super().__init__(distribution=standard, bijector=AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
                         validate_args=validate_args, name=name, **shapes)
        self._parameters = parameters

    def _mean(self) -> Any:
        return self._middle()

    def _mode(self) -> Any:
        return self._mean()


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """A normal distribution of independent numbers: the mean `loc` [..., K], standard deviations `scale_diag` [..., K] plus
    `scale_identity_multiplier` [...]; 1 if both are None.
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalDiag"):
        """Raises ValueError if nothing says the size of an event."""
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
                scale = make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier)
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag of ``softplus(scale_diag)``."""

    def __init__(self, loc: Any, scale_diag: Any, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalDiagWithSoftplusScale"):
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(loc=loc, scale_diag=softplus(scale_diag), validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution of the mean `loc` [..., K] and the covariance S S^T, S = diag(`scale_diag`) + m I + V diag(d) V^T:
    `scale_identity_multiplier` m [...], `scale_perturb_factor` V [..., K, R], `scale_perturb_diag` d [..., R], 1 if it is None.
    """

    def __init__(self, loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                 scale_perturb_factor: Any = None, scale_perturb_diag: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "MultivariateNormalDiagPlusLowRank"):
        """Raises ValueError if nothing says the size of an event."""
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]):
                is_perturbed = scale_perturb_factor is not None or scale_perturb_diag is not None
                scale: Any = make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=scale_identity_multiplier,
                                             validate_args=validate_args, assert_positive=is_perturbed)
                factor, diag = (None if value is None else convert_to_tensor(value, name=its_name) for value, its_name in (
                    (scale_perturb_factor, "scale_perturb_factor"), (scale_perturb_diag, "scale_perturb_diag")))
                if is_perturbed:
                    scale = LinearOperatorLowRankUpdate(scale, u=factor, diag_update=diag, is_diag_update_positive=diag is None,
                                                        is_non_singular=True, is_self_adjoint=True, is_positive_definite=True,
                                                        is_square=True)
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution of the mean `loc` [..., K] and the covariance ``L L^T`` of `scale_tril` L [..., K, K]."""

    def __init__(self, loc: Any = None, scale_tril: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalTriL"):
        """Raises ValueError if both are None."""
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name:
            with name_scope("init", values=[loc, scale_tril]):
                loc = None if loc is None else convert_to_tensor(loc, name="loc")
                scale_tril = None if scale_tril is None else convert_to_tensor(scale_tril, name="scale_tril")
                scale: Any
                if scale_tril is None:
                    known = dimension_value(loc.shape.with_rank_at_least(1)[-1])
                    scale = LinearOperatorIdentity(num_rows=shape_of(loc)[-1] if known is None else known, dtype=loc.dtype,
                                                   is_self_adjoint=True, is_positive_definite=True,
                                                   assert_proper_shapes=validate_args)
                else:
                    scale = LinearOperatorLowerTriangular(scale_tril, is_non_singular=True, is_self_adjoint=False,
                                                          is_positive_definite=False)
        super().__init__(loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of the mean `loc` [..., K] and the `covariance_matrix` [..., K, K]."""

    def __init__(self, loc: Any = None, covariance_matrix: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "MultivariateNormalFullCovariance"):
        """Raises ValueError if both are None."""
        parameters = dict(locals())
        with name_scope(name) as name:
            with name_scope("init", values=[loc, covariance_matrix]):
                scale_tril = None
                if covariance_matrix is not None:
                    matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                    if validate_args:
                        check = assert_near(matrix, matrix_transpose(matrix), message="Matrix was not symmetric")
                        matrix = with_dependencies([check], matrix)
                    scale_tril = cholesky(matrix)
                super().__init__(loc=loc, scale_tril=scale_tril, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                                 name=name)
        self._parameters = parameters


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _between_normals(a: Any, b: Any, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_mvn", values=[a.loc, b.loc, *a.scale.graph_parents, *b.scale.graph_parents]):
        if is_diagonal_scale(a.scale) and is_diagonal_scale(b.scale):
            ratio = (a.stddev() / b.stddev())[..., newaxis]
        else:
            ratio = b.scale.solve(a.scale.to_dense())
        divergence = (b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
                      + 0.5 * (-cast(a.scale.domain_dimension_tensor(), a.dtype) + _summed_squares(ratio)
                               + _summed_squares(b.scale.solve((b.mean() - a.mean())[..., newaxis]))))
        divergence.set_shape(broadcast_static_shape(a.batch_shape, b.batch_shape))
        return divergence


def _summed_squares(x: Tensor) -> Tensor:
    return reduce_sum(square(x), axis=[-2, -1])
