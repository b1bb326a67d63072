"""The pods of an object, found by the shape of a pod's specification.

Most kinds pass their template on as it is. Of those that do not, and of kinds that nobody knows,
it is not known what the pod has in the end.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from shmlint.formats.kubernetes.tree import List, Map, Tree
from shmlint.model.record import NamedTuple

Role = Literal["container", "init container"]


class Container(NamedTuple):
    """A container of a pod. ``name`` is used where it has none of its own."""

    body: Map
    role: Role = "container"
    name: str = ""


class Pod(NamedTuple):
    """A pod's specification. ``inherited`` are mappings that hold more volumes for it."""

    spec: Map
    parts: tuple[Container, ...]
    inherited: tuple[Map, ...] = ()
    provided: str = ""
    """What mounts a memory volume on the first container's /dev/shm where the template does not."""
    unknown: str = ""
    """Why nothing may be concluded from what the template does not say."""


_AS_IT_IS = frozenset(
    {
        "Pod", "PodTemplate", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job",
        "CronJob",
        "PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob", "Notebook",
        "RayCluster", "RayJob", "RayService",
        "JobSet", "LeaderWorkerSet", "Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow",
        "Service", "Configuration", "Task", "TaskRun", "ClusterTask",
    }
)  # fmt: skip
"""Kinds whose controllers pass a pod's volumes and mounts on, or add what ``provided`` says."""

_RAY = "KubeRay"


def find(root: Map, kinds: Collection[str] = ()) -> list[Pod]:
    """The pods of an object, in the order of the text. ``kinds`` are further ones that pass a pod on as it is."""
    kind, group = root.text("kind"), root.text("apiVersion").partition("/")[0]
    if kind in ("CustomResourceDefinition", "Kustomization", "Component"):
        return []
    found: list[Pod] = []
    annotated = False
    stack: list[tuple[Tree, str]] = [(root, "")]
    while stack:
        tree, key = stack.pop()
        if isinstance(tree, List):
            stack += ((item, key) for item in reversed(tree.items))
        elif isinstance(tree, Map):
            annotations = tree.map("metadata", "annotations")
            annotated = annotated or (annotations is not None and any(name in _SIZES for name in annotations.fields))
            pod = _own(tree, group, key, root)
            if pod is not None:
                found.append(pod._replace(unknown=pod.unknown or _unknown(kind, group, kinds)))
                if group == "argoproj.io":
                    continue  # the containers of a set are its template's
            stack += ((field.value, name) for name, field in reversed(tree.fields.items()) if name not in _NEVER)
    if annotated:
        because = "whether CRI-O allows the annotation that sets the size of /dev/shm is unknown"
        found = [pod._replace(unknown=pod.unknown or because) for pod in found]
    return found


_SIZES = ("io.kubernetes.cri-o.ShmSize", "shm-size.crio.io")
"""Annotations by which CRI-O sizes a pod's /dev/shm, where its configuration allows them."""

_NEVER = frozenset({"containers", "initContainers", "metadata", "status", "data", "stringData", "volumes"})


def _own(spec: Map, group: str, key: str, root: Map) -> Pod | None:
    """The pod that a mapping is the specification of."""
    if group == "argoproj.io":
        pod = _argo(spec, root)
        if pod is not None:
            return pod
    if group == "tekton.dev":
        return _steps(spec)
    if group == "serving.kserve.io" and key in ("predictor", "transformer", "explainer"):
        return _component(spec, key)
    if group == "trainer.kubeflow.org" and key == "trainer" and root.text("kind") == "TrainJob":
        return Pod(spec, (Container(spec, name="node"),), unknown="its training runtime holds the pod template")
    if group == "apps.nvidia.com" and key == "spec" and root.text("kind") == "NIMService":
        return Pod(spec, (Container(spec, name="nim"),), provided="the NIM operator")
    parts = _containers(spec)
    if not parts:
        return None
    ray = group == "ray.io" and parts[0].role == "container"
    return Pod(spec, parts, provided=_RAY if ray else "")


def _containers(spec: Map) -> tuple[Container, ...]:
    """The containers of a mapping that has the shape of a pod's specification."""
    main = [item for item in spec.maps("containers") if _is_container(item)]
    if not main:
        return ()
    first = [item for item in spec.maps("initContainers") if _is_container(item)]
    return (*(Container(item) for item in main), *(Container(item, _role(item)) for item in first))


def _is_container(item: Map) -> bool:
    return item.leaf("name") is not None or item.leaf("image") is not None


def _role(item: Map) -> Role:
    """An init container that is started again is a sidecar, and runs next to the others."""
    return "container" if item.text("restartPolicy") == "Always" else "init container"


def _argo(template: Map, root: Map) -> Pod | None:
    """A template of an Argo workflow that runs a pod."""
    main = template.map("container") or template.map("script")
    if main is not None and main.leaf("image") is not None:
        parts = [Container(main, name=template.text("name") or "main")]
    elif template.map("containerSet") is not None:
        parts = [Container(item) for item in template.maps("containerSet", "containers")]
    else:
        return None
    parts += (Container(item) for item in template.maps("sidecars"))
    parts += (Container(item, "init container") for item in template.maps("initContainers"))
    workflows = [found for path in _WORKFLOWS if (found := root.map(*path)) is not None]
    patched = any(found.get(name) is not None for found in (template, *workflows) for name in ("podSpecPatch",))
    defaults = any(found.get("templateDefaults") is not None for found in workflows)
    unknown = "a patch or defaults of the workflow change its pods" if patched or defaults else ""
    return Pod(template, tuple(parts), tuple(workflows), unknown=unknown)


_WORKFLOWS = (("spec",), ("spec", "workflowSpec"))


def _steps(spec: Map) -> Pod | None:
    """The pod of a Tekton task."""
    written = enumerate(spec.maps("steps"), 1)
    steps = [Container(item, name=f"step {number}") for number, item in written if item.leaf("image") is not None]
    if not steps:
        return None
    shared = "its steps share a template" if spec.get("stepTemplate") is not None else ""
    return Pod(spec, (*steps, *(Container(item) for item in spec.maps("sidecars"))), unknown=shared)


def _component(spec: Map, key: str) -> Pod | None:
    """A part of a KServe inference service: a pod's specification, with a container under the name of a framework."""
    parts = [*_containers(spec)]
    for name, field in spec.fields.items():
        body = field.value
        if isinstance(body, Map) and (name == "model" or body.get("storageUri") or body.get("runtimeVersion")):
            parts.append(Container(body, name=name))
    if not parts:
        return None
    own = key != "predictor" or all(part.name == "" for part in parts)
    return Pod(spec, tuple(parts), unknown="" if own else "its serving runtime may mount more")


def _unknown(kind: str, group: str, kinds: Collection[str]) -> str:
    """Why what a template does not say may be said elsewhere."""
    if kind in _AS_IT_IS or kind in kinds or (kind == "Job" and group == "batch.volcano.sh") or kind == "NIMService":
        return ""
    if kind in ("TrainingRuntime", "ClusterTrainingRuntime"):
        return "a TrainJob may add to it"
    if kind in ("ServingRuntime", "ClusterServingRuntime"):
        return "an InferenceService may add to it"
    if kind == "InferenceService":
        return ""
    return f"the controller of a {kind} may add settings to its pods (setting `pod-kinds`)"
