"""Kustomizations: what is built of bases and patches, where it is repaired, and what kubectl says."""

from __future__ import annotations

import contextlib
import json
import subprocess
from functools import partial
from pathlib import Path

import pytest
import yaml

from shmlint.files.workspace import Workspace
from shmlint.fixing.fix import Outcome, fix, remaining
from shmlint.formats.kubernetes import kustomize
from shmlint.formats.kubernetes.kustomize import built
from shmlint.formats.kubernetes.tree import List, Map, Tree
from shmlint.run import Run
from tests.formats.kubernetes.manifests import ON_SHM, container, under
from tests.project import findings, fixed, run, write
from tests.table import table

PATH = ("spec", "template", "spec")
CONTAINER = container(gpus=0)
GPU = "  resources: {limits: {nvidia.com/gpu: 2}}\n"


def deployment(*containers: str, more: str = "") -> str:
    return under("apps/v1", "Deployment", *PATH, spec="containers:\n" + "".join(containers) + more)


BASE = {"base/kustomization.yaml": "resources: [deployment.yaml]\n", "base/deployment.yaml": deployment(CONTAINER)}
TOP = "resources: [../base]\n"
ASKS = deployment(f"- name: vllm\n{GPU}")
SIZED = deployment(f"- name: vllm\n  {ON_SHM}\n", more="volumes:\n- name: dshm\n  emptyDir: {medium: Memory}\n")


def overlay(name: str, patch: str, *more: str) -> dict[str, str]:
    """An overlay on the base with one patch."""
    text = TOP + "patches:\n- path: gpu.yaml\n" + "".join(more)
    return {f"{name}/kustomization.yaml": text, f"{name}/gpu.yaml": patch}


def test_a_patch_that_asks_for_a_gpu_gets_the_volume_and_the_mount(tmp_path: Path) -> None:
    files = BASE | overlay("gpu", ASKS)
    found = findings(tmp_path, files)
    assert [(f.rule, f.severity) for f in found] == [("SHM101", "error")]
    after = fixed(tmp_path, files)
    assert list(after) == ["gpu/gpu.yaml"]
    assert findings(tmp_path, files | after) == []
    assert "volumeMounts:" in after["gpu/gpu.yaml"] and "sizeLimit: 8Gi" in after["gpu/gpu.yaml"]


def test_a_base_that_asks_for_a_gpu_is_repaired_for_all_overlays(tmp_path: Path) -> None:
    base = BASE | {"base/deployment.yaml": deployment(container())}
    plain = {"a/kustomization.yaml": TOP, "b/kustomization.yaml": f"{TOP}namePrefix: b-\n"}
    after = fixed(tmp_path, base | plain)
    assert list(after) == ["base/deployment.yaml"]
    assert findings(tmp_path, base | plain | after) == []


def test_a_base_outside_the_named_paths_is_repaired(tmp_path: Path) -> None:
    base = BASE | {"base/deployment.yaml": deployment(container())}
    write(tmp_path, base | {"prod/kustomization.yaml": TOP})
    before = run(tmp_path, {}, paths=["prod"])
    assert [f.span.path for f in before.findings] == ["base/deployment.yaml"]
    after = fixed(tmp_path, {}, paths=["prod"])
    assert list(after) == ["base/deployment.yaml"] and "sizeLimit: 8Gi" in after["base/deployment.yaml"]


SIBLINGS = [
    (overlay("other", deployment("- name: vllm\n  args: ['-tp', '4']\n")), True, "asks for the same"),
    ({"other/kustomization.yaml": TOP + "namePrefix: b-\n"}, True, "is the same"),
    (overlay("other", deployment("- name: vllm\n  resources: null\n")), False, "has no GPU"),
    (overlay("other", SIZED), False, "has a volume already"),
    (overlay("other", SIZED.replace("Memory", "Memory, sizeLimit: 1Gi")), True, "decides all of it by its patch"),
    ({"other/kustomization.yaml": "resources: [../prod]\n"}, True, "builds on what is named"),
]  # fmt: skip


@table("sibling, done, why", SIBLINGS)
def test_a_base_is_repaired_only_if_that_is_right_for_what_else_is_built_with_it(
    tmp_path: Path, sibling: dict[str, str], done: bool, why: str
) -> None:
    base = BASE | {"base/deployment.yaml": deployment(container())}
    write(tmp_path, base | {"prod/kustomization.yaml": TOP} | sibling)
    for paths in (["prod"], ["base"]):
        outcome = repair(run(tmp_path, {}, paths=paths), tmp_path)
        assert list(outcome.texts) == (["base/deployment.yaml"] if done else []), why
        if not done:
            (advice,) = [f.advice for f in remaining(outcome) if f.rule == "SHM101"]
            assert "would also change" in advice, why


def test_a_base_is_left_alone_where_not_all_of_its_users_can_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = BASE | {"base/deployment.yaml": deployment(container())}
    files = base | {"prod/kustomization.yaml": TOP, "a/b": "", "c/d": ""}
    write(tmp_path, files)
    monkeypatch.setattr(kustomize, "MOST_DIRECTORIES", 3)
    outcome = repair(run(tmp_path, {}, paths=["prod"]), tmp_path)
    assert [("what else uses these files" in f.advice) for f in remaining(outcome)] == [True]
    alone = {"pod.yaml": deployment(container()), "a/b": "", "c/d": "", "e/f": ""}  # below no kustomization
    assert list(fixed(tmp_path / "alone", alone)) == ["pod.yaml"]


def repair(started: Run, directory: Path) -> Outcome:
    with contextlib.chdir(directory):
        return fix(started)


def test_a_base_is_judged_as_it_is_built(tmp_path: Path) -> None:
    base = BASE | {"base/deployment.yaml": deployment(container())}
    assert findings(tmp_path, base | overlay("gpu", SIZED)) == []
    both = base | overlay("gpu", SIZED) | {"bare/kustomization.yaml": TOP}
    found = findings(tmp_path, both)
    assert [f.rule for f in found] == ["SHM101"] and "(when built by bare)" in found[0].message


UNKNOWN = [
    "patchesJson6902:\n- path: p.yaml\n  target: {kind: Deployment, name: o, version: v1}\n",
    "patches:\n- patch: '[{\"op\": \"remove\", \"path\": \"/spec\"}]'\n  target: {kind: Deployment}\n",
    "patches:\n- path: gpu.yaml\n  target: {labelSelector: a=b}\n",
    "components: [../component]\n",
    "transformers: [t.yaml]\n",
    "replacements: [{path: r.yaml}]\n",
]


@table("more", UNKNOWN)
def test_what_else_a_kustomization_does_makes_it_unknown(tmp_path: Path, more: str) -> None:
    files = BASE | {"base/deployment.yaml": deployment(container())}
    done = run(tmp_path, files | {"top/kustomization.yaml": TOP + more, "top/gpu.yaml": SIZED})
    assert [launch.effective_shm().decided_by for launch in done.launches if launch.image] == ["unknown"]
    assert not done.findings


def test_images_are_renamed(tmp_path: Path) -> None:
    files = BASE | {"a/kustomization.yaml": f"{TOP}images: [{{name: vllm/vllm-openai, newName: x/y, newTag: '2'}}]\n"}
    assert [launch.image.text for launch in run(tmp_path, files).launches if launch.image] == ["x/y:2"]


def test_bases_that_refer_to_each_other_and_what_is_not_there(tmp_path: Path) -> None:
    files = {"a/kustomization.yaml": "resources: [../b, none.yaml, https://example.org/x]\n",
             "b/kustomization.yaml": "resources: [../a]\n"}  # fmt: skip
    assert run(tmp_path, files).launches == ()


JUDGED = [
    ASKS,
    SIZED,
    deployment("- name: vllm\n  env: [{name: A, value: '2'}, {name: B, value: '3'}]\n  args: [x]\n"),
    deployment("- name: other\n  image: y\n", more="volumes: [{name: a, emptyDir: {}}]\nhostIPC: true\n"),
    deployment("- name: vllm\n  args: null\n  volumeMounts: [{name: a, mountPath: /a}, {name: b, mountPath: /b}]\n"),
    deployment("- name: vllm\n  volumeMounts: [{name: b, mountPath: /dev/shm}]\n"),
]


def _plain(tree: Tree) -> object:
    if isinstance(tree, Map):
        return {name: _plain(field.value) for name, field in tree.fields.items()}
    if isinstance(tree, List):
        return [_plain(item) for item in tree.items]
    return yaml.safe_load(tree.span.text)


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        items = [_sorted(item) for item in value]
        mappings = all(isinstance(item, dict) for item in items)
        return sorted(items, key=partial(json.dumps, sort_keys=True)) if mappings else items
    return value


@pytest.mark.kubectl
@pytest.mark.parametrize("patch", JUDGED)
def test_kubectl_builds_the_same(tmp_path: Path, patch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    container_ = container("env: [{name: A, value: '1'}]", "volumeMounts: [{name: c, mountPath: /dev/shm}]", gpus=0)
    base = BASE | {"base/deployment.yaml": deployment(container_, more="volumes: [{name: c, emptyDir: {}}]\n")}
    write(tmp_path, base | overlay("top", patch))
    shown = subprocess.run(["kubectl", "kustomize", "top"], cwd=tmp_path, capture_output=True, text=True, check=True)
    monkeypatch.chdir(tmp_path)
    (ours,) = built("top/kustomization.yaml", Workspace({})).objects
    assert _sorted(_plain(ours.manifest.root)) == _sorted(yaml.safe_load(shown.stdout))
