"""Manifests: which pods are seen, and what is understood of their containers."""

from __future__ import annotations

from pathlib import Path

import pytest

from shmlint.files.kinds import classify
from shmlint.fixing.fix import fix
from shmlint.model.launch import Launch
from tests.formats.kubernetes.manifests import MEMORY, ON_SHM, container, pod, pod_spec, under
from tests.project import findings, run
from tests.table import table

GIB = 1 << 30


def launches(tmp_path: Path, text: str, name: str = "pod.yaml") -> tuple[Launch, ...]:
    return run(tmp_path, {name: text}).launches


PLACES = [
    ("v1", "Pod", ("spec",)),
    ("v1", "PodTemplate", ("template", "spec")),
    ("apps/v1", "Deployment", ("spec", "template", "spec")),
    ("apps/v1", "StatefulSet", ("spec", "template", "spec")),
    ("batch/v1", "CronJob", ("spec", "jobTemplate", "spec", "template", "spec")),
    ("kubeflow.org/v1", "PyTorchJob", ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec")),
    ("kubeflow.org/v2beta1", "MPIJob", ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec")),
    ("kubeflow.org/v1", "Notebook", ("spec", "template", "spec")),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", ("spec", "replicatedJobs", "-", "template", "spec", "template", "spec")),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", ("spec", "leaderWorkerTemplate", "workerTemplate", "spec")),
    ("batch.volcano.sh/v1alpha1", "Job", ("spec", "tasks", "-", "template", "spec")),
    ("serving.knative.dev/v1", "Service", ("spec", "template", "spec")),
]


@table("api, kind, path", PLACES)
def test_every_pod_template_is_seen(tmp_path: Path, api: str, kind: str, path: tuple[str, ...]) -> None:
    found = findings(tmp_path, {"o.yaml": under(api, kind, *path)})
    assert [(f.rule, f.severity) for f in found] == [("SHM101", "error")]
    assert found[0].launch is not None and found[0].launch.kind == "kubernetes-container"


UNDECIDED = [
    ("example.com/v1", "Trainer", ("spec", "template", "spec"), "a kind that nobody knows"),
    ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", ("spec", "template", "spec"), "a TrainJob adds to it"),
    ("serving.kserve.io/v1alpha1", "LLMInferenceService", ("spec", "template"), "its configuration has a volume"),
]


@table("api, kind, path, why", UNDECIDED)
def test_what_a_controller_may_add_to_is_seen_and_not_judged(
    tmp_path: Path, api: str, kind: str, path: tuple[str, ...], why: str
) -> None:
    done = run(tmp_path, {"o.yaml": under(api, kind, *path)})
    assert [launch.gpu.number for launch in done.launches] == [2], why
    assert done.launches[0].effective_shm().decided_by == "unknown"
    assert not done.findings


def test_the_settings_name_kinds_whose_controllers_add_nothing(tmp_path: Path) -> None:
    files = {kind: under("example.com/v1", kind, "spec", "template", "spec") for kind in ("Trainer", "Server")}
    texts = {f"{kind}.yaml": text for kind, text in files.items()}
    texts["kustomization.yaml"] = "resources: [Server.yaml]\n"
    done = run(tmp_path, texts, pod_kinds=("Trainer", "Server"))
    assert [(f.rule, f.span.path) for f in done.findings] == [("SHM101", "Server.yaml"), ("SHM101", "Trainer.yaml")]
    (launch,) = run(tmp_path, texts, pod_kinds=("Trainer",), paths=("Server.yaml",)).launches
    because = launch.effective_shm().because
    assert because == "the controller of a Server may add settings to its pods (setting `pod-kinds`)"


def test_ray_pods_get_a_memory_volume_from_their_operator(tmp_path: Path) -> None:
    text = under("ray.io/v1", "RayCluster", "spec", "headGroupSpec", "template", "spec")
    done = run(tmp_path, {"ray.yaml": text})
    assert [launch.effective_shm().decided_by for launch in done.launches] == ["emptydir"]
    assert not done.findings


def test_templates_of_workflows_and_steps_of_tasks(tmp_path: Path) -> None:
    body = "      image: nvcr.io/nvidia/pytorch:24.01-py3\n      resources: {limits: {nvidia.com/gpu: 8}}\n"
    head = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n"
    argo = f"{head}spec:\n  templates:\n  - name: train\n    container:\n{body}"
    assert [(launch.name, launch.gpu.number) for launch in launches(tmp_path, argo)] == [("train", 8)]
    step = "  - name: a\n    image: x\n    computeResources: {limits: {nvidia.com/gpu: 1}}\n"
    task = f"apiVersion: tekton.dev/v1\nkind: Task\nmetadata: {{name: t}}\nspec:\n  steps:\n{step}"
    assert [(launch.name, launch.gpu.number) for launch in launches(tmp_path, task)] == [("a", 1)]


def test_an_inference_service_names_its_container_after_a_framework(tmp_path: Path) -> None:
    text = (
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: i}\nspec:\n  predictor:\n"
        "    model:\n      modelFormat: {name: huggingface}\n      resources: {limits: {nvidia.com/gpu: 2}}\n"
    )
    done = run(tmp_path, {"i.yaml": text})
    assert [(launch.name, launch.gpu.number) for launch in done.launches] == [("model", 2)]
    assert not done.findings


def test_lists_documents_and_json(tmp_path: Path) -> None:
    items = "".join("- " + text.replace("\n", "\n  ").rstrip() + "\n" for text in (pod(), pod()))
    listed = f"apiVersion: v1\nkind: List\nitems:\n{items}"
    assert len(launches(tmp_path, f"{pod()}---\n{listed}---\n# nothing\n---\n{pod()}")) == 4
    text = (
        '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "a",'
        ' "image": "vllm/vllm-openai", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]}}\n'
    )
    assert [launch.gpu.number for launch in launches(tmp_path / "json", text)] == [2]


GPUS = [
    ("nvidia.com/gpu: 2", "nvidia", 2),
    ('nvidia.com/gpu: "4"', "nvidia", 4),
    ("nvidia.com/gpu.shared: 1", "nvidia", 1),
    ("nvidia.com/mig-1g.5gb: 1", "nvidia", 1),
    ("amd.com/gpu: 1", "amd", 1),
    ("gpu.intel.com/i915: 1", "intel", 1),
    ("habana.ai/gaudi: 8", None, 8),
    ("huawei.com/Ascend910: 8", None, 8),
]
NO_GPUS = ["nvidia.com/gpu: 0", "nvidia.com/gpumem: 3000", "gpu.intel.com/i915_monitoring: 1", "cpu: 2", "rdma/ib: 1"]


@table("resource, vendor, count", GPUS)
def test_gpus_are_asked_for_by_resource(tmp_path: Path, resource: str, vendor: str | None, count: int) -> None:
    text = pod(container(f"resources: {{limits: {{{resource}}}}}", gpus=0))
    gpu = launches(tmp_path, text)[0].gpu
    assert (gpu.requested, gpu.vendor, gpu.number) == (True, vendor, count)


@table("resource", NO_GPUS)
def test_other_resources_are_no_gpus(tmp_path: Path, resource: str) -> None:
    text = pod(container(f"resources: {{limits: {{{resource}}}}}", gpus=0))
    assert launches(tmp_path, text)[0].gpu.requested is False


DECIDED = [
    ((), (), (), "default", 64 << 20),
    ((ON_SHM,), (MEMORY,), (), "emptydir", None),
    ((ON_SHM,), ("emptyDir: {medium: Memory, sizeLimit: 8Gi}",), (), "emptydir", 8 * GIB),
    ((ON_SHM,), ("emptyDir: {}",), (), "volume", None),
    ((ON_SHM,), ("persistentVolumeClaim: {claimName: c}",), (), "volume", None),
    ((ON_SHM,), ("hostPath: {path: /dev/shm}",), (), "bind", None),
    ((), (), ("hostIPC: true",), "host", None),
    (("volumeMounts: [{name: dshm, mountPath: /cache}]",), (MEMORY,), (), "default", 64 << 20),
    (("volumeMounts: [{name: dshm, mountPath: /dev/shm/, subPath: a}]",), (MEMORY,), (), "emptydir", None),
    (("volumeMounts: [{name: dshm, mountPath: /dev}]",), ("hostPath: {path: /dev}",), (), "unknown", None),
]


@table("lines, volumes, more, by, size", DECIDED)
def test_what_becomes_of_shm(
    tmp_path: Path, lines: tuple[str, ...], volumes: tuple[str, ...], more: tuple[str, ...], by: str, size: int | None
) -> None:
    found = launches(tmp_path, pod(container(*lines), volumes=volumes, more=more))[0].effective_shm()
    assert (found.decided_by, found.bytes) == (by, size)


def test_a_memory_volume_is_no_larger_than_the_memory_limits_of_all_containers(tmp_path: Path) -> None:
    def limited(name: str, memory: str) -> str:
        return container(f"resources: {{limits: {{memory: {memory}, nvidia.com/gpu: 1}}}}", ON_SHM, name=name, gpus=0)

    both = pod(limited("a", "4Gi"), limited("b", "2Gi"), volumes=("emptyDir: {medium: Memory, sizeLimit: 8Gi}",))
    assert {launch.effective_shm().bytes for launch in launches(tmp_path, both)} == {6 * GIB}
    one = pod(limited("a", "4Gi"), container(ON_SHM, name="b"), volumes=("emptyDir: {medium: Memory, sizeLimit: 8Gi}",))
    assert {launch.effective_shm().bytes for launch in launches(tmp_path, one)} == {8 * GIB}


def test_command_and_args_are_entrypoint_and_command_with_variables_replaced(tmp_path: Path) -> None:
    lines = ("command: [torchrun]", "env: [{name: N, value: '4'}, {name: S, valueFrom: {secretKeyRef: {name: s}}}]")
    text = pod(f"- name: a\n  image: x\n  args: ['--nproc_per_node=$(N)', $(S), $$(N)]\n  {lines[0]}\n  {lines[1]}\n")
    launch = launches(tmp_path, text)[0]
    assert launch.entrypoint is not None and launch.entrypoint.known == ("torchrun",)
    assert launch.command is not None and launch.command.known == ("--nproc_per_node=4", "$(S)", "$(N)")
    assert launch.environment["S"].known is None


def test_a_size_that_an_annotation_gives_is_not_known(tmp_path: Path) -> None:
    text = pod().replace("metadata:\n", "metadata:\n  annotations: {io.kubernetes.cri-o.ShmSize: 8Gi}\n")
    assert [launch.effective_shm().decided_by for launch in launches(tmp_path, text)] == ["unknown"]


def test_a_patch_and_a_container_of_a_patch_are_not_judged(tmp_path: Path) -> None:
    text = pod("- name: a\n  resources: {limits: {nvidia.com/gpu: 8}}\n")
    assert findings(tmp_path, {"patch.yaml": text}) == []


# A preset of KServe, whose controller fills it.
PRESET = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceServiceConfig
metadata: {name: preset}
spec:
  template:
    containers:
    - name: main
      image: vllm/vllm-openai
      command: [/bin/sh, -c]
      args:
      - |-
        vllm serve /mnt/models \\
        {{- if .Spec.Parallelism }} --tensor-parallel-size {{ .Spec.Parallelism.Tensor }}{{- end }}
      resources: {limits: {nvidia.com/gpu: 2}}
"""
TEMPLATES = [
    (pod().replace("name: p", "name: {{ .Values.name }}"), 4, "helm template"),
    (pod().replace("spec:", "{{- with .Values.pod }}\nspec:", 1) + "{{- end }}\n", 5, "helm template"),
    (PRESET, 13, "the file that it renders to"),
    (PRESET.replace("vllm/vllm-openai", '"{{ .Values.image }}"'), 8, "helm template"),
    (pod() + "{% if a %}\n{% endif %}\n", 11, "the file that it renders to"),
    (pod().replace("name: p", "name: {{ p }}"), 4, "the file that it renders to"),
    (pod() + "<% if a %>\n", 11, "the file that it renders to"),
    (pod() + "%{ if a }\n", 11, "the file that it renders to"),
]


@table("text, line, because", TEMPLATES)
def test_a_template_is_not_read_because_it_is_one(tmp_path: Path, text: str, line: int, because: str) -> None:
    done = run(tmp_path, {"templates/pod.yaml": text})
    assert not done.findings and not done.launches
    assert [(place.kind, place.span.line) for place in done.not_read] == [("template", line)]
    assert done.read == []
    assert done.not_read[0].because.startswith("it is a template") and because in done.not_read[0].because


OTHERS = [
    ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ NAME }}}\n", 3),
    ("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{NAME}}\n", 4),
    ("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    {{- include \"labels\" . }}\n", 5),
]


@table("other, line", OTHERS)
def test_documents_beside_a_template_are_read(tmp_path: Path, other: str, line: int) -> None:
    for number, text in enumerate((f"{other}---\n{pod()}", f"{pod()}---\n{other}")):
        done = run(tmp_path / str(number), {"o.yaml": text})
        first = 0 if not number else pod().count("\n") + 1
        assert [f.rule for f in done.findings] == ["SHM101"]
        assert [(p.kind, p.span.line, p.whole) for p in done.not_read] == [("template", first + line, False)]
        assert done.not_read[0].because.startswith("this document is a template")
        assert done.read == ["o.yaml"]
        fixed = fix(done).texts["o.yaml"]
        assert other in fixed and "medium: Memory" in fixed


@table("statement", ["{{- if .a }}\n---\n{{- end }}", "{{/* a\n---\n*/}}", "{% if a %}", "# {{ range .x }}"])
def test_what_statements_of_a_template_are_about_is_not_known(tmp_path: Path, statement: str) -> None:
    done = run(tmp_path, {"o.yaml": f"kind: {{{{ a }}}}\n{statement}\n---\n{pod()}"})
    assert not done.launches and [p.whole for p in done.not_read] == [True]


def test_a_template_that_a_config_map_holds_is_the_content_of_a_file(tmp_path: Path) -> None:
    data = "  chat.jinja: |\n    {%- if x %}\n    {{- end }}\n"
    held = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n{data}"
    assert len(launches(tmp_path, f"{pod()}---\n{held}")) == 1
    outside = pod().replace("name: p", "name: '{{ .Values.name }}'")
    assert launches(tmp_path / "b", f"{outside}---\n{held}") == ()


BROKEN = "apiVersion: v1\nkind: Pod\nspec:\n  containers: [{name: a\n  image: "


@table("image, reported", [("busybox\n", False), ("nvidia/cuda\n", True), ("a\n  # 2 GPUs\n", True)])
def test_a_broken_manifest_is_an_error_only_where_it_mentions_a_gpu(
    tmp_path: Path, image: str, reported: bool
) -> None:
    done = run(tmp_path, {"a.yaml": BROKEN + image})
    assert [f.rule for f in done.findings] == ["SHM001"] * reported
    assert [(p.kind, p.whole, p.span.line) for p in done.not_read] == [("syntax", True, 5)] * (not reported)


def test_placeholders_in_texts_are_no_template(tmp_path: Path) -> None:
    text = pod(container("workingDir: '{{inputs.parameters.directory}}'"))
    assert len(launches(tmp_path, text)) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (pod(), "kubernetes"),
        ('{\n  "apiVersion": "v1",\n  "kind": "Pod"\n}\n', "kubernetes"),
        ("apiVersion: v2\nname: chart\n", None),
        ("kind: pipeline\nname: default\n", None),
        ("services:\n  a: {image: x}\n", "compose"),
        ("# apiVersion and kind\na: 1\n", None),
    ],
)
def test_the_content_tells(text: str, kind: str | None) -> None:
    assert classify("deploy/a.yaml", text.encode) == kind


def test_broken_yaml_is_a_finding_and_nothing_crashes(tmp_path: Path) -> None:
    found = findings(tmp_path, {"pod.yaml": pod() + "  :\n bad: [\n"})
    assert [finding.rule for finding in found] == ["SHM001"]
    odd = ("containers: 3", "spec: [1]", "spec:\n  containers: [1, {name: 2, image: [], resources: 3, env: {a: b}}]")
    for text in odd:
        run(tmp_path, {"pod.yaml": f"apiVersion: v1\nkind: Pod\n{text}\n"})


def mpi_job(slots: str, launcher: str, worker: str = "") -> str:
    """An MPIJob whose workers have four GPUs each."""
    template = "template: {{spec: {{containers: [{{name: {0}, image: x/y{1}}}]}}}}"
    asks = f"{worker}, resources: {{limits: {{nvidia.com/gpu: 4}}}}"
    return (
        "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: m}\nspec:\n"
        f"  {slots}\n  mpiReplicaSpecs:\n"
        f"    Launcher: {{{template.format('l', f', command: [{launcher}]')}}}\n"
        f"    Worker: {{replicas: 2, {template.format('w', asks)}}}\n"
    )


MPI = [
    ("slotsPerWorker: 4", "mpirun, -np, '8', python, train.py", "", ("4", "error")),
    ("slotsPerWorker: 4", "mpirun, -np, '8', python, train.py", ", command: [/usr/sbin/sshd, -De]", ("4", "error")),
    ("slotsPerWorker: 4", "bash, -c, 'mpirun -np 8 python train.py'", "", ("4", "error")),
    ("replicas: 1", "mpirun, -np, '2', python, train.py", "", ("1", "note")),
    ("slotsPerWorker: 4", "mpirun, -np, '8', python, train.py", ", command: [sleep, infinity]", ("", "note")),
]


@table("slots, launcher, worker, found", MPI)
def test_the_workers_of_an_mpi_job_run_what_its_launcher_starts(
    tmp_path: Path, slots: str, launcher: str, worker: str, found: tuple[str, str]
) -> None:
    done = run(tmp_path, {"job.yaml": mpi_job(slots, launcher, worker)})
    words = " ".join(word for each in done.launches if each.entrypoint for word in each.entrypoint.known or ())
    assert (f"-np {found[0]} " in words) is bool(found[0])
    assert {f.severity for f in done.findings} | {"none"} == {found[1], "none"}


def volcano_job(master: str, worker: str, replicas: int) -> str:
    """A job of Volcano, given the commands of its two tasks."""
    def task(name: str, count: int, command: str, more: str = "") -> str:
        spec = f"{{containers: [{{name: {name}, image: x/y, command: [{command}]{more}}}]}}"
        return f"  - {{name: {name}, replicas: {count}, template: {{spec: {spec}}}}}\n"

    asks = ", resources: {limits: {nvidia.com/gpu: 4}}"
    return (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: v}\nspec:\n"
        f"  minAvailable: 1\n  tasks:\n{task('m', 1, master)}{task('w', replicas, worker, asks)}"
    )


SSHD = "/bin/sh, -c, 'mkdir -p /var/run/sshd; /usr/sbin/sshd -D;'"
VOLCANO = [
    ("/bin/sh, -c, '/usr/sbin/sshd; mpiexec --host ${MPI_HOST} -np 8 python train.py'", SSHD, 2, "4 ranks"),
    ("mpirun, --host, $(MPI_HOST), -n, '4', python, train.py", SSHD, 2, "2 ranks"),
    ("mpirun, --host, $(MPI_HOST), -n, '4', python, train.py", SSHD, 4, ""),
    ("mpirun, -n, '8', python, train.py", "sleep, infinity", 2, ""),
    ("sleep, infinity", SSHD, 2, ""),
    ("python, train.py", "torchrun, --nnodes=3, --nproc_per_node=4, train.py", 2, "4 ranks"),
]


@table("master, worker, replicas, ranks", VOLCANO)
def test_the_tasks_of_a_volcano_job_run_their_share_of_the_ranks(
    tmp_path: Path, master: str, worker: str, replicas: int, ranks: str
) -> None:
    found = findings(tmp_path, {"job.yaml": volcano_job(master, worker, replicas)})
    assert [(f.severity, ranks in f.needs) for f in found] == [("error" if ranks else "note", True)]


def test_no_more_ranks_than_gpus_are_in_one_pod_of_several(tmp_path: Path) -> None:
    path = ("spec", "leaderWorkerTemplate", "leaderTemplate", "spec")
    leader = container(gpus=8).replace('"--tensor-parallel-size", "2"', '"--tensor-parallel-size", "16"')
    text = under("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", *path, spec=pod_spec(leader))
    (found,) = findings(tmp_path, {"lws.yaml": text})
    assert "8 ranks" in found.needs and "16 ranks" not in found.needs


def test_the_processes_of_a_pytorch_job_are_ranks(tmp_path: Path) -> None:
    path = ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec")
    spec = "containers:\n- name: a\n  image: x/y\n  command: [torchrun, train.py]\n"
    asks = "  resources: {limits: {nvidia.com/gpu: 4}}\n"
    text = under("kubeflow.org/v1", "PyTorchJob", *path, spec=spec + asks)
    found = findings(tmp_path, {"job.yaml": text.replace("spec:\n", 'spec:\n  nprocPerNode: "4"\n', 1)})
    assert [(f.rule, f.severity, "4 ranks" in f.needs) for f in found] == [("SHM101", "error", True)]
