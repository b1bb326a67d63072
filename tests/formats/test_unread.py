"""Container starts in languages that are not read: each is reported with its line."""

from __future__ import annotations

from json import loads
from pathlib import Path
from time import process_time

from shmlint.reports import inventory, json
from tests.project import run
from tests.table import table

RUN = "docker run --gpus all"
NOTEBOOK = '{{"cells": [\n {{"cell_type": "code",\n  "source": [\n   "x = 1\\n",\n   "{}"\n  ]}}\n]}}\n'


@table(
    ("name", "text", "lines"),
    [
        ("x.ps1", f"# {RUN} IMG\n  {RUN} IMG\nWrite-Host \"{RUN}\"\n& docker.exe run x\n", [2, 4]),
        ("x.bat", f":: {RUN}\r\nrem {RUN} IMG\r\nstart /b {RUN} IMG\r\ndocker compose run x\r\n", [3]),
        ("x.adoc", f"= Title\n\n[source,sh]\n----\n$ {RUN} IMG\n----\nUse `{RUN} IMG`, not docker run.\n", [5, 7]),
        ("x.asciidoc", "....\nsudo podman run \\\n  --gpus all IMG\n....\ndocker compose run --rm x\n", [2]),
        ("x.ipynb", NOTEBOOK.format(f"!{RUN} IMG"), [5]),
        ("x.ipynb", NOTEBOOK.format("!docker run \\\\\\n"), [5]),
        ("x.ipynb", NOTEBOOK.format("docker.run()"), []),
        ("x.org", f"#+BEGIN_SRC sh\n{RUN} IMG\n#+END_SRC\n", [2]),
        ("README", f"Start it:\n{RUN} IMG\n", [2]),
        ("docs/INSTALL.txt", f"Start it:\n\t$ {RUN} IMG\n", [2]),
        ("package.json", f'{{"scripts": {{\n"a": "{RUN} IMG"}}}}\n', [2]),
        ("pyproject.toml", f'[tool.poe.tasks]\na = "{RUN} IMG"\n# {RUN} IMG\n', [2]),
        ("pixi.toml", f'[tasks]\na = "{RUN} IMG"\n', [2]),
        ("pixi.toml", '[tasks]\na = { cmd = ["docker", "run", "--rm", "IMG"] }\nb = ["docker", "ps"]\n', [2]),
        ("pyproject.toml", "[tool.pdm.scripts]\na = ['sudo', 'podman', 'container', 'run', '--rm', 'IMG']\n", [2]),
        ("Procfile", f"web: {RUN} IMG\n", [1]),
        ("gpu.crontab", f"* * * * * root {RUN} IMG\n", [1]),
        ("etc/gpu.cron", f"* * * * * root {RUN} IMG\n", [1]),
        ("mise.toml", f'[tasks.a]\nrun = "{RUN} IMG"\n', [2]),
        (".mise.local.toml", f"tasks.a.run = '''\n{RUN} IMG\n'''\n", [2]),
        ("apps/a/project.json", f'{{"targets": {{"a": {{\n"command": "{RUN} IMG"}}}}}}\n', [2]),
        ("deno.jsonc", f'{{"tasks": {{\n"a": "{RUN} IMG"}}}}\n', [2]),
        ("etc/cron.d/nightly", f"# {RUN} IMG\n0 3 * * * root {RUN} IMG\n", [2]),
        ("CMakeLists.txt", f"# {RUN} IMG\nadd_custom_target(a COMMAND {RUN} IMG)\n", [2]),
        ("cmake/gpu.cmake", f"add_test(NAME a\n  COMMAND {RUN} IMG)\n", [2]),
        ("share/gpu.desktop", f"[Desktop Entry]\nExec={RUN} IMG\n", [2]),
        ("manual.tex", f"\\begin{{verbatim}}\n{RUN} IMG\n\\end{{verbatim}}\n", [2]),
        ("Vagrantfile", f'c.vm.provision "shell", inline: "{RUN} IMG"\n', [1]),
        ("x.sub", "docker_image = IMG\n# request_gpus = 2\nrequest_GPUs = 2\nqueue\n", [3]),
        ("x.submit", "container_image = docker://IMG\nrequest_gpus=$(N)\n", [2]),
        ("x.sub", "docker_image = IMG\nqueue\n", []),
        ("Snakefile", f"rule a:\n  shell: '{RUN} IMG'\n", [2]),
        ("x.smk", 'rule a:\n  container: "docker://IMG"\n  resources: nvidia_gpu=1\n', [3]),
        ("x.nf", "container 'IMG'\ncontainerOptions '--gpus all'\n", [2]),
        ("nextflow.config", "docker.runOptions = '--gpus all'\n", [1]),
        ("nextflow.config", "docker.runOptions = '--rm'\n", []),
        ("x.cwl", "DockerRequirement: {dockerPull: IMG}\ncwltool:CUDARequirement: {}\n", [2]),
        (".vscode/tasks.json", f'{{"command": "{RUN} IMG"}}\n', [1]),
    ],
)  # fmt: skip
def test_starts_are_reported(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    result = run(tmp_path, {name: text})
    assert [(place.span.line, place.kind) for place in result.not_read] == [(line, "unsupported") for line in lines]
    assert result.launches == ()
    assert sum(": not read: " in line for line in inventory.table(result)) == len(lines)
    assert len(loads(json.inventory(result))["not_read"]) == len(lines)


GPU = '"--gpus", "all"'


LIMITS = 'resources {{\n  {} = {{\n    "nvidia.com/gpu" = {}\n  }}\n}}\n'


@table(
    ("name", "text", "lines"),
    [
        ("x.py", f'run(["docker", "run", {GPU}, "IMG"])\nrun(["docker", "run", "redis"])\n', [1]),
        ("x.py", f'call(\n  ["sudo", "podman", "run",\n   "--rm",\n   {GPU}])\n', [2]),
        ("x.py", f"c = [docker_bin, 'run', '--rm']\nif gpu:\n    c += [{GPU}]\n", [1]),
        ("x.py", f'os.system("{RUN} IMG")\nos.system(f"cd x && {RUN} {{image}}")\n', [1, 2]),
        ("x.py", f'c = f"""\n{RUN} IMG\n"""\n', [2]),
        ("x.py", 'd = [DeviceRequest(count=-1)]  # docker\nclient.containers.run("IMG", device_requests=d)\n', [2]),
        ("x.py", 'client = docker.from_env()\nclient.containers.run("redis")\ngpus = 1\n', []),
        ("x.py", f'print("{RUN} IMG")\n# run(["docker", "run", {GPU}])\nraise E("try {RUN} IMG")\n', []),
        ("x.py", 'run(["docker", "compose", "run", "x"])\nrun(["x", "--gpus", "all"])\n', []),
        ("makefile.py", "x:\n\tls docker\n", []),
        ("x.go", f'exec.Command("docker", "run", {GPU})\n// exec.Command("docker", "run", {GPU})\n', [1]),
        ("x.go", "// docker\ncli.ContainerCreate(ctx, c, &HostConfig{DeviceRequests: d})\n", [2]),
        ("x.ts", "const docker = new Docker();\ndocker.createContainer({deviceRequests: d});\n", [2]),
        ("x.ts", f'spawn("docker", ["run", {GPU}]);\nexecSync(`{RUN} ${{x}}`);\n', [1, 2]),
        ("Rakefile", f'task(:a) {{ sh "{RUN} IMG" }}\ntask(:b) {{ sh "docker run --rm redis" }}\n', [1]),
        ("x.rb", f'system "{RUN} IMG"\nputs "{RUN} IMG"\n', [1]),
        ("lib/tasks/gpu.rake", f"sh '{RUN} IMG'\n", [1]),
        ("x.rs", f'Command::new("docker").arg("run").args([{GPU}]);\n', [1]),
        ("x.tf", 'resource "docker_container" "a" {\n  gpus = "all"\n}\nresource "docker_container" "b" {}\n', [1]),
        ("x.tf", LIMITS.format("limits", '"2"'), [3]),
        ("x.tf", LIMITS.format("limits", "var.gpus"), [3]),
        ("x.tf", LIMITS.format("limits", '"0"') + LIMITS.format("requests", 1), []),
        ("x.nomad", 'driver = "docker"\nresources { device "nvidia/gpu" {} }\n', [1]),
        ("x.yml", f"- shell: {RUN} IMG\n# - shell: {RUN} IMG\n", [1]),
        ("x.yml", "- community.docker.docker_container:\n    device_requests: [{count: -1}]\n", [1]),
        ("init.yaml", "#cloud-config\nruncmd:\n - [docker, run, --gpus, all, IMG]\n - [docker, run, redis]\n", [3]),
        ("x.yml", "- command:\n    argv: ['docker', 'run', '--gpus', 'all', IMG]\n", [2]),
        ("x.yml", "- command:\n    argv:\n    - docker\n    - run\n    - --gpus=all\n    - IMG\n", [3]),
        ("x.yml", "# --gpus\n- command:\n    argv:\n    - docker\n    - run\n    - --rm\n    - redis\n", []),
        ("x.yml", "# [docker, run, --gpus, all]\n- docker\n- --gpus\n", []),
        ("x.yml", "- docker_container:\n    image: redis\n", []),
        ("chart/values.yaml", "resources:\n  limits:\n    nvidia.com/gpu: 1\n", [3]),
        ("chart/values.yaml", "resources:\n  limits:\n    nvidia.com/gpu: 0\n    # nvidia.com/gpu: 1\n", []),
    ],
)  # fmt: skip
def test_starts_with_a_gpu_in_programs_are_reported(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    result = run(tmp_path, {name: text})
    assert [(place.span.line, place.kind) for place in result.not_read] == [(line, "unsupported") for line in lines]
    assert (result.launches, result.findings) == ((), [])


def test_programs_are_searched_in_linear_time(tmp_path: Path) -> None:
    texts = ('"docker", ' * 20_000, "docker run --gpus " * 20_000, "[docker" * 20_000, '="""\n' * 20_000 + "docker")
    for text in texts:
        started = process_time()
        run(tmp_path, {"x.py": f"docker --gpus\n{text}\n"})
        assert process_time() - started < 5


TASK = (
    "apiVersion: tekton.dev/v1\nkind: Task\nmetadata: {{name: t}}\nspec:\n  steps:\n  - image: docker\n"
    "    script: |\n      {}\n"
)
STEP = "on: push\njobs:\n  a:\n    steps:\n    - shell: {}\n      run: |\n        {}\n"
PART = "# Title\n\n```yaml\ntrainer:\n  image: IMG\n  {}\n```\n"


@table(
    ("name", "text", "lines"),
    [
        ("task.yaml", TASK.format(f"{RUN} IMG"), [8]),
        ("task.yaml", TASK.format("docker run redis"), []),
        ("task.yaml", TASK.format(f"# {RUN} IMG"), []),
        (".github/workflows/x.yml", STEP.format("python", f'os.system("{RUN} IMG")'), [7]),
        (".github/workflows/x.yml", STEP.format("python3 {0}", f'run(["docker", "run", {GPU}, "IMG"])'), [7]),
        (".github/workflows/x.yml", STEP.format("python", f'print("{RUN} IMG")'), []),
        ("README.md", PART.format("gpus: all"), [6]),
        ("README.md", PART.format("deploy: {resources: {reservations: {devices: [{\n  capabilities: [gpu]}]}}}"), [7]),
        ("README.md", PART.format("devices:\n  - capabilities:\n      - gpu"), [7]),
        ("README.md", PART.format("cpus: 2"), []),
        ("README.md", PART.format("gpus: all").replace("trainer:", "services:\n x:\n"), []),
    ],
)  # fmt: skip
def test_starts_inside_of_files_that_are_read_are_reported(
    tmp_path: Path, name: str, text: str, lines: list[int]
) -> None:
    result = run(tmp_path, {name: text})
    assert [(place.span.line, place.kind, place.whole) for place in result.not_read] == [
        (line, "unsupported", False) for line in lines
    ]
