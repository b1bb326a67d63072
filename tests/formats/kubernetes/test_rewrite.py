"""The volume and its mount: one change, valid against the API's schemas, and nothing else of the object changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

from shmlint.fixing.fix import fix, remaining
from tests.formats.kubernetes.manifests import MEMORY, ON_SHM, container, indented, pod, pod_spec, under
from tests.project import findings, fixed, run
from tests.table import table

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm
  labels: {app: vllm}   # kept
spec:
  replicas: 1
  selector:
    matchLabels: {app: vllm}
  template:
    metadata:
      labels: {app: vllm}
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.6.3
          args: ["--model", "meta-llama/Llama-3.1-8B-Instruct", "--tensor-parallel-size", "2"]
          resources:
            limits:
              nvidia.com/gpu: "2"   # both
"""

VOLUME = {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}
MOUNT = {"name": "dshm", "mountPath": "/dev/shm"}


def repaired(tmp_path: Path, text: str) -> str:
    """A manifest after fixing; a second run has nothing to report."""
    after = fixed(tmp_path, {"a.yaml": text}).get("a.yaml", text)
    assert [f.rule for f in findings(tmp_path, {"a.yaml": after}) if f.severity != "note"] == []
    return after


def without_shm(value: Any) -> Any:
    """An object without the volume that was added and what mounts it."""
    if isinstance(value, list):
        return [without_shm(item) for item in value if item not in (VOLUME, MOUNT)]
    if not isinstance(value, dict):
        return value
    found = {key: without_shm(inner) for key, inner in value.items()}
    return {key: inner for key, inner in found.items() if inner or key not in ("volumes", "volumeMounts")}


def test_a_plain_deployment(tmp_path: Path) -> None:
    assert [(f.rule, f.severity) for f in findings(tmp_path, {"a.yaml": DEPLOYMENT})] == [("SHM101", "error")]
    after = repaired(tmp_path, DEPLOYMENT)
    assert after == DEPLOYMENT + (
        "          volumeMounts:\n            - name: dshm\n              mountPath: /dev/shm\n"
        "      volumes:\n        - name: dshm\n          emptyDir:\n            medium: Memory\n"
        "            sizeLimit: 8Gi\n"
    )
    kubernetes_validate.validate(yaml.safe_load(DEPLOYMENT), "1.33", strict=True)
    kubernetes_validate.validate(yaml.safe_load(after), "1.33", strict=True)


ON_CACHE = "volumeMounts: [{name: cache, mountPath: /cache}]"
FLOW = "{name: a, image: 'vllm/vllm-openai', args: [-tp, '2'], resources: {limits: {nvidia.com/gpu: 2}}}"
BLOCKS = "volumeMounts:\n    - name: cache\n      mountPath: /cache  # where models lie\n\n"
STYLES = [
    pod(),
    pod().rstrip("\n"),
    pod().replace("\n", "\r\n"),
    "# first\n---\n" + pod(),
    pod(container(ON_CACHE), volumes=("emptyDir: {}",)).replace("dshm", "cache"),
    pod(container(BLOCKS), volumes=("emptyDir: {}",)).replace("dshm", "cache"),
    pod(container("volumeMounts:"), more=("volumes:",)),
    pod(container("volumeMounts: []"), more=("volumes: []",)),
    pod(more=("restartPolicy: Never",)) + "  # the end\n",
    pod(container(), container(name="b", gpus=0)),
    pod(container(), container(name="b")),
    pod(container(name="b", gpus=0), container()),
    pod(f"- {FLOW}\n"),
    f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{FLOW}]}}\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n    containers:\n    -   name: a\n"
    "        image: vllm/vllm-openai\n        args: [-tp, '2']\n        resources:\n            limits:\n"
    "                nvidia.com/gpu: 2\n",
    "apiVersion: v1\nkind: List\nitems:\n- " + indented(pod(), 2).lstrip(),
    '{\n  "apiVersion": "v1",\n  "kind": "Pod",\n  "metadata": {"name": "p"},\n  "spec": {\n'
    '    "containers": [\n      {\n'
    '        "name": "a",\n        "image": "vllm/vllm-openai",\n        "args": ["-tp", "2"],\n'
    '        "resources": {"limits": {"nvidia.com/gpu": 2}}\n      }\n    ]\n  }\n}\n',
    pod("- name: a\n  image: vllm/vllm-openai\n  resources: {limits: {nvidia.com/gpu: 2}}\n  args: [-tp, '2']\n"
        "  workingDir: |-\n    /a\n\n"),
    under("jobset.x-k8s.io/v1alpha2", "JobSet", "spec", "replicatedJobs", "-", "template", "spec", "template", "spec"),
]


@table("text", STYLES)
def test_every_style_gets_the_volume_and_the_mount_and_nothing_else(tmp_path: Path, text: str) -> None:
    after = repaired(tmp_path, text)
    assert after != text
    before_objects, objects = list(yaml.safe_load_all(text)), list(yaml.safe_load_all(after))
    assert [without_shm(each) for each in objects] == [without_shm(each) for each in before_objects]
    assert after.count("/dev/shm") == len(findings(tmp_path / "b", {"a.yaml": text}))
    assert after.count("medium: Memory") + after.count('"medium": "Memory"') == 1
    if objects[0]["kind"] == "Pod":
        kubernetes_validate.validate(objects[0], "1.33", strict=True)
    written = iter(after.splitlines())
    assert all(line in written for line in text.splitlines() if line.strip() and not line.endswith((":", "]", "}")))


MADE = [
    ("emptyDir: {}", "emptyDir: {medium: Memory, sizeLimit: 8Gi}"),
    ("emptyDir: {sizeLimit: 20Gi}", "emptyDir: {medium: Memory, sizeLimit: 20Gi}"),
    ("emptyDir: {sizeLimit: 1Gi}  # local", "emptyDir: {medium: Memory, sizeLimit: 8Gi}  # local"),
    ("emptyDir: {medium: '', sizeLimit: 20Gi}", "emptyDir: {medium: 'Memory', sizeLimit: 20Gi}"),
    ('"emptyDir": {"sizeLimit": "1Gi"}', '"emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}'),
    ("emptyDir:\n    # local\n    sizeLimit: 1Gi", "emptyDir:\n    # local\n    medium: Memory\n    sizeLimit: 8Gi"),
    ("emptyDir:\n    sizeLimit: '1Gi'\n    medium: \"\"", "emptyDir:\n    sizeLimit: '8Gi'\n    medium: \"Memory\""),
    ("emptyDir:  # local", "emptyDir:  # local\n    medium: Memory\n    sizeLimit: 8Gi"),
    ("emptyDir: null", "emptyDir: {medium: Memory, sizeLimit: 8Gi}"),
    ("emptyDir: {sizeLimit: $(SIZE)}", "emptyDir: {sizeLimit: $(SIZE)}"),
    ("persistentVolumeClaim: {claimName: c}", "persistentVolumeClaim: {claimName: c}"),
]


@table("volume, made", MADE)
def test_a_volume_on_disk_becomes_one_in_memory(tmp_path: Path, volume: str, made: str) -> None:
    text, after = (pod(container(ON_SHM), volumes=(each,), more=("restartPolicy: Never",)) for each in (volume, made))
    assert [f.rule for f in findings(tmp_path, {"a.yaml": text})] == ["SHM213"]
    assert fixed(tmp_path, {"a.yaml": text}) == {}
    assert fixed(tmp_path, {"a.yaml": text}, unsafe=True).get("a.yaml", text) == after
    if after != text:
        kubernetes_validate.validate(yaml.safe_load(after), "1.33", strict=True)


def test_a_volume_on_disk_that_is_mounted_elsewhere_too_is_left_alone(tmp_path: Path) -> None:
    also = "volumeMounts: [{name: dshm, mountPath: /dev/shm}, {name: dshm, mountPath: /data, subPath: a}]"
    helper = container("volumeMounts: [{name: dshm, mountPath: /data}]", name="b", gpus=0)
    for number, text in enumerate((pod(container(also), volumes=("emptyDir: {}",)),
                                   pod(container(ON_SHM), helper, volumes=("emptyDir: {}",)))):  # fmt: skip
        assert fixed(tmp_path / str(number), {"a.yaml": text}, unsafe=True) == {}


def pytorch_job(master: str, worker: str, head: str = "") -> str:
    """A PyTorchJob of two pods, each given as what follows ``template:``."""
    return (
        f"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: j}}\n{head}spec:\n  pytorchReplicaSpecs:\n"
        f"    Master:\n      replicas: 1\n      template:{master}\n"
        f"    Worker:\n      replicas: 2\n      template:{worker}\n"
    )


ASKS = "image: vllm/vllm-openai, args: [-tp, '2'], resources: {limits: {nvidia.com/gpu: 2}}"
SPEC = "\n        spec:\n          containers:\n"
ONE = f"{SPEC}          - &c\n            name: a\n            image: vllm/vllm-openai\n" + (
    "            args: [-tp, '2']\n            resources: {limits: {nvidia.com/gpu: 2}}"
)
PODS = f"- apiVersion: v1\n  kind: Pod\n  metadata: {{name: a}}\n  spec: &spec\n{indented(pod_spec(), 4)}"
SHARED = [
    # A template, a pod's specification and a container that several pods have, all of which ask for the same.
    (pytorch_job(" &t" + ONE.replace("&c", "").replace("- \n            name", "- name"), " *t"), 1, 1),
    (f"apiVersion: v1\nkind: List\nitems:\n{PODS}- {{apiVersion: v1, kind: Pod, metadata: {{name: b}}, spec: *spec}}\n",
     1, 1),
    (pytorch_job(ONE, f"{SPEC}          - *c"), 1, 2),
    # What a container has of its own is edited where it is, although a merge key brings the rest.
    (pytorch_job(" {spec: {containers: [{<<: *d, name: a}]}}", " {spec: {containers: [{<<: *d, name: b}]}}",
                 f"x-d: &d {{{ASKS}}}\n"), 2, 2),
    # A list that a merge key brings is edited where it is written.
    (pytorch_job(" {spec: {containers: [{<<: *d, name: a}], volumes: [{name: c, emptyDir: {}}]}}",
                 " {spec: {containers: [{<<: *d, name: b}], volumes: [{name: c, emptyDir: {}}]}}",
                 f"x-d: &d {{{ASKS}, volumeMounts: [{{name: c, mountPath: /c}}]}}\n"), 1, 2),
]  # fmt: skip


@table("text, mounts, volumes", SHARED)
def test_what_several_pods_share_is_edited_at_the_anchor(
    tmp_path: Path, text: str, mounts: int, volumes: int
) -> None:
    after = repaired(tmp_path, text)
    assert (after.count("/dev/shm"), after.count("medium: Memory")) == (mounts, volumes)
    before_objects, objects = list(yaml.safe_load_all(text)), list(yaml.safe_load_all(after))
    assert [without_shm(each) for each in objects] == [without_shm(each) for each in before_objects]


MINE = "name: a, image: vllm/vllm-openai, args: [-tp, '2'], resources: {limits: {nvidia.com/gpu: 2}}"
MOUNTS = (
    "    - name: dshm", "      mountPath: /c  # read only", "", "    - {name: dshm, mountPath: /d, subPath: a}"
)  # fmt: skip
LISTED = ("initContainers:", "- name: i", "  image: busybox", "  volumeMounts: &m", *MOUNTS)
IN_FLOW = "&m [{name: dshm, mountPath: /c}]"
INIT = ("initContainers:", f"- {{name: i, image: busybox, volumeMounts: {IN_FLOW}}}")
BUSY = "{spec: {containers: [{name: b, image: busybox}], volumes: &m [{name: dshm, emptyDir: {}}]}}"
OWN = [
    # The list of mounts is an init container's too: in block style, in flow style, by a merge key.
    (pod(container("volumeMounts: *m  # as above"), volumes=("emptyDir: {}",), more=LISTED),
     "    volumeMounts:  # as above\n    - name: dshm\n      mountPath: /c  # read only\n\n"
     "    - {name: dshm, mountPath: /d, subPath: a}\n    - name: shm\n      mountPath: /dev/shm\n"),
    (pod(f"- {{{MINE}, volumeMounts: *m}}\n", volumes=("emptyDir: {}",), more=INIT),
     "volumeMounts: [{name: dshm, mountPath: /c}, {name: shm, mountPath: /dev/shm}]}\n"),
    (pod(container("<<: *d"), volumes=("emptyDir: {}",),
         more=(LISTED[0], "- &d", "  name: i", LISTED[2], "  volumeMounts:", *MOUNTS)),
     "    - {name: dshm, mountPath: /d, subPath: a}\n    - name: shm\n      mountPath: /dev/shm\n"),
    # The volumes are those of a pod without a GPU too.
    (pytorch_job(f" {BUSY}", f" {{spec: {{containers: [{{{MINE}}}], volumes: *m}}}}"),
     "volumes: [{name: dshm, emptyDir: {}}, {name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]}}\n"),
]


@table("text, written", OWN)
def test_a_list_of_others_is_written_out_for_the_container_alone(tmp_path: Path, text: str, written: str) -> None:
    for number, ended in enumerate((text, text.replace("\n", "\r\n"))):
        after = repaired(tmp_path / str(number), ended)
        assert written in after.replace("\r\n", "\n") and after.count("/dev/shm") == 1
        objects = [list(yaml.safe_load_all(each.replace("name: shm", "name: dshm"))) for each in (ended, after)]
        assert without_shm(objects[0]) == without_shm(objects[1])
        assert after.count("\r") == (after.count("\n") if number else 0)


OTHERS = [
    # The list of mounts is a helper's too, which has it from the container.
    (pod(f"- {{{MINE}, volumeMounts: {IN_FLOW}}}\n", "- {name: b, image: busybox, volumeMounts: *m}\n",
         volumes=("emptyDir: {}",)), "container `b` of Pod `p`"),
    # It holds an anchor, which a copy would hold again.
    (pod(f"- {{{MINE}, volumeMounts: *m}}\n", volumes=("emptyDir: {}",),
         more=(INIT[0], INIT[1].replace("dshm", "&n dshm"))), "init container `i` of Pod `p`"),
    # The volumes are those of a pod without a GPU.
    (pytorch_job(f" {{spec: {{containers: [{{{MINE}}}], volumes: &v [{{name: c, emptyDir: {{}}}}]}}}}",
                 " {spec: {containers: [{name: b, image: busybox}], volumes: *v}}"), "another part of the file"),
    # The container is that of a pod that has the node's /dev/shm too.
    (pytorch_job(f" {{spec: &s {{containers: [{{{MINE}}}]}}}}", " {spec: {<<: *s, hostIPC: true}}"),
     "`a` of PyTorchJob"),
]  # fmt: skip


@table("text, because", OTHERS)
def test_what_is_shared_with_others_is_left_alone_and_the_finding_says_why(
    tmp_path: Path, text: str, because: str
) -> None:
    started = run(tmp_path, {"a.yaml": text})
    outcome = fix(started)
    assert outcome.texts == {}
    assert [because in f.advice for f in remaining(outcome) if f.rule == "SHM101"] == [True]


def test_a_volume_that_is_there_gets_its_size(tmp_path: Path) -> None:
    text = pod(container(ON_SHM), volumes=("emptyDir: {medium: Memory, sizeLimit: 64Mi}",))
    assert [(f.rule, f.severity) for f in findings(tmp_path, {"a.yaml": text})] == [("SHM102", "error")]
    assert repaired(tmp_path, text) == text.replace("64Mi", "8Gi")


def test_no_size_that_the_memory_limit_does_not_hold(tmp_path: Path) -> None:
    text = pod(container("resources: {limits: {memory: 512Mi, nvidia.com/gpu: 2}}", gpus=0))
    found = findings(tmp_path, {"a.yaml": text})
    assert [(f.rule, f.fix) for f in found] == [("SHM101", None)]
    assert "raise the memory limit" in found[0].advice and "Gi" in found[0].advice


def test_a_name_that_is_taken_is_not_used_again(tmp_path: Path) -> None:
    after = repaired(tmp_path, pod(container("volumeMounts: [{name: dshm, mountPath: /a}]"), volumes=(MEMORY,)))
    assert "name: shm\n" in after
    names = ("dshm", "shm", "shared-memory", *(f"dshm-{number}" for number in range(2, 200)))
    taken = "".join(f"  - {{name: {name}, emptyDir: {{}}}}\n" for name in names)
    assert "name: dshm-200\n" in repaired(tmp_path, f"{pod()}  volumes:\n{taken}")


ENV = (
    "env:",
    "- name: NCCL_P2P_DISABLE  # for a test",
    "  value: '1'",
    "# kept",
    "- name: TOKEN",
    "  valueFrom: {secretKeyRef: {name: a, key: b}}",
    "- name: 'NCCL_BLOCKING_WAIT'",
    "  value: '1'",
)
ALONE = "env: [{name: NCCL_P2P_DISABLE, value: '1'}]"
FIRST = "env: [{name: NCCL_P2P_DISABLE, value: '1'}, {name: A, value: b}]"
LAST = "env: [{name: A, value: b}, {name: NCCL_P2P_DISABLE, value: '1'}]"
SET = ("emptyDir: {medium: Memory, sizeLimit: 8Gi}",)
REMOVED = [
    (ENV, (*ENV[:1], *ENV[3:6], "- name: 'TORCH_NCCL_BLOCKING_WAIT'", ENV[7])),
    ((ALONE,), ()),
    ((FIRST,), ("env: [{name: A, value: b}]",)),
    ((LAST,), ("env: [{name: A, value: b}]",)),
    (("env:", "- {name: NCCL_P2P_DISABLE, value: '1'}"), ()),
    (("env: &env", *ENV[1:3]), ("env: &env", *ENV[1:3])),
    (("env:", *ENV[1:3], *ENV[1:3]), ("env:", *ENV[1:3], *ENV[1:3])),
]


@table("lines, left", REMOVED)
def test_variables_are_removed_and_renamed(tmp_path: Path, lines: tuple[str, ...], left: tuple[str, ...]) -> None:
    text, after = (pod(container(ON_SHM, *some), volumes=SET) for some in (lines, left))
    assert fixed(tmp_path, {"a.yaml": text}, unsafe=True).get("a.yaml", text) == after


def test_the_namespace_of_the_node_is_left_where_one_container_uses_it(tmp_path: Path) -> None:
    text = pod(more=("hostIPC: true  # since the bus errors", "restartPolicy: Never"))
    after = fixed(tmp_path, {"a.yaml": text}, unsafe=True, select=["SHM101", "SHM301"])["a.yaml"]
    spec, before = yaml.safe_load(after)["spec"], yaml.safe_load(text)["spec"]
    assert "hostIPC" not in spec and spec["volumes"] == [VOLUME]
    assert without_shm(spec) == {key: value for key, value in before.items() if key != "hostIPC"}
    two = pod(container(), container(name="b"), more=("hostIPC: true",))
    assert fixed(tmp_path / "two", {"a.yaml": two}, unsafe=True, select=["SHM301"]) == {}
