"""Names of ``tensorflow.python.training.monitored_session`` that ``tf.train`` does not have."""
from __future__ import annotations

from jitgraph.train.sessions import wrapped

_WrappedSession = wrapped.WrappedSession
_HookedSession = wrapped.HookedSession
_CoordinatedSession = wrapped.CoordinatedSession
_RecoverableSession = wrapped.RecoverableSession
