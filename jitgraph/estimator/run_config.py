"""How an estimator runs: ``tf.estimator.RunConfig``, and the place of this program in a cluster by ``TF_CONFIG``."""
from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.compat import path_to_str
from jitgraph.estimator.arguments import argument_names
from jitgraph.estimator.cluster_place import ClusterPlace, TaskType, place_in_cluster
from jitgraph.protobuf.messages import ConfigProto

_DEFAULT: Any = object()
REPLACEABLE = ["model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
               "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
               "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
               "experimental_max_worker_delay_secs", "session_creation_timeout_secs"]
_BOTH = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."


def default_session_config() -> Any:
    """A ConfigProto with soft placement, as estimators give it to their sessions."""
    config = ConfigProto(allow_soft_placement=True)
    config.graph_options.rewrite_options.meta_optimizer_iterations = 1
    return config


def _session_config_of_task(task_type: str | None, task_id: int | None) -> Any:
    """That of a task in a cluster, which talks to no worker but itself; None for other tasks."""
    filters = {TaskType.MASTER: ["/job:ps", "/job:master"], TaskType.CHIEF: ["/job:ps", "/job:chief"],
               TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task_id}"],
               TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"]}.get(task_type or "")
    if filters is None:
        return None
    config = default_session_config()
    config.device_filters.extend(filters)
    return config


class RunConfig:
    """Where and how an estimator runs.  ``TF_CONFIG`` in the environment says which task of a cluster this program is.

    Args:
      model_dir: the folder of checkpoints and events.
      tf_random_seed: the seed of its graphs.
      save_summary_steps: how often summaries are written.
      save_checkpoints_steps, save_checkpoints_secs: how often checkpoints are written; by default every 600 seconds.
      session_config: the ConfigProto of its sessions.
      keep_checkpoint_max, keep_checkpoint_every_n_hours: which checkpoints stay, see ``tf.train.Saver``.
      log_step_count_steps: how often the steps a second and the loss are logged.
      device_fn: a function of an operation that gives its device.
      protocol: None or "grpc".
      experimental_max_worker_delay_secs: the longest time that a worker waits before it starts.
      session_creation_timeout_secs: how long a worker waits for its session.
      train_distribute, eval_distribute: strategies of ``tf.distribute`` in whose scope the model is built.
      experimental_distribute: not here: ValueError if it is given.
    Raises ValueError for values that do not suit.
    """

    def __init__(self, model_dir: Any = None, tf_random_seed: int | None = None, save_summary_steps: int | None = 100,
                 save_checkpoints_steps: int | None = _DEFAULT, save_checkpoints_secs: float | None = _DEFAULT,
                 session_config: Any = None, keep_checkpoint_max: int | None = 5,
                 keep_checkpoint_every_n_hours: float = 10000, log_step_count_steps: int | None = 100,
                 train_distribute: Any = None, device_fn: Callable | None = None, protocol: str | None = None,
                 eval_distribute: Any = None, experimental_distribute: Any = None,
                 experimental_max_worker_delay_secs: int | None = None, session_creation_timeout_secs: int = 7200):
        if save_checkpoints_steps is _DEFAULT and save_checkpoints_secs is _DEFAULT:
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is _DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(_BOTH)
        if experimental_distribute:
            raise ValueError("a session of jitgraph runs in one process: remove experimental_distribute")
        environment = json.loads(os.environ.get("TF_CONFIG", "{}"))
        if environment:
            logs.info("TF_CONFIG environment variable: %s", environment)
        model_dir = _model_dir(environment, path_to_str(model_dir))
        given = locals()
        self._set(**{name: given[name] for name in REPLACEABLE})
        self._take_place(place_in_cluster(environment))
        if not self._session_config and self._cluster_spec:
            self._set(session_config=_session_config_of_task(self._task_type, self._task_id))

    _session_config: Any
    _cluster_spec: Any
    _task_type: str | None
    _task_id: int | None

    def _take_place(self, place: ClusterPlace) -> None:
        for name, value in place._asdict().items():
            setattr(self, "_" + name, value)

    def _set(self, **values: Any) -> RunConfig:
        for name, value in values.items():
            if name not in REPLACEABLE:
                raise ValueError(f"Replacing {name} is not supported. Allowed properties are {REPLACEABLE}.")
            setattr(self, "_" + name, value)
        steps, secs = values.get("save_checkpoints_steps"), values.get("save_checkpoints_secs")
        if steps is not None and secs is not None:
            raise ValueError(_BOTH)
        if "save_checkpoints_secs" not in values and steps is not None:
            self._save_checkpoints_secs = None
        if "save_checkpoints_steps" not in values and secs is not None:
            self._save_checkpoints_steps = None
        for name, (holds, message) in _CHECKS.items():
            value = getattr(self, "_" + name)
            if value is not None and not holds(value):
                raise ValueError(message)
        return self

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values for these arguments of the constructor.  Raises ValueError for others."""
        return copy.deepcopy(self)._set(**kwargs)

    def __getattr__(self, name: str) -> Any:
        # cluster_spec, device_fn, is_chief ...: what the constructor and TF_CONFIG set, for reading only
        if name.startswith("_") or "_" + name not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__["_" + name]

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and "_" + name in self.__dict__:
            raise AttributeError(f"can't set attribute {name!r}: write config.replace({name}=...)")
        object.__setattr__(self, name, value)


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model_dir": (lambda folder: bool(folder), "model_dir should be non-empty"),
    "save_summary_steps": (lambda n: n >= 0, "save_summary_steps should be >= 0"),
    "save_checkpoints_steps": (lambda n: n >= 0, "save_checkpoints_steps should be >= 0"),
    "save_checkpoints_secs": (lambda n: n >= 0, "save_checkpoints_secs should be >= 0"),
    "session_config": (lambda config: isinstance(config, ConfigProto), "session_config must be instance of ConfigProto"),
    "keep_checkpoint_max": (lambda n: n >= 0, "keep_checkpoint_max should be >= 0"),
    "keep_checkpoint_every_n_hours": (lambda n: n > 0, "keep_checkpoint_every_n_hours should be > 0"),
    "log_step_count_steps": (lambda n: n > 0, "log_step_count_steps should be > 0"),
    "tf_random_seed": (lambda seed: isinstance(seed, int), "tf_random_seed must be integer."),
    "experimental_max_worker_delay_secs": (lambda n: isinstance(n, int),
                                           "experimental_max_worker_delay_secs must be an integer if set."),
    "session_creation_timeout_secs": (lambda n: n > 0, "session_creation_timeout_secs should be > 0"),
    "device_fn": (lambda f: callable(f) and set(argument_names(f)) == {"op"},
                  'device_fn must be callable with exactly one argument "op".'),
    "protocol": (lambda name: name in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
}


def _model_dir(environment: dict[str, Any], given: str | None) -> str | None:
    """The folder that was given, or that ``TF_CONFIG`` names.  Raises ValueError if either is empty, or if they differ."""
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    there = environment.get("model_dir")
    if there == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if there:
        if given and there != given:
            raise ValueError("`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in "
                             f'TF_CONFIG. model_dir: {given}\nTF_CONFIG["model_dir"]: {there}.\n')
        logs.info("Using model_dir in TF_CONFIG: %s", there)
    return given or there
