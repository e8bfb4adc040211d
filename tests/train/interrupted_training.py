"""A training for another process, which is killed: ``python interrupted_training.py FOLDER``."""
import os
import signal
import sys

import numpy as np

import jitgraph as tf


def main(folder):
    values = tf.get_variable("values", initializer=np.zeros(200_000, np.float32))
    step = tf.train.get_or_create_global_step()
    train = tf.group(tf.assign_add(values, tf.ones_like(values)), tf.assign_add(step, 1))

    class Killed(tf.train.CheckpointSaverListener):
        """Dies while the data of the second checkpoint is written, before its index and the state file are."""

        def before_save(self, session, global_step_value):
            if global_step_value == 4:
                from jitgraph.formats.bundle_writer import BundleWriter

                BundleWriter.__exit__ = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
    hook = tf.train.CheckpointSaverHook(folder, save_steps=2, listeners=[Killed()], saver=tf.train.Saver())
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_secs=None, save_summaries_steps=None,
                                           log_step_count_steps=None, hooks=[hook]) as session:
        while not session.should_stop():
            session.run(train)
            print(int(session.run(step)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
