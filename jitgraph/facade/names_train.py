"""The public names of sessions for training: hooks, what they are called by, and clusters; the table is of the form that
``jitgraph.facade.names`` explains.
"""
from __future__ import annotations

TRAINING: dict[str, str] = {
    "train.hooks.run_hooks": "train.SessionRunHook train.SessionRunArgs train.SessionRunContext train.SessionRunValues",
    "train.hooks.timers": "train.SecondOrStepTimer",
    "train.hooks.checkpoints": "train.CheckpointSaverHook train.CheckpointSaverListener",
    "train.hooks.summaries": "train.SummarySaverHook train.StepCounterHook",
    "train.hooks.watching": "train.LoggingTensorHook train.NanTensorHook train.NanLossDuringTrainingError",
    "train.hooks.stopping": "train.StopAtStepHook train.GlobalStepWaiterHook",
    "train.hooks.feeding": "train.FinalOpsHook train.FeedFnHook",
    "train.hooks.profiling": "train.ProfilerHook",
    "train.sessions.scaffold": "train.Scaffold",
    "train.sessions.session_manager": "train.SessionManager",
    "train.sessions.creators": "train.SessionCreator train.ChiefSessionCreator train.WorkerSessionCreator",
    "train.sessions.monitored": """
        train.MonitoredSession train.SingularMonitoredSession train.MonitoredTrainingSession""",
    "train.sessions.supervisor": "train.Supervisor",
    "train.cluster.cluster_spec": "train.ClusterSpec",
    "train.cluster.server": "train.Server",
    "train.cluster.replica_devices": "train.replica_device_setter",
    "ops.dual_ascent.sdca_ops": "train.sdca_optimizer train.sdca_fprint train.sdca_shrink_l1",
    "train.loss_scaling": """
        train.experimental.LossScale train.experimental.FixedLossScale train.experimental.DynamicLossScale
        train.experimental.MixedPrecisionLossScaleOptimizer train.experimental.enable_mixed_precision_graph_rewrite
        train.experimental.disable_mixed_precision_graph_rewrite""",
    "train.object_graph": "train.experimental.PythonState",
    "train.object_checkpoint": "train.Checkpoint",
    "train.checkpoint_manager": "train.CheckpointManager",
    "train.sync_replicas": "train.SyncReplicasOptimizer",
    "train.vocabularies": "train.VocabInfo",
    "train.warm_starting": "train.warm_start",
    "train.sessions.basic_loops": "train.basic_train_loop",
}
