"""Scripts that a pod has from a ConfigMap are read as its program, with the lines of the manifest."""

from __future__ import annotations

import ast
from pathlib import Path

from shmlint.files.workspace import Workspace
from shmlint.formats.kubernetes.config_maps import config_maps, text_of
from shmlint.formats.kubernetes.manifests import read_file
from shmlint.formats.kubernetes.tree import Leaf
from tests.formats.kubernetes.manifests import indented
from tests.project import run, write
from tests.table import table

TRAIN = "#!/bin/bash\nset -e\npython /scripts/train.py\n"
CODE = "from torch.utils.data import DataLoader\nloader = DataLoader(data, batch_size=4, num_workers=8)\n"


def config_map(name: str = "scripts", **data: str) -> str:
    texts = "".join(f"  {key.replace('_', '.')}: |\n{indented(text, 4)}" for key, text in data.items())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{texts}"


def pod(command: str, volume: str = "configMap: {name: scripts}", mount: str = "mountPath: /scripts") -> str:
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: a\n    image: own/image\n"
        f"    command: {command}\n    volumeMounts: [{{name: s, {mount}}}]\n"
        f"    resources: {{limits: {{nvidia.com/gpu: 1}}}}\n  volumes:\n  - name: s\n    {volume}\n"
    )


BOTH = config_map(train_sh=TRAIN, train_py=CODE)
BASH = "[bash, /scripts/train.sh]"
PYTHON = "[python, /code/main.py]"
TRAILS = [
    ({"a.yaml": f"{BOTH}---\n{pod(BASH)}"}, ["a.yaml/scripts/train.sh", "a.yaml/scripts/train.py"]),
    ({"a.yaml": f"{pod('[/scripts/train.sh]')}---\n{BOTH}"}, ["a.yaml/scripts/train.sh", "a.yaml/scripts/train.py"]),
    # Another file of the directory has it, and not one of another directory.
    ({"a.yaml": pod(BASH), "b.yaml": BOTH}, ["b.yaml/scripts/train.sh", "b.yaml/scripts/train.py"]),
    ({"a.yaml": pod(BASH), "b/b.yaml": BOTH}, []),
    # Nobody knows which of two it is; one of its own file it is.
    ({"a.yaml": pod(BASH), "b.yaml": BOTH, "c.yaml": BOTH}, []),
    ({"a.yaml": f"{BOTH}---\n{pod(BASH)}", "b.yaml": BOTH}, ["a.yaml/scripts/train.sh", "a.yaml/scripts/train.py"]),
    # Other names in the volume, one file of it, several sources of it.
    ({"a.yaml": f"{BOTH}---\n" + pod(PYTHON, "configMap: {name: scripts, items: [{key: train.py, path: main.py}]}",
                                     "mountPath: /code")}, ["a.yaml/scripts/train.py"]),
    ({"a.yaml": f"{BOTH}---\n" + pod(PYTHON, mount="mountPath: /code/main.py, subPath: train.py")},
     ["a.yaml/scripts/train.py"]),
    ({"a.yaml": f"{BOTH}---\n" + pod("[python, /code/train.py]", "projected: {sources: [{configMap: {name: scripts}}]}",
                                     "mountPath: /code/")}, ["a.yaml/scripts/train.py"]),
    # kustomize makes one of files, adds to one, or builds one that it has.
    ({"k/a.yaml": pod(BASH), "k/run/train.sh": TRAIN, "k/main.py": CODE, "k/kustomization.yaml":
      "resources: [a.yaml]\nconfigMapGenerator:\n- name: scripts\n  files: [run/train.sh, train.py=main.py]\n"},
     ["k/run/train.sh", "k/main.py"]),
    ({"k/a.yaml": pod(BASH), "k/train.sh": TRAIN, "o/train.py": CODE, "k/kustomization.yaml":
      "resources: [a.yaml]\nconfigMapGenerator:\n- name: scripts\n  files: [train.sh]\n", "o/kustomization.yaml":
      "resources: [../k]\nconfigMapGenerator:\n- name: scripts\n  behavior: merge\n  files: [train.py]\n"},
     ["k/train.sh", "o/train.py"]),
    ({"k/a.yaml": pod(BASH), "m/b.yaml": BOTH, "k/kustomization.yaml": "resources: [a.yaml, ../m/b.yaml]\n"},
     ["m/b.yaml/scripts/train.sh", "m/b.yaml/scripts/train.py"]),
    # It is the path in the container that counts.
    ({"a.yaml": f"{BOTH}---\n" + pod("[bash, /other/train.sh]")}, []),
    ({"a.yaml": f"{BOTH}---\n" + pod(BASH, "secret: {secretName: scripts}")}, []),
    ({"a.yaml": f"{BOTH}---\n{pod(BASH)}" + f"# {'x' * 200_000}\n"}, []),
]  # fmt: skip


@table("files, trail", TRAILS)
def test_the_script_that_a_pod_mounts_is_followed(tmp_path: Path, files: dict[str, str], trail: list[str]) -> None:
    done = run(tmp_path, files)
    (launch,) = done.launches
    steps = [step.text for step in done.need(launch).trail]
    assert [step for step in steps if "guessed" not in step] == trail


@table("newline", ["\n", "\r\n"])
def test_the_places_are_those_of_the_manifest(tmp_path: Path, newline: str) -> None:
    text = f"{BOTH}---\n{pod(BASH)}".replace("\n", newline)
    (finding,) = run(tmp_path, {"a.yaml": text}).findings
    assert (finding.rule, finding.severity) == ("SHM101", "warning")
    shown = {e.text: e.span for e in finding.evidence if e.span is not None}
    span = shown["8 DataLoader workers"]
    assert (span.path, span.text) == ("a.yaml", "8") and "num_workers=8" in text.splitlines()[span.line - 1]


TEXTS = ["|\n    import a\n    b = 1\n", "|2-\n      import a\n", ">\n    import a\n", "import a\n", "'import a'\n"]


@table("written", TEXTS)
def test_a_text_keeps_its_line(tmp_path: Path, written: str) -> None:
    name = str(tmp_path / "a.yaml")
    write(tmp_path, {"a.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  a.py: {written}"})
    (found,) = config_maps(read_file(name, Workspace()).manifests).values()
    leaf = found.held["a.py"]
    assert isinstance(leaf, Leaf)
    source = text_of(leaf)
    line = 6 if "\n " in written else 5
    assert "import a" in source.line_text(line) and source.path == name
    assert written[:2] == "|2" or ast.parse(source.text.replace(" " * 8, "")).body[0].lineno == line
