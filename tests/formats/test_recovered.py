"""Launches that a person would read: they are recovered, or reported as not read with line and reason."""

from __future__ import annotations

import pytest

from shmlint.files.workspace import Workspace
from shmlint.model.settings import Settings
from shmlint.run import Run, lint
from tests.table import table

pytestmark = pytest.mark.usefixtures("elsewhere")

IMAGE = "vllm/vllm-openai"


def read(kind: str, path: str, text: str) -> Run:
    return lint({kind: [path]}, Settings(), Workspace().over({path: text.replace("IMG", IMAGE)}))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("docker run \\\n  --gpus all \\   # all\n  --shm-size=8g \\\n  IMG\n", 2),
        ("docker run --gpus all \\ \t\n  --shm-size=8g IMG\n", 1),
        ("docker run --gpus all\n  --shm-size=8g \\\n  IMG\n", 1),
        ("docker run --gpus all \\\n  #--env X=1 \\\n  --shm-size=8g IMG\n", 2),
        ("docker run --gpus all \\\r\n  # memory\r\n  --shm-size=8g IMG\r\n", 2),
        ("docker run \\\n\n  --gpus all --shm-size=8g IMG\n", 2),
        ("docker run --gpus all \\\r\n \r\n  --shm-size=8g IMG\r\n", 2),
    ],
)
def test_a_command_goes_on_where_its_reader_goes_on(text: str, line: int) -> None:
    run = read("shell", "x.sh", text)
    (launch,) = run.launches
    assert launch.image is not None and launch.image.text == IMAGE
    assert launch.shm is not None and launch.shm.text == "8g"
    assert [(place.span.line, place.kind) for place in run.not_read] == [(line, "syntax")]


@table(
    ("text", "image"),
    [
        ("docker run --gpus all \\\n<image_name> \\\nbash\n", "<image_name>"),
        ("docker run --gpus all \\\n-v <data>:/home/<me>/data \\\n<image name> bash\n", "<image name>"),
        ("image=<image_name>\ndata=<path to the data>  # yours\n\ndocker run --gpus all $image\n", "<image_name>"),
    ],
)
def test_an_image_that_is_to_be_filled_in(text: str, image: str) -> None:
    run = read("shell", "x.sh", text)
    assert [launch.image and launch.image.text for launch in run.launches] == [image]
    assert run.not_read == ()


@table("value", ["$(container_engine)", "${CONTAINER_RUNTIME}", "$CONTAINER_TOOL"])
def test_an_engine_that_another_script_chooses(value: str) -> None:
    (launch,) = read("shell", "x.sh", f"E={value}\n$E run --gpus all IMG\n").launches
    assert launch.image is not None and launch.image.text == IMAGE


@pytest.mark.parametrize("left_out", ["...", "…", "  ..."])
def test_options_that_a_page_leaves_out_are_no_mistake(left_out: str) -> None:
    run = read("markdown", "x.md", f"```sh\ndocker run \\\n  {left_out}\n  --gpus all IMG\n```\n")
    (launch,) = run.launches
    assert launch.undecided is not None and "may stand for more options" in launch.undecided.because
    assert run.not_read == ()


@pytest.mark.parametrize(
    "text", ["docker run--gpus=all IMG\n", "sudo podman run-it IMG\n", 'docker run -v "/a:/b IMG\necho hi\n']
)
def test_a_missing_blank_is_reported(text: str) -> None:
    run = read("shell", "x.sh", text)
    assert (run.launches, len(run.not_read)) == ((), 1)


@pytest.mark.parametrize("text", ["docker run —gpus all IMG\n", "docker run --rm –gpus=all IMG\n"])
def test_a_dash_that_is_no_hyphen_is_reported(text: str) -> None:
    run = read("shell", "x.sh", text)
    assert [launch.image for launch in run.launches] == [None]
    assert [place.kind for place in run.not_read] == ["syntax"]


@table(
    ("text", "words"),
    [
        ("echo a b | xargs -n1 docker run --gpus all\n", ["`xargs` adds the image from its input"]),
        ("parallel docker run --gpus all ::: a b\n", []),
        ("xargs -a ports docker run --gpus all IMG -p\n", []),
        ("alias d='docker run --gpus all'\nd IMG\n", ["the uses of an alias are not followed"]),
        ("alias d=docker p='docker ps'\n", []),
    ],
)
def test_an_image_that_something_else_adds_is_reported(text: str, words: list[str]) -> None:
    assert [place.because for place in read("shell", "x.sh", text).not_read] == words


@table(
    ("text", "because"),
    [
        ("printf 'docker run --gpus all %s' IMG | sh\n", "the text that `printf` gives to `sh` is not known"),
        ("echo -e 'cd x\\ndocker run --rm IMG' | bash\n", "the text that `echo` gives to `bash` is not known"),
        ("(crontab -l; echo '@daily docker run --rm IMG') | crontab -\n",
         "its text goes to `crontab`, which is not followed"),
        ("echo 'docker run --rm IMG' >> run\n", "it is written to `run`"),
        ("echo 'docker run --rm IMG' | tee run\n", "it is written to a file by `tee`"),
        ("cat <<E | python3\nos.system('docker run --rm IMG')\nE\n",
         "its text goes to `python3`, which is not followed"),
        ("cat > run <<E\ndocker run --rm IMG\nE\n", "it is written to a file"),
        ("submit --now <<E\ndocker run --rm IMG\nE\n", "its text goes to `submit`, which is not followed"),
        ("crontab - <<< '@reboot docker run --gpus all IMG'\n", "its text goes to `crontab`, which is not followed"),
        ("sudo crontab - <<<\"@daily docker run --rm IMG\"\n", "its text goes to `crontab`, which is not followed"),
        ("sudo crontab <<E\n@daily docker run --rm IMG\nE\n", "its text goes to `crontab`, which is not followed"),
        ("submit <<< 'docker run --rm IMG'\n", "its text goes to `submit`, which is not followed"),
        ("cat <<< 'docker run --rm IMG' > run.sh\n", "it is written to `run.sh`"),
        ("cat <<< 'docker run --rm IMG' | crontab -\n", "its text goes to `crontab`, which is not followed"),
        ("echo 'docker run --gpus all IMG' >> cmds.txt\n", "it is written to `cmds.txt`"),
        ("f() { cat <<E\ndocker run --rm IMG\nE\n}\nf | ssh h bash\n", "its text goes to `ssh`, which is not followed"),
        ("f() { cat <<E\ndocker run --rm IMG\nE\n}\neval \"$(f)\"\n", "its text goes to `eval`, which is not followed"),
        ("f() { echo 'docker run --rm IMG'; }\nx; f | bash\n", "its text goes to `bash`, which is not followed"),
        ("python3 -c \"os.system('docker run --rm IMG')\"\n",
         "it is in an argument of `python3`, which is not followed"),
        ("bash -c 'docker run --gpus '\"all\"' me/train'\n",
         "it is in an argument of `bash` that is put together from several texts"),
        ("srun sh -c '\ndocker run '\"$G\"' me/train'\n",
         "it is in an argument of `srun` that is put together from several texts"),
        ("ssh h 'podman run \\\n'\"${G}\"' me/train'\n",
         "it is in an argument of `ssh` that is put together from several texts"),
        ("echo \"docker run $G IMG\" | crontab -\n", "its text goes to `crontab`, which is not followed"),
    ],
)  # fmt: skip
def test_a_launch_that_another_program_gets_is_reported(text: str, because: str) -> None:
    run = read("shell", "x.sh", text)
    assert run.launches == ()
    assert [place.because for place in run.not_read] == [because]


@table(
    "text",
    [
        "mail me <<< 'docker run --rm IMG'\n", "cat <<< 'docker run --rm IMG'\n", "read X <<< 'docker run --rm IMG'\n",
        "echo 'docker run --rm IMG' > run.md\n",
        "f() { cat <<E\ndocker run --rm IMG\nE\n}\nf | less\nf >&2\nf | tee log\n",
        "f() { echo 'docker run --rm IMG'; }\nf\nx=$(f)\nf > log\n",
        'echo "docker run $I failed" >> log\n', "warn 'docker run '\"$I\"' failed'\n", 'die "docker $C: no run $I"\n',
    ],
)  # fmt: skip
def test_a_launch_that_people_read_is_not_reported(text: str) -> None:
    run = read("shell", "x.sh", text)
    assert (run.launches, run.not_read) == ((), ())


@table(
    ("text", "lines"),
    [
        ('if x; then\n  C="docker run --gpus all"\nelse\n  C="docker run"\nfi\n$C --rm IMG\n', []),
        ('if x; then\n  C="docker run --gpus all"\nelse\n  C="ls"\nfi\necho $C --rm IMG\n', [2]),
        ('C="docker run --gpus all"\nif x; then C="docker run"; fi\neval "$C IMG"\n', [1]),
        ("if x; then C=(docker run --gpus all); fi\n\"${C[@]}\" IMG\n", []),
        ("f() {\n  local c='sudo docker run --gpus all IMG'\n  tool \"$c\"\n}\n", [2]),
        ("C=$(cat <<'E'\nsudo docker run --gpus all IMG\nE\n)\ntool \"$C\"\n", [2]),
        ('C="docker run --gpus all"\n$C IMG\n', []),
        ('C=(docker run --gpus all)\nC+=(IMG)\n"${C[@]}"\n', []),
        ('C="docker run --gpus all IMG"\nssh host "$C"\nbash -c "$C"\n', []),
        ("HELP='usage: docker run --gpus all IMG'\n", []),
        ('G="--gpus all"\nC="docker run $G"\n', [2]),
        ('C="nerdctl run ${G}"\nexport D="docker container create `f` IMG"\n', [1, 2]),
        ("C=(docker run)\nC+=(--gpus all)\n", [1]),
        ('C=(docker run --gpus all)\n"${C[0]}" "${C[@]:1}" IMG\n', []),
        ('C=(docker run --gpus all)\n"${C[0]}" ps\n', [1]),
        ("C='podman run'\n", [1]),
        ('C="docker run"\n$C --gpus all IMG\n', []),
        ('G="--gpus all"\nif x; then C="docker run $G"; else C="docker run $G --rm"; fi\n$C IMG\n', []),
        ('G=--rm\nC=(docker run)\nif x; then C=(docker run "$G"); fi\n"${C[@]}" IMG\n', []),
    ],
)
def test_a_start_in_a_variable_that_nothing_is_known_to_run_is_reported(text: str, lines: list[int]) -> None:
    found = read("shell", "x.sh", text).not_read
    assert [place.span.line for place in found] == lines
    assert {place.because for place in found} <= {"no command is known to run what the variable holds"}


@table(
    ("kind", "path", "text", "because"),
    [
        ("shell", "x.sh", "docker service create --mount type=tmpfs,destination=/dev/shm IMG\n",
         "services of a swarm are not read: they have no `--shm-size`, `--mount` sets their /dev/shm"),
        ("shell", "x.sh", "R='docker run a'; x && R='docker run b'\n$R --gpus all\n",
         "`${R}` is one container start or another, or something else"),
        ("shell", "x.sh", "R=ls; x && R='docker run'\n$R --gpus all IMG\n",
         "`${R}` is one container start or another, or something else"),
        ("shell", "x.sh", "docker ps\nfinch run --gpus all IMG\n", "`finch` is not an engine that is known"),
        *(("shell", "x.sh", f"on host {run} IMG\n", "`on` is not known to run the words after it") for run in (
            "docker run --runtime=nvidia", "podman run --device nvidia.com/gpu=all", "nvidia-docker run",
            "docker run --device /dev/kfd --device /dev/dri", "docker container run --gpus 2", "docker run --gpus $N",
        )),
        *(("shell", "x.sh", f"E=$1\n$E {run} IMG\n", "`$1` is not an engine that is known") for run in (
            "run --gpus all", "run --runtime=nvidia --rm", "container create --device nvidia.com/gpu=all",
        )),
        ("shell", "x.sh", "tee x.service <<EOF\n[Service]\nExecStart=docker run --gpus all IMG\nEOF\n",
         "`ExecStart=docker` is not known to run the words after it"),
        ("ci", ".github/workflows/x.yml",
         "jobs:\n  b:\n    steps:\n      - uses: x/docker-run@v3\n        with:\n          options: --gpus all\n",
         "what the action `x/docker-run@v3` starts is not followed"),
        ("ci", "azure-pipelines.yml",
         "steps:\n- task: Docker@2\n  inputs:\n    command: run\n    arguments: --gpus all IMG\n",
         "what the task `Docker@2` starts is not followed"),
        ("shell", "x.sh", "docker run --gpus all \\\n  --rm # IMG\n", "no image follows its options"),
        ("shell", "x.sh", "docker run --gpus all -lab-image\n", "no image follows its options"),
        ("makefile", "Makefile", "ifdef X\n\tR := docker run --gpus=all\nendif\n",
         "no recipe is known to run what the variable holds"),
        ("makefile", "Makefile", "ifdef X\nR := docker run -d --gpus=all\nelse\nR := echo\nendif\na:\n\t$(R) IMG\n",
         "variable R is set in several ways; the commands that begin with it are not read"),
        ("makefile", "Makefile", "a: R = docker run --gpus=all\na:\n\t$(R) IMG\n",
         "variable R is set in several ways; the commands that begin with it are not read"),
        ("makefile", "Makefile", "export R ?= sudo docker run --gpus=all IMG\na:\n\tls $(RM)\n",
         "no recipe is known to run what the variable holds"),
        ("makefile", "x.mk", "G = --gpus all\nR = podman run $(G)\n",
         "no recipe is known to run what the variable holds"),
        ("makefile", "x.mk", "E ?= docker\nR := $(E) run --rm ${G}\n",
         "no recipe is known to run what the variable holds"),
        ("makefile", "Makefile", "a:\n\tls\n\tR = docker run --gpus=all\n",
         "`R` is not known to run the words after it"),
        ("makefile", "Makefile", "# x\ndocker run --gpus all \\\n  IMG\na:\n\tls\n", "it is not in a recipe"),
        ("markdown", "x.md", "```yaml\nrun: |\n  docker run --gpus all IMG\n```\n",
         "a block of `yaml` is not read as commands"),
        ("markdown", "x.md", "<!-- later:\n```\ndocker run --gpus all IMG\n```\n-->\n", "it is in a comment of HTML"),
        ("markdown", "x.md", "<pre><code class=sh>\n$ docker run --gpus all IMG</code></pre>\n",
         "commands in HTML are not read"),
    ],
)  # fmt: skip
def test_a_launch_that_is_written_for_something_else_is_reported(kind: str, path: str, text: str, because: str) -> None:
    run = read(kind, path, text)
    assert run.launches == ()
    assert [place.because for place in run.not_read] == [because]


@table(
    ("kind", "path", "text", "shown"),
    [
        ("makefile", "Makefile", "E := $(shell which podman || echo docker)\na:\n\t$(E) run --gpus all IMG\n",
         "$(shell which podman || echo docker)"),
        ("makefile", "Makefile", "a:\n\t$(or $(X),docker) run --gpus all IMG\n", "$(or $(X),docker)"),
        ("makefile", "justfile", "a:\n  {{ env('E', 'docker') }} run --gpus all IMG\n", "{{ env('E', 'docker') }}"),
        ("ci", ".github/workflows/x.yml",
         "jobs:\n  b:\n    steps:\n      - run: |\n          docker ps; ${{ inputs.tool }} run --gpus all IMG\n",
         "${{ inputs.tool }}"),
        ("taskfile", "Taskfile.yml", "vars: {E: {sh: which docker}}\ntasks: {a: '{{.E}} run --gpus all IMG'}\n",
         "{{.E}}"),
        ("jenkinsfile", "Jenkinsfile",
         'node { stage("a") { sh "docker ps; ${params.A_TOOL_OF_A_RATHER_LONG_NAME_HERE} run --gpus all IMG" } }\n',
         "${params.A_TOOL_OF_A_RATHER_LONG_NAME_HERE}"),
        ("systemd", "x.service", "# docker\n[Service]\nExecStart=/opt/%i run --gpus all IMG\n", "/opt/%i"),
    ],
)  # fmt: skip
def test_a_reason_shows_an_expression_as_it_is_written(kind: str, path: str, text: str, shown: str) -> None:
    run = read(kind, path, text)
    assert [place.because for place in run.not_read] == [f"`{shown}` is not an engine that is known"]


@table(
    "text",
    [
        "echo 'Start it: docker run --rm IMG'\n", "echo 'docker run --rm IMG' >&2\n",
        "echo 'docker run --rm IMG' >> notes.md\n",
        "printf 'docker run --rm IMG' >/dev/tty\n",
        "cat <<E\ndocker run --rm IMG\nE\n", "echo 'docker run --rm IMG' | fold -s\n", "echo docker run --rm IMG\n",
    ],
)  # fmt: skip
def test_what_is_only_printed_is_no_launch(text: str) -> None:
    run = read("shell", "x.sh", text)
    assert (run.launches, run.not_read) == ((), ())


@table(
    "text",
    [
        "make -j8 docker run\n", "on host docker run IMG\n", "needs docker run\n", "E=$1\n$E run --gpus 2 x.py\n",
        "E=$1\n$E run --rm IMG\n",
    ],
)  # fmt: skip
def test_what_starts_no_container_with_gpus_is_not_reported(text: str) -> None:
    run = read("shell", "x.sh", text)
    assert (run.launches, run.not_read) == ((), ())


def test_an_image_of_several_lines_is_shown_in_one() -> None:
    (launch,) = read("shell", "x.sh", "docker run --gpus all \"$(cat f <<X\nfoo\nX\n)\"\n").launches
    assert launch.image is not None and launch.image.text == "$(cat f <<X foo X )…"


@pytest.mark.parametrize(
    "text",
    ["docker run IMG\necho a \\ # b\n", "docker run IMG\nif x; then\n  -x\nfi\n", "docker run \\\n --rm \\\n IMG\n"],
)
def test_what_a_shell_reads_the_same_is_not_reported(text: str) -> None:
    assert read("shell", "x.sh", text).not_read == ()


RUN = "docker run --gpus all IMG\n"


@pytest.mark.parametrize(
    ("kind", "path", "text"),
    [
        ("shell", "x.sh", "docker run -v <PATH>:/data IMG\n"),
        ("shell", "x.sh", "docker run --gpus all -v <the data>:/data IMG\n"),
        ("shell", "x.sh", "find . -name '*.py' -exec docker run --gpus all IMG {} \\;\n"),
        ("shell", "x.sh", "trap 'docker run --gpus all IMG' EXIT\n"),
        ("shell", "x.sh", "gcloud compute ssh vm --command='cd x && docker run --gpus all IMG'\n"),
        ("shell", "x.sh", "I=IMG\nsbatch --gpus=8 --wrap=\"docker run --gpus all $I\"\n"),
        ("shell", "x.sh", "trap 'docker run --gpus all $I' EXIT INT\nI=IMG\n"),
        ("shell", "x.sh", "echo 'docker run --gpus all IMG' | sudo bash -x\n"),
        ("shell", "x.sh", "I=IMG\necho -n docker run --gpus all $I | ssh host >log 2>&1\n"),
        ("shell", "x.sh", "printf 'docker run --gpus all IMG\\n' | sh\n"),
        ("shell", "x.sh", "{ echo cd /; printf '%s\\n' \"docker run --gpus all IMG\"; } | at now\n"),
        ("shell", "x.sh", "C=\"docker run --gpus all --name $X IMG\"\nssh $h \"$C bash -c \\\"a b\\\"\"\n"),
        ("shell", "x.sh", "docker run --gpus all -e X=$X\n--rm \\\n-e A=<> IMG\n"),
        ("shell", "x.sh", "newgrp docker <<E\ndocker run --gpus all IMG\nE\n"),
        ("shell", "x.sh", "sg docker <<< 'docker run --gpus all IMG'\n"),
        ("shell", "x.sh", "echo 'docker run --gpus all IMG' | newgrp docker\n"),
        ("shell", "x.sh", "bash <(echo docker run --gpus all IMG)\n"),
        ("shell", "x.sh", "cat > start.sh <<'E'\ndocker run --gpus all IMG\nE\n"),
        ("shell", "x.sh", "cat <<E | at now\ndocker run --gpus all IMG\nE\n"),
        ("makefile", "Makefile", "a:\n\tdocker run \\\n\t\t# all\n\t\t--gpus all IMG\n"),
        ("makefile", "Makefile", "a:\n\tdocker run --gpus all \\ \n\t  IMG\n"),
        ("makefile", "Makefile", "a:\n\t@docker run\n\t  --gpus all \\\n\t  IMG\n\t-docker rm x\n"),
        ("ci", "bitbucket-pipelines.yml",
         f"pipelines:\n  default:\n    - step:\n        script:\n          - {RUN}          - pipe: x\n"),
        ("ci", "cloudbuild.yaml",
         "steps:\n- name: gcr.io/cloud-builders/docker\n  args: [run, --gpus, all, IMG, python]\n"),
        ("shell", "x.sh", "docker run -e X=<your token> IMG\n".replace("your token", "TOKEN")),
        ("markdown", "x.md", f"```python\n{RUN}```\n"),
        ("markdown", "x.md", f"```bash\nws $ {RUN}```\n"),
        ("markdown", "x.md", f"Run\n\n    {RUN}\n"),
        ("markdown", "x.md", f"Start it:\n\n{RUN}\nand wait\n"),
        ("markdown", "x.md", "1. x\n\n   $ docker run --gpus all \\\n   --rm IMG\n"),
        ("markdown", "x.md", "```bash\nI=IMG\n```\n\n```bash\ndocker run --gpus all $I\n```\n"),
        ("ci", ".circleci/config.yml", f"jobs:\n  b:\n    steps:\n      - run:\n          command: {RUN}"),
        ("ci", ".circleci/config.yml",
         "commands:\n  b:\n    steps:\n      - run: docker run --gpus all --shm-size=<< parameters.s >> IMG\n"),
        ("ci", ".github/workflows/x.yml",
         "env:\n  I: IMG\njobs:\n  b:\n    steps:\n      - run: docker run --gpus all $I\n"),
        ("ci", ".gitlab-ci.yml", "variables:\n  I: IMG\na:\n  script:\n    - docker run --gpus all $I\n"),
        ("makefile", "Makefile", "I := IMG#c\nx:\n\tdocker run --gpus all $(I)\n"),
    ],
)  # fmt: skip
def test_a_launch_is_recovered(kind: str, path: str, text: str) -> None:
    (launch,) = read(kind, path, text).launches
    assert launch.image is not None and launch.image.text == IMAGE


@pytest.mark.parametrize(
    ("kind", "path", "text"),
    [
        ("ci", ".github/workflows/x.yml",
         "env:\n  I: IMG\njobs:\n  b:\n    steps:\n      - run: |\n          echo I=x >> $GITHUB_ENV\n"
         "          docker run --gpus all $I\n"),
        ("markdown", "x.md", "```bash\nI=IMG\n```\n```bash\nI=x\n```\n```bash\ndocker run --gpus all $I\n```\n"),
    ],
)  # fmt: skip
def test_a_variable_that_is_set_otherwise_is_not_known(kind: str, path: str, text: str) -> None:
    (launch,) = read(kind, path, text).launches
    assert launch.image is not None and launch.image.text == "$I"


def test_a_block_of_another_language_is_reported() -> None:
    run = read("markdown", "x.md", f"```json\n{{\n}}\n{RUN}```\n")
    assert [place.span.line for place in run.not_read] == [4]


def test_what_a_plugin_starts_with_a_gpu_is_reported() -> None:
    address = '"ssh://git@github.com/buildkite-plugins/docker-buildkite-plugin.git#v3"'
    plugins = (
        "docker#v5: {image: x, gpus: all, shm-size: 1g}", f"{address}: {{image: x, runtime: nvidia}}",
        "docker#v5: {image: x, devices: [/dev/nvidia0]}", "docker#v5: {image: redis}", "docker#v5:",
        "docker-compose#v5: {run: app}", "docker-login#v3: {gpus: all}",
    )  # fmt: skip
    text = "steps:\n- plugins:\n" + "".join(f"  - {plugin}\n" for plugin in plugins)
    run = read("ci", ".buildkite/pipeline.yml", text)
    assert [place.span.line for place in run.not_read] == [3, 4, 5]
    assert run.not_read[0].because == "what the plugin `docker#v5` starts is not followed"
