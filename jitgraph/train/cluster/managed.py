"""Resolvers that ask who runs the cluster: Slurm, Kubernetes, Compute Engine."""
from __future__ import annotations

import importlib
import os
import subprocess
from typing import Any

from jitgraph.train.cluster.cluster_spec import ClusterSpec
from jitgraph.train.cluster.resolvers import ClusterResolver, format_master_url


class _OfTasks(ClusterResolver):
    """What all three say of an address: that of a task, "" if none is known."""

    task_type: Any
    task_id: Any
    rpc_layer: Any

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of a task, by default of this one."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)


class SlurmClusterResolver(_OfTasks):
    """The tasks of a Slurm step, from its environment and from `scontrol show hostname`.

    `jobs`: {job: number of tasks}; `port_base`: the port of a host's first task; with `auto_set_gpu`, ``cluster_spec`` says in
    CUDA_VISIBLE_DEVICES which GPUs of the host are this task's.  Raises KeyError outside of Slurm, RuntimeError if the numbers
    of tasks or GPUs do not fit.
    """

    def __init__(self, jobs: dict[str, int], port_base: int = 8888, gpus_per_node: int = 1, gpus_per_task: int = 1,
                 tasks_per_node: int | None = None, auto_set_gpu: bool = True, rpc_layer: str = "grpc"):
        by = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
        rank, count = by if by[0] in os.environ else ("SLURM_PROCID", "SLURM_NTASKS")
        self._rank, tasks = int(os.environ[rank]), int(os.environ[count])
        self._jobs = dict(sorted(jobs.items()))
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError("Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set.")
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        self._port_base, self._tasks_per_node, self._auto_set_gpu = port_base, tasks_per_node, auto_set_gpu
        self._gpus_per_node, self._gpus_per_task = gpus_per_node, gpus_per_task
        self.task_type, self.task_id, self.rpc_layer = None, None, rpc_layer
        if tasks_per_node * gpus_per_task > gpus_per_node:
            raise RuntimeError("Requested more GPUs per node then available.")
        if sum(self._jobs.values()) != tasks:
            raise RuntimeError("Requested more tasks then assigned tasks.")

    def _resolve_hostnames(self) -> list[str]:
        return subprocess.check_output(["scontrol", "show", "hostname"]).decode("utf-8").strip().split("\n")

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; from now on the task's own job and number are known."""
        addresses, gpus = [], []
        for host in self._resolve_hostnames():
            for place, first in zip(range(self._tasks_per_node), range(0, self._gpus_per_node, self._gpus_per_task)):
                addresses.append(f"{host}:{self._port_base + place}")
                gpus.append(",".join(map(str, range(first, first + self._gpus_per_task))))
        cluster, begin = {}, 0
        for job, count in self._jobs.items():
            cluster[job] = addresses[begin:begin + count]
            if begin <= self._rank < begin + count:
                self.task_type, self.task_id = job, self._rank - begin
            begin += count
        if self._auto_set_gpu is True:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[self._rank]
        return ClusterSpec(cluster)

    def get_task_info(self) -> tuple:
        """(job, number) of this task, after ``cluster_spec``."""
        return self.task_type, self.task_id

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None,
                         config_proto: Any = None) -> dict[str, int]:
        """The GPUs of a host."""
        return {"GPU": self._gpus_per_node}


class KubernetesClusterResolver(_OfTasks):
    """The running pods whose labels `job_to_label_mapping` {job: [selector]} names, all at `tf_server_port`.

    `override_client`: what answers ``list_pod_for_all_namespaces``, that of the package kubernetes without.  Raises ImportError
    without both; ``cluster_spec`` raises RuntimeError for a pod that does not run.
    """

    def __init__(self, job_to_label_mapping: dict[str, list[str]] | None = None, tf_server_port: int = 8470,
                 rpc_layer: str | None = "grpc", override_client: Any = None):
        self._package = _imported("kubernetes")
        if self._package is not None:
            self._package.config.load_kube_config()
        elif not override_client:
            raise ImportError("The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver. To "
                              "install the Kubernetes Python client, run `pip install kubernetes` on your command line.")
        self._job_to_label_mapping = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._tf_server_port, self._override_client = tf_server_port, override_client
        self.task_type, self.task_id, self.rpc_layer = None, None, rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The addresses of the pods, those of a selector ordered by name."""
        client = self._override_client
        if not client:
            self._package.config.load_kube_config()
            client = self._package.client.CoreV1Api()
        cluster: dict[str, list[str]] = {}
        for job, selectors in self._job_to_label_mapping.items():
            cluster[job] = []
            for selector in selectors:
                pods = client.list_pod_for_all_namespaces(label_selector=selector).items
                for pod in sorted(pods, key=lambda pod: pod.metadata.name):
                    if pod.status.phase != "Running":
                        raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
                    cluster[job].append(f"{pod.status.host_ip}:{self._tf_server_port}")
        return ClusterSpec(cluster)


class GCEClusterResolver(_OfTasks):
    """The running machines of an instance group of Compute Engine, all at `port`.

    `service`: what answers ``instanceGroups`` and ``instances``, made by the package googleapiclient without; ImportError is
    raised without both.  The job cannot be changed later: RuntimeError.
    """

    def __init__(self, project: str, zone: str, instance_group: str, port: int, task_type: str = "worker", task_id: int = 0,
                 rpc_layer: str | None = "grpc", credentials: Any = "default", service: Any = None):
        self._project, self._zone, self._instance_group, self._port = project, zone, instance_group, port
        self._task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        if service is None:
            discovery, oauth = _imported("googleapiclient.discovery"), _imported("oauth2client.client")
            if discovery is None or oauth is None:
                raise ImportError("googleapiclient must be installed before using the GCE cluster resolver")
            if credentials == "default":
                credentials = oauth.GoogleCredentials.get_application_default()
            service = discovery.build("compute", "v1", credentials=credentials)
        self._service = service

    @property
    def task_type(self) -> str:
        """The job of all its machines."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        raise RuntimeError("You cannot reset the task_type of the GCEClusterResolver after it has been created.")

    def cluster_spec(self) -> ClusterSpec:
        """The addresses of the machines, in order."""
        groups, found = self._service.instanceGroups(), []
        request = groups.listInstances(project=self._project, zone=self._zone, instanceGroups=self._instance_group,
                                       body={"instanceState": "RUNNING"}, orderBy="name")
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                machine = self._service.instances().get(project=self._project, zone=self._zone,
                                                        instance=item["instance"].split("/")[-1])
                if machine is not None:
                    found.append(f"{machine.execute()['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = self._service.instanceGroups().listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self._task_type: sorted(found)})


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
