"""The workloads of `jitgraph bench`, and how they are measured here and on installed peers.

Each measurement is made in a process of its own by the interpreter that has the peer. There this folder is loaded as a
package by itself (see worker.py), because a peer's interpreter need not have jitgraph: nothing that a worker loads may
import from `jitgraph` at its top. Which files a worker loads: this one, measure.py, workload.py and workloads/.
"""
