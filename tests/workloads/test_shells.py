"""What a shell, a notebook or a dev container needs."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.table import table
from tests.workloads.cases import (
    ALONE,
    CELLS,
    CONTAINER,
    DOCKERFILE,
    GIT,
    GPUS,
    HELPER,
    LOADER,
    NGC,
    PAINTS,
    PYTORCH,
    RANKS,
    RANKS_SH,
    SERVE,
    SHELL,
    WITH_LOADER,
    compose,
    need,
)

PREDICTOR = """
from detectron2 import model_zoo
from detectron2.config import get_cfg
from detectron2.engine import {}
import cv2

predictor = DefaultPredictor(get_cfg())
predictor(cv2.imread("a.png"))
"""


@table(
    "name, text, verdict",
    [
        ("ask.py", PAINTS, "likely"),  # nothing says that it is PyTorch
        ("ask.py", f"import torch\n{PAINTS}", "unknown"),
        ("ask.py", "import torch\nprint(torch.cuda.is_available())\n", "likely"),
        ("ask.py", f"import torch\n{PAINTS}model.train(epochs=3)\n", "likely"),
        ("ask.py", f"import torch\n{PAINTS}loss.backward(); run(workers=4)\n", "likely"),
        ("tools/train_it.py", f"import torch\n{PAINTS}", "likely"),
        ("ask.py", f"import torch, pytorch_lightning\n{PAINTS}", "unknown"),
        ("ask.sh", "python -m unheard_of --workers 4\n", "likely"),
        # detectron2's predictor is for single pictures, its trainer loads with workers.
        ("ask.py", PREDICTOR.format("DefaultPredictor"), "unknown"),
        ("ask.py", PREDICTOR.format("DefaultPredictor") + "from detectron2.data import build_x\n", "likely"),
        ("ask.py", PREDICTOR.format("DefaultTrainer"), "likely"),
        ("ask.py", PREDICTOR.format("DefaultPredictor, DefaultTrainer"), "likely"),
        ("ask.py", PREDICTOR.format("DefaultPredictor") + "from detectron2.engine import *\n", "likely"),
    ],
)
def test_a_shell_for_code_that_only_uses_models(tmp_path: Path, name: str, text: str, verdict: str) -> None:
    files = {"run.sh": "docker build -t own .\ndocker run --gpus all -v /data:/data -it own bash\n", name: text}
    files |= {"Dockerfile": "FROM ubuntu\nRUN pip install torch\n"}
    shutil.rmtree(tmp_path / "tools", ignore_errors=True)
    for old in tmp_path.glob("ask.*"):
        old.unlink()
    assert need(tmp_path, files).verdict == verdict


@table(
    "image, code, verdict",
    [
        ("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", "import unheard_of\n", "likely"),
        # TensorFlow and JAX load by threads; of their several GPUs the code tells.
        ("tensorflow/tensorflow:2.15.0-gpu", "import unheard_of\n", "unknown"),
        ("nvcr.io/nvidia/jax:26.01-py3", "import unheard_of\n", "unknown"),
    ],
)
def test_a_shell_for_training_that_was_not_read(tmp_path: Path, image: str, code: str, verdict: str) -> None:
    start = f"docker run -it --gpus all -v $PWD:/app -w /app {image}\n"
    files = {"README.md": f"# Fit\n\n```bash\n{start}```\n\n```bash\npython train.py\n```\n", "train.py": code}
    assert need(tmp_path, files).verdict == verdict


BACKWARD = "import torch\nimport unheard_of\nloss = unheard_of.render()\nloss.backward()\n"


@table(
    "installs, shown, more, verdict",
    [
        ("torch", "python train.py", "", "unknown"),
        ("flask", "python train.py", "", "unknown"),
        ("torch", "python train.py --workers 4", "", "likely"),
        ("torch", "python train.py", f"{WITH_LOADER}DataLoader([], num_workers=4)\n", "likely"),
        ("torch", "python train.py", "exec(input())\n", "likely"),
        ("torch", "python train.py\npython train_other.py", "", "likely"),
        ("torch", "python train_elsewhere.py", "", "likely"),
        # Of JAX nothing has workers; what an unknown package does is another matter with PyTorch.
        ("flask", "python train_jax.py", "", "unknown"),
        ("torch", "python train_jax.py", "", "likely"),
        ("flask", "python train_jax.py --workers 4", "", "likely"),
        # It was read to its end, and the steps are in a module of it.
        ("torch", "python train_whole.py", "", "unknown"),
        ("torch", "python train_whole.py\npython train_other.py", "", "likely"),
        ("torch", "python train_loading.py", "", "likely"),
        # Only a package is not known, and the steps are in a module of it.
        ("torch", "python train_apart.py", "", "unknown"),
        ("torch", "python train_aside.py", "", "likely"),
        # Stable-Baselines3 steps environments: what is unknown are these.
        ("torch", "python train_agent.py", "", "unknown"),
        ("torch", "python train_agent.py\npython train_other.py", "", "likely"),
    ],
)
def test_a_shell_for_training_that_takes_its_steps_itself(
    tmp_path: Path, installs: str, shown: str, more: str, verdict: str
) -> None:
    start = "docker build -t scenes .\ndocker run --gpus all -it scenes bash\n"
    files = {"README.md": f"# Scenes\n\n```bash\n{start}```\n\n```bash\n{shown}\n```\n", "train.py": BACKWARD + more}
    files |= {"Dockerfile": f"{DOCKERFILE}RUN pip install {installs}\n", "train_other.py": "import unheard_of\n"}
    files["train_jax.py"] = "import jax, unheard_of\nprint(jax.grad(unheard_of.loss)(1.0))\n"
    files |= {"train_whole.py": "import parts.whole\n", "train_loading.py": "import parts.loading\n"}
    steps = BACKWARD.replace("import unheard_of\n", "").replace("unheard_of.render", "torch.rand")
    files["parts/whole.py"] = steps
    files["parts/steps.py"] = "import torch\n\ndef go(data):\n    data.loss().backward()\n"
    files["train_apart.py"] = "import parts.steps, unheard_of\nparts.steps.go(unheard_of.data())\n"
    files["train_aside.py"] = "import parts.steps, unheard_of\nunheard_of.go()\n"
    files["train_agent.py"] = "import unheard_of\nfrom parts.agent import go\ngo(unheard_of.Env())\n"
    files["parts/agent.py"] = (
        "from stable_baselines3 import PPO\ndef go(env):\n    PPO('MlpPolicy', env).learn(total_timesteps=9)\n"
    )
    files["parts/loading.py"] = f"{WITH_LOADER}DataLoader([], num_workers=4)\n"
    assert need(tmp_path, files).verdict == verdict


LOADS = "import torch, transformers\nmodel = transformers.AutoModel.from_pretrained('a')\nmodel.eval()\n"


@table(
    "text, requirements, verdict",
    [
        (LOADS, "transformers", "not-needed"),
        (LOADS, "transformers\nunheard-of", "not-needed"),
        (LOADS, "transformers\ntrl", "unknown"),
        (LOADS, "torch\njupyterlab", "unknown"),
        (LOADS.replace("torch,", "torch, unheard_of,"), "torch", "unknown"),
        (LOADS.replace("torch,", ""), "transformers", "not-needed"),
        ("from transformers import pipeline\nprint(pipeline('text-generation')('x'))\n", "transformers", "not-needed"),
        ("import onnxruntime\nprint(onnxruntime.InferenceSession('a').run(None, {}))\n", "onnxruntime", "not-needed"),
        ("import torch\nprint(torch.jit.load('a')(1))\n", "torch", "not-needed"),
        ("import onnxruntime, unheard_of\nonnxruntime.InferenceSession('a')\n", "onnxruntime", "unknown"),
        (LOADS + "loader = torch.utils.data.DataLoader([], num_workers=4)\n", "torch", "likely"),
        (LOADS + "trainer.train(model)\n", "transformers", "unknown"),
        ("import torch\nprint(torch.cuda.is_available())\n", "transformers", "unknown"),
    ],
)
def test_a_dev_container_for_code_that_only_uses_models(
    tmp_path: Path, text: str, requirements: str, verdict: str
) -> None:
    container = '{"image": "mcr.microsoft.com/devcontainers/python", "runArgs": ["--gpus=all"]}\n'
    files = {".devcontainer/devcontainer.json": container, "ask.py": text, "requirements.txt": requirements}
    assert need(tmp_path, files, (".devcontainer/devcontainer.json",)).verdict == verdict


@table(
    "image, packages, verdict",
    [
        ("python:3.12", "RUN pip install torch\n", "likely"),
        ("python:3.12", "COPY requirements.txt .\nRUN pip install -r requirements.txt\n", "likely"),
        ("python:3.12", "RUN pip install flask\n", "unknown"),
        ("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", "", "likely"),
        # Packages by their addresses and files
        ("python:3.12", f"RUN pip install 'git+{GIT}/detectron2.git@v0.6'\n", "likely"),
        ("python:3.12", f"RUN pip3 install -e git+{GIT}/fork.git#egg=fairseq\n", "likely"),
        ("python:3.12", "RUN pip install git+ssh://git@example.org/me/kornia\n", "likely"),
        ("python:3.12", f"RUN pip install git+{GIT}/tool.git\n", "unknown"),
        ("python:3.12", "RUN pip install https://example.org/torch-1.10.0%2Bcu111-cp39-cp39-linux.whl\n", "likely"),
        ("python:3.12", "COPY torch-1.10.0-cp39.whl /tmp\nRUN pip install /tmp/torch-1.10.0-cp39.whl\n", "likely"),
        ("python:3.12", "RUN pip install ./torch-*.whl\n", "likely"),
        ("python:3.12", "RUN pip install tool-1.10.0-cp39.whl torchless-1.0.whl\n", "unknown"),
        ("python:3.12", "COPY wheels.txt .\nRUN pip install -r wheels.txt\n", "likely"),
        ("python:3.12", "COPY git.txt .\nRUN pip install -r git.txt\n", "likely"),
        # Packages that a script installs which the build starts
        ("python:3.12", "COPY . /app\nRUN cd /app && JOBS=4 /bin/bash -e /app/setup.sh\n", "likely"),
        ("python:3.12", "WORKDIR /app\nCOPY setup.sh .\nRUN chmod +x setup.sh && ./setup.sh\n", "likely"),
        ("python:3.12", "COPY setup.sh /tmp/setup.sh\n", "unknown"),
        ("python:3.12", "COPY tools.sh /tmp/\nRUN sh /tmp/tools.sh\n", "unknown"),
    ],
)
def test_packages_decide_what_a_shell_may_need(tmp_path: Path, image: str, packages: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("bash"), "requirements.txt": "torch==2.5\n",
        "Dockerfile": f"FROM {image}\n{packages}",
    }  # fmt: skip
    files |= {"setup.sh": "pip install \\\n  numpy torch\n"}
    files |= {"tools.sh": "# pip install torch\necho pip install torch\npip install flask\n"}
    files |= {"wheels.txt": "https://example.org/whl/torch-2.0.0-cp39.whl\n", "git.txt": f"-e git+{GIT}/trl.git@1\n"}
    assert need(tmp_path, files).verdict == verdict


AS_ROOT = "```bash\ndocker compose exec app bash\n```\n\n```console\n# python own.py\n\n# python own.py -v\n```\n"
ACTORS = "import ray\n\n\ndef start():\n    ray.init(%s)\n"


@table(
    "installed, code, more, verdict",
    [
        ("ray[tune]", ACTORS % "num_cpus=4", {}, "likely"),
        ("ray[tune]", "from ray import tune\ntune.run(steps)\n", {}, "likely"),
        ("ray", ACTORS % "", {"README.md": AS_ROOT}, "unknown"),
        ("ray", "import ray\nray.init()\n", {"README.md": AS_ROOT}, "needed"),
        # Another cluster, nothing that starts it, another package.
        ("ray", ACTORS % "'ray://head:10001'", {}, "unknown"),
        ("ray", ACTORS % "address='auto'", {}, "unknown"),
        ("ray", "import ray\n\n@ray.remote\ndef step():\n    pass\n", {}, "unknown"),
        ("ray", "ray.init()\n", {}, "unknown"),
        ("flask", ACTORS % "", {}, "unknown"),
    ],
)  # fmt: skip
def test_a_shell_for_code_that_starts_ray(
    tmp_path: Path, installed: str, code: str, more: dict[str, str], verdict: str
) -> None:
    files = {
        "compose.yaml": compose("bash", "    tty: true\n    volumes: [.:/app]\n"), "own.py": code, **more,
        "Dockerfile": f"FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install {installed}\nWORKDIR /app\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_list_of_packages_as_powershell_writes_it(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "requirements.txt").write_bytes("torch==2.5\r\n".encode(encoding))
    build = "FROM python:3.12\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n"
    assert need(tmp_path, {"compose.yaml": compose("bash"), "Dockerfile": build}).verdict == "likely"


@table(
    "name, text",
    [
        ("README.md", f"```bash\n{SHELL} bash\n```\n\n```bash\nsource config.sh\n./ranks.sh\n```\n"),
        ("README.md", f"```bash\n{SHELL} bash\n```\n\n```bash\nGPUS=8 ./ranks.sh\n```\n"),
        ("README.md", f"```bash\n{SHELL} sleep infinity\n```\n\n```bash\ndocker exec -it box python train.py\n```\n"),
        ("start.sh", f"{SHELL} sleep infinity\ndocker exec -w /app box python train.py\n"),
    ],
)
def test_what_runs_later_in_a_shell_counts(tmp_path: Path, name: str, text: str) -> None:
    files = {name: text, "train.py": LOADER, "config.sh": "export GPUS=4\n", "ranks.sh": RANKS_SH}
    assert need(tmp_path, files).verdict == "needed"


WAITS = "name=box\n" + SHELL.replace("-it", "-dit").replace("box", '"$name"') + " bash\n"
OUTSIDE = f"docker run -dit --name box {SHELL.split()[-1]}\ndocker exec box python prepare.py\n"
HELD = f"id=$(docker run -d --gpus all -v $PWD:/app -w /app {PYTORCH} bash)\n"
JOB = (
    "jobs:\n  a:\n    steps:\n      - run: |\n"
    f"          ID=$(docker run -d --gpus all -v $PWD:/app -w /app {PYTORCH} bash)\n"
    '          echo "ID=$ID" >> $GITHUB_ENV\n      - run: {}\n'
)
OF_TOP = "jobs:\n  a:\n    steps:\n      - run: docker run --gpus all -v {}:/w -w /w own/app python fit.py\n"
GOES_ON = "```\n./start.sh\n{}\n```\n"
STEPS = f"jobs:\n  a:\n    steps:\n      - run: {SHELL} bash\n      - run: docker exec -w /app box python serve.py\n"


@table(
    "files, verdict",
    [
        ({"start.sh": WAITS + 'docker exec -d "$name" sh -c "export A=1 && python serve.py"\n'}, "not-needed"),
        ({"start.sh": WAITS + 'docker exec -d "$name" python train.py --workers 0\n'}, "not-needed"),
        ({"start.sh": WAITS + "docker container exec -d box python train.py\n"}, "needed"),
        ({"start.sh": WAITS + "docker exec -eA=1 --workdir work box python big.py --workers 0\n"}, "not-needed"),
        ({".github/workflows/a.yml": STEPS}, "not-needed"),
        # Only the script enters the container.
        ({"start.sh": WAITS + "docker exec box python serve.py\ndocker exec -it box bash\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box python serve.py\n", "in.sh": "docker exec -it box bash\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box python serve.py\n", "README.md": "`docker attach box`\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box python serve.py\n", "A.markdown": "`docker attach box`\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box python serve.py\n", "other.sh": OUTSIDE}, "not-needed"),
        ({"start.sh": WAITS + "docker exec other python serve.py\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec $OTHER python serve.py\n"}, "likely"),
        # A page that goes on in it tells more than a shell that its script opens.
        ({"start.sh": WAITS + "docker exec -it box bash\n", "README.md": GOES_ON.format("torchrun a.py")}, "likely"),
        ({"start.sh": WAITS + "docker exec -it box bash\n", "README.md": GOES_ON.format(f"{RANKS} a.py")}, "needed"),
        # What prepares a container does not say what it is for.
        ({"start.sh": WAITS + "docker exec box bash prepare.sh\n"}, "likely"),
        ({"start.sh": WAITS + "docker exec box pip install -e .\n"}, "likely"),
        # What notes show behind a shell is typed in it, and what else is typed is unknown.
        ({"start.sh": WAITS + 'docker exec -it "$name" /bin/bash\ncd work\npython alone.py\n'}, "unknown"),
        ({"start.sh": WAITS + 'docker exec -it "$name" bash\npython alone.py\n'}, "unknown"),
        ({"start.sh": WAITS + 'docker exec -it "$name" bash\npython train.py --workers 0\n'}, "likely"),
        ({"start.sh": WAITS + 'docker exec -it "$name" bash\nexit\npython alone.py\n'}, "likely"),
        ({"start.sh": WAITS + 'docker exec -it other bash\npython alone.py\n'}, "likely"),
        ({"start.sh": f"{SHELL}\npython alone.py\n"}, "unknown"),
        ({"start.sh": f"{SHELL}\nexit\npython alone.py\n"}, "likely"),
        ({"start.sh": f"{SHELL.replace(' -it ', ' -dit ')}\npython alone.py\n"}, "likely"),
        ({"start.sh": WAITS + 'docker exec "$name" bash\npython alone.py\n'}, "likely"),
        ({"start.sh": WAITS + 'docker exec -it "$name" bash -l x.sh\npython alone.py\n'}, "likely"),
        # What it is given may say otherwise.
        ({"start.sh": WAITS + "docker exec $MORE box python serve.py\n"}, "unknown"),
        ({"start.sh": WAITS + "docker exec --env-file env box python serve.py\n"}, "unknown"),
        # A variable holds the id of this container.
        ({"start.sh": HELD + 'docker exec "$id" python serve.py\n'}, "not-needed"),
        ({"start.sh": HELD + 'docker exec "$id" python train.py\n'}, "needed"),
        ({"start.sh": HELD + 'docker exec "$other" python serve.py\n'}, "likely"),
        ({"start.sh": HELD + 'docker exec "$id" python serve.py\ndocker exec -it "$id" bash\n'}, "likely"),
        ({"start.sh": f"{HELD}docker exec $id python serve.py\n{HELD}docker exec $id python train.py\n"}, "not-needed"),
        ({"start.sh": f"if a; then\n{HELD}else\n{HELD}fi\ndocker exec $id python train.py\n"}, "needed"),
        ({"start.sh": HELD + 'docker exec "$id" bash -c "cat > a <<EOF\nb\nEOF\npython serve.py"\n'}, "not-needed"),
        # Nobody but the job of a pipeline enters what it starts.
        ({".github/workflows/a.yml": JOB.format("docker exec $ID python serve.py")}, "not-needed"),
        ({".github/workflows/a.yml": JOB.format("docker exec ${{{{ env.ID }}}} python train.py")}, "needed"),
        ({".github/workflows/a.yml": JOB.format("docker exec $ID ffmpeg -i a.mp4 b.mp4")}, "not-needed"),
        ({".github/workflows/a.yml": JOB.format("docker exec $ID bash prepare.sh")}, "unknown"),
        ({".github/workflows/a.yml": JOB.format("docker exec $OTHER python serve.py")}, "likely"),
        # But for the scripts that it runs.
        ({".github/workflows/a.yml": JOB.format("docker exec $ID python serve.py\n      - run: make train"),
          "Makefile": "train:\n\tdocker exec $$ID python train.py\n"}, "likely"),
    ],
)
def test_what_only_a_script_runs_in_its_container(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    code = {"train.py": LOADER, "serve.py": SERVE, "helper.py": HELPER, "work/big.py": LOADER, "alone.py": ALONE}
    assert need(tmp_path, code | files).verdict == verdict


RECIPES = "train check:\n\tpython train.py\n"
CPUS = LOADER.replace("num_workers=args.workers", "num_workers=min(args.batch_size, os.cpu_count())")


@table(
    "files, verdict",
    [
        # A page further away counts where the README tells of no program.
        ({"docs/training.md": "    python train.py\n", "train.py": LOADER}, "needed"),
        ({"docs/training.md": "    python train.py --workers 0\n", "train.py": LOADER}, "likely"),
        ({"GETTING_STARTED.md": "    python train.py\n", "train.py": LOADER}, "needed"),
        ({"CHANGES.md": "    python train.py\n", "train.py": LOADER}, "likely"),
        ({"README.md": "```\n./train.py --workers 4\n```\n", "train.py": LOADER}, "needed"),
        # A name alone is one in a list of files: no shell finds it.
        ({"README.md": "```\ntrain.py\nrun.sh\n```\n", "docs/start.md": "    python train.py\n", "train.py": LOADER},
         "needed"),
        ({"README.md": "```\nmake train\n```\n", "Makefile": RECIPES, "train.py": LOADER}, "needed"),
        ({"README.md": "```\nmake check\n```\n", "Makefile": RECIPES, "train.py": LOADER}, "likely"),
        ({"README.md": "```\npython train.py\n```\n", "train.py": LOADER}, "needed"),
        ({"README.md": "```\npython train.py --batch-size 1\n```\n", "train.py": LOADER}, "likely"),
        ({"README.md": "```\napp-train\n```\n", "train.py": LOADER}, "needed"),
        # One worker is enough, however many CPUs there are.
        ({"README.md": "```\npython train.py\n```\n", "train.py": CPUS}, "needed"),
        ({"README.md": "```\npython train.py --batch-size 4\n```\n", "train.py": CPUS}, "likely"),
        # Nothing says that it is run here.
        ({"train.py": LOADER}, "likely"),
    ],
)
def test_what_a_dev_container_is_for(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    project = '[project]\nname = "app"\n[project.scripts]\napp-train = "train:main"\n'
    files = {".devcontainer/devcontainer.json": CONTAINER, "pyproject.toml": project, **files}
    assert need(tmp_path, files).verdict == verdict


@table(
    "path, line, verdict",
    [
        ("Makefile", "train:\n\tdocker compose run --rm app python train.py", "needed"),
        ("Makefile", "UP = docker compose -f compose.yaml\ntrain:\n\t$(UP) run --rm -e A=1 app python train.py",
         "needed"),
        ("justfile", "train:\n    docker compose exec -T app python train.py", "needed"),
        ("scripts/train.sh", "docker-compose --profile gpu run --name it app python train.py", "needed"),
        ("train.sh", "docker compose run app python train.py --workers 0", "likely"),
        ("train.sh", "docker compose up -d app", "likely"),
        # Another service, file or program, or without a GPU.
        ("train.sh", "docker compose run other python train.py", "likely"),
        ("train.sh", "docker compose -f other.yaml run app python train.py", "likely"),
        ("train.sh", "docker compose run --entrypoint sh app python train.py", "likely"),
        ("train.sh", "docker compose run -e NVIDIA_VISIBLE_DEVICES= app python train.py", "likely"),
        ("train.sh", "echo 'docker compose run app python train.py'", "likely"),
    ],
)
def test_what_scripts_run_in_a_service(tmp_path: Path, path: str, line: str, verdict: str) -> None:
    build = f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n"
    files = {"compose.yaml": compose("sleep infinity"), "Dockerfile": build, "train.py": LOADER}
    assert need(tmp_path, {**files, path: f"{line}\n"}).verdict == verdict


@table(
    "path, line, verdict",
    [
        ("bin/train.sh", "docker compose run --rm app python train.py", "needed"),
        ("bin/train.sh", "docker compose run --rm app python train.py --workers 0", "likely"),
        ("README.md", "```\ndocker compose run --rm app python train.py\n```", "needed"),
        ("README.md", "```\ndocker compose run --rm app bash\npython train.py\n```", "needed"),
        # What a page runs elsewhere, nobody runs in a container that ends at once.
        ("README.md", "```\npython train.py\n```", "likely"),
    ],
)
def test_what_is_run_in_a_service_without_a_command(tmp_path: Path, path: str, line: str, verdict: str) -> None:
    build = f"FROM {PYTORCH}\nWORKDIR /app\nCOPY . .\n"
    service = "services:\n  app:\n    build: .\n    gpus: all\n"
    files = {"compose.yaml": service, "Dockerfile": build, "train.py": LOADER}
    assert need(tmp_path, {**files, path: f"{line}\n"}).verdict == verdict


OTHER = '{"image": "example.org/team/tools:1", "workspaceFolder": "/app", "runArgs": ["--gpus", "all"]}'
WITH_WORKERS = "from torch.utils.data import DataLoader\nDataLoader(data(), num_workers=%s)\n"


@table(
    "container, files, verdict",
    [
        (OTHER, {"src/fit.py": WITH_WORKERS % "n"}, "likely"),
        (OTHER, {"src/fit.py": WITH_WORKERS % "0"}, "not-needed"),
        (OTHER, {"src/fit.py": WITH_WORKERS.replace("torch.utils.data", "own.loading") % "n"}, "unknown"),
        (OTHER, {"requirements/dev.txt": "torch==2.5\n"}, "likely"),
        (OTHER, {"requirements/prod.in": "torch\n"}, "likely"),
        (OTHER, {"requirements.in": "torch\n"}, "likely"),
        (OTHER, {"requirements/notes.md": "- torch\n"}, "unknown"),
    ],
)
def test_a_dev_container_of_unknown_packages(
    tmp_path: Path, container: str, files: dict[str, str], verdict: str
) -> None:
    assert need(tmp_path, {".devcontainer/devcontainer.json": container, **files}).verdict == verdict


@table(
    "options, code, more, verdict",
    [
        ("-v $PWD:/w -w /w", WITH_WORKERS % "n", {}, "likely"),
        ("-v $PWD:/w -w /w", WITH_WORKERS % "0", {}, "not-needed"),
        ("-v $PWD/data:/w -w /w", WITH_WORKERS % "n", {"data/a.csv": "1\n"}, "unknown"),
        ("", WITH_WORKERS % "n", {}, "unknown"),
        ("-v $PWD:/w -w /w", WITH_WORKERS % "n", {"README.md": "```sh\npython src/fit_all.py -n\n```\n"}, "likely"),
        ("-v $PWD:/w -w /w", WITH_WORKERS % "n",
         {"README.md": "```sh\npython ask.py -n\n```\n", "ask.py": "1\n"}, "unknown"),
    ],
)
def test_a_shell_of_an_unknown_image_for_the_repository(
    tmp_path: Path, options: str, code: str, more: dict[str, str], verdict: str
) -> None:
    start = f"docker run -it --gpus all {options} example.org/team/tools:1 bash\n"
    assert need(tmp_path, {"start/shell.sh": start, "src/fit_all.py": code, **more}).verdict == verdict


MARKDOWN = '{"cell_type": "markdown", "source": ["distributed"]}'
TRAINER = "from transformers import Trainer\nTrainer(model, train_dataset=data).train()\n"
ONE_IMAGE = LOADER.replace("default=64", "default=1")


@table(
    "base, program, verdict",
    [
        (NGC, ALONE, "unknown"),
        (NGC, ALONE.replace("=4", "=4, num_workers=n"), "likely"),
        (NGC, ALONE + "DataLoader(data(), num_workers=2)\n", "likely"),
        (NGC, ALONE + "import importlib, sys\nimportlib.import_module(sys.argv[1])\n", "likely"),
        ("python:3.12", ALONE, "unknown"),
    ],
)
def test_programs_that_load_without_workers_say_more_than_their_image(
    tmp_path: Path, base: str, program: str, verdict: str
) -> None:
    build = f"FROM {base}\nWORKDIR /app\nCOPY . .\n"
    files = {"compose.yaml": compose("python train.py"), "Dockerfile": build}
    assert need(tmp_path, {**files, "train.py": f"import unheard_of\n{program}"}).verdict == verdict


@table(
    "lines, verdict",
    [
        ("RUN pip install torch", "likely"),
        ("RUN pip install torch && apt-get install -y ros-humble-desktop", "unknown"),
        ("RUN pip install torch && apt install -y rosbridge", "likely"),
        (f"FROM {NGC}\nRUN apt-get install -y ros-noetic-perception", "likely"),
        # Images of ROS are called so, also those that have PyTorch besides.
        ("FROM someone/ros:jazzy-pytorch\nRUN pip install torch", "unknown"),
        ("FROM someone/rosetta:pytorch\nRUN pip install torch", "likely"),
    ],
)
def test_a_shell_in_an_environment_for_robots(tmp_path: Path, lines: str, verdict: str) -> None:
    files = {"Dockerfile": f"FROM own/base\n{lines}\n", "compose.yaml": compose("bash")}
    assert need(tmp_path, files).verdict == verdict


_DRIVES = "The arm: `./shell.sh`.\n```\npython drive.py\n```\n"
_TRAINS = "```\npython train.py\n```\n"


@table(
    "base, pages, verdict",
    [
        # Pages train, and none shows that they do it in the container of the robot.
        ("ros:humble", {"README.md": _TRAINS}, "unknown"),
        ("ros:humble", {"README.md": "# Arm\n", "TRAINING.md": _TRAINS}, "unknown"),
        ("ros:humble", {"README.md": "```\ntorchrun --nproc_per_node=4 train.py\n```\n"}, "unknown"),
        ("ros:humble", {"ARM.md": _DRIVES, "TRAINING.md": _TRAINS}, "unknown"),
        ("ros:humble", {"ARM.md": _DRIVES + _TRAINS}, "needed"),
        ("ros:humble", {"ARM.md": _DRIVES.replace("drive", "loop")}, "needed"),
        ("ros:humble", {"ARM.md": _DRIVES.replace("drive", "loop"), "TRAINING.md": _TRAINS}, "needed"),
        ("ros:humble", {"ARM.md": _DRIVES.replace("drive.py", "loop.py --num_workers 4")}, "needed"),
        ("ros:humble", {"README.md": f"```\n./shell.sh\n```\nThen\n{_TRAINS}"}, "needed"),
        ("ros:humble", {"README.md": f"Start `./shell.sh` and there\n{_TRAINS}"}, "needed"),
        ("ubuntu", {"README.md": _TRAINS}, "likely"),
        (NGC, {"README.md": _TRAINS}, "likely"),
    ],
)
def test_a_shell_for_robots_in_a_repository_that_trains(
    tmp_path: Path, base: str, pages: dict[str, str], verdict: str
) -> None:
    more = "RUN apt-get install -y ros-humble-desktop\n" if base == NGC else ""
    files = {"shell.sh": "docker run --gpus all -it --network host own bash\n", **pages}
    files |= {"Dockerfile": f"FROM {base}\n{more}RUN pip install torch\nWORKDIR /ws\nCOPY . .\n"}
    files |= {"drive.py": "import rclpy\n", "train.py": LOADER, "loop.py": LOADER}
    files |= {"build.sh": "docker build -t own .\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "files, verdict",
    [
        ({"fit.py": ALONE}, "not-needed"),
        ({"fit.py": ALONE, "model/net.py": "import torch\n", "run.sh": "python fit.py\n"}, "not-needed"),
        ({"fit.py": ALONE.replace("=4", "=4, num_workers=0")}, "not-needed"),
        ({"a.ipynb": CELLS % "numpy"}, "not-needed"),
        ({"a.ipynb": CELLS % "numpy\\n%matplotlib inline"}, "not-needed"),
        ({"fit.py": ALONE + '"""\nimport unheard_of\n"""\n'}, "not-needed"),
        ({"fit.py": "import tensorflow as tf\nmodel().fit(data, epochs=3)\n"}, "not-needed"),
        ({"fit.py": "import lasagne, theano\nmodel().fit(theano.function(data))\n"}, "not-needed"),
        # Nobody can run what is no notebook, nor a cell that is no Python.
        ({"fit.py": ALONE, "broken.ipynb": "{"}, "not-needed"),
        ({"fit.py": ALONE, "list.ipynb": "[]"}, "not-needed"),
        ({"a.ipynb": CELLS % 'numpy"]}, {"cell_type": "code", "source": ["so: what'}, "not-needed"),
        # Comments, docstrings, and the text and the output of notebooks start nothing.
        ({"fit.py": f'"""It is\ndistributed as is."""\n# parallel\n{ALONE}'}, "not-needed"),
        ({"fit.py": ALONE + 'def f():\n    """For 8 workers."""\n    return 1\n'}, "not-needed"),
        ({"fit.py": ALONE, "run.sh": "#!/bin/sh\n# torchrun fit.py\npython fit.py\n"}, "not-needed"),
        ({"fit.py": ALONE, "conf/data.yaml": "# workers: 4\nsize: 2\n"}, "not-needed"),
        ({"a.ipynb": CELLS % 'numpy"], "outputs": ["8 workers"]}, {"cell_type": "code", "source": ["1'}, "not-needed"),
        ({"a.ipynb": CELLS % f'numpy"]}}, {MARKDOWN}, {{"cell_type": "code", "source": ["1'}, "not-needed"),
        ({"fit.py": ALONE, "unheard_of/net.py": "import unheard_of\n"}, "not-needed"),
        ({"fit.py": ALONE, "net.py": "import unheard_of\n", "conf/unheard_of.yaml": "size: 2\n"}, "unknown"),
        ({"fit.py": ALONE, "net.py": "import unheard_of\n", "unheard_of/NOTE": "a submodule\n"}, "likely"),
        ({"fit.py": ALONE, "net.py": "import unheard_of\n", "unheard_of/CMakeLists.txt": "project(a)\n"}, "unknown"),
        ({"fit.py": ALONE, "net-1.5/fit.py": LOADER}, "likely"),
        ({"fit.py": ALONE.replace("=4", "=4, num_workers=0 if debug else 8")}, "likely"),
        ({"fit.py": ALONE, "tf.py": "import tensorflow as tf\ntf.distribute.MirroredStrategy()\n"}, "likely"),
        ({"fit.py": ALONE, "page.py": "from selenium import webdriver as w\nw.Chrome()\n"}, "likely"),
        ({"a.ipynb": CELLS % "numpy\\n!torchrun fit.py"}, "likely"),
        ({"fit.py": ALONE + 'run("""\ntorchrun other.py\n""")\n'}, "likely"),
        ({"fit.py": ALONE + "print(1)  # no comment\nspawn()\n"}, "likely"),
        # What may use it: workers, ranks, a package that starts some, an unknown package, no work.
        ({"fit.py": ALONE.replace("=4", "=4, num_workers=2")}, "likely"),
        ({"fit.py": ALONE, "run.sh": "torchrun --nproc_per_node=2 fit.py\n"}, "likely"),
        ({"fit.py": ALONE, "conf/data.yaml": "workers: 4\n"}, "likely"),
        # By position, out of a file, by a command.
        ({"fit.py": ALONE + "DataLoader(d, 4, False, None, None, 8)\n"}, "likely"),
        ({"fit.py": ALONE + "DataLoader(d, 4, False, None, None, 0)\n"}, "not-needed"),
        ({"fit.py": ALONE + "DataLoader(*given)\n"}, "likely"),
        ({"fit.py": ALONE + "import json\nDataLoader(d, **json.load(open('fit.json')))\n"}, "likely"),
        ({"fit.py": ALONE + "from conf import settings\nDataLoader(d, **settings('fit.json'))\n",
          "conf.py": "import json\ndef settings(path):\n    return json.load(open(path))\n"}, "likely"),
        ({"fit.py": ALONE + "from torch.utils.data import DataLoader as L\nL(d, 4, True, None, None, 8)\n"}, "likely"),
        ({"fit.py": ALONE + "DataLoader(d, **{'batch_size': 4})\n"}, "not-needed"),
        ({"fit.py": ALONE, "run.sh": "yolo detect train data=x\n"}, "likely"),
        ({"fit.py": ALONE, "run.sh": "yolo predict data=x\n"}, "not-needed"),
        ({"fit.py": ALONE, "a.ipynb": CELLS % "numpy\\n!yolo train data=x"}, "likely"),
        ({"fit.py": ALONE + "import fastai\n"}, "likely"),
        # A name of a package of which some start ranks, workers or servers
        ({"fit.py": ALONE + "import dgl\ndgl.graph(([0], [1]))\n"}, "not-needed"),
        ({"fit.py": ALONE + "import dgl\ndgl.distributed.DistGraph('a')\n"}, "likely"),
        # Of a package that its own loaders do without nothing is known.
        ({"fit.py": ALONE + "import unheard_of\n"}, "unknown"),
        ({"fit.py": "import torch, unheard_of\nunheard_of.Trainer().train()\n"}, "likely"),
        ({"fit.py": f"import torch, unheard_of\n{TRAINER}"}, "unknown"),
        ({"train.py": f"import torch, unheard_of\n{TRAINER}", "README.md": "```\npython train.py\n```\n"}, "unknown"),
        ({"fit.py": ALONE + "import lightning\n"}, "unknown"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=1, accelerator='gpu')\n"}, "unknown"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=[0])\n"}, "unknown"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=[0, 1])\n"}, "likely"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=-1)\n"}, "likely"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=1, num_nodes=2)\n"}, "likely"),
        ({"fit.py": ALONE + "import lightning as L\nL.Trainer(devices=n)\n"}, "likely"),
        ({"a.ipynb": CELLS % "fastai"}, "likely"),
        ({"serve.py": "import torch\nprint(1)\n"}, "likely"),
        ({"serve.py": "import torch\nprint(1)  # no DataLoader(x)\n"}, "likely"),
        # Code that learns without PyTorch, whatever else is in the image
        ({"fit.py": "import sklearn.svm as s\ns.SVC().fit(x, y)\n"}, "unknown"),
        ({"fit.py": "from lightgbm import LGBMModel as M\nM(n_jobs=-1).fit(x, y)\n"}, "unknown"),
        ({"fit.py": "import sklearn.svm\n", "net.py": "import torch\n"}, "likely"),
        ({"fit.py": "import sklearn.svm\n", "net.py": "import transformers\n"}, "likely"),
        ({"fit.py": "import sklearn.svm\n", "net.py": "import unheard_of\n"}, "likely"),
        ({"fit.py": "import pandas\n"}, "likely"),
        ({"fit.py": ALONE, "broken.ipynb": "{num_workers=4"}, "likely"),
        ({"fit.py": ALONE, "a.ipynb": CELLS % 'numpy"]}, {"cell_type": "code", "source": ["import fastai'}, "likely"),
        ({"fit.py": ALONE + "print 1\n"}, "likely"),
        # What no Python reads any more: its words and its imports count.
        ({"fit.py": ALONE, "show.py": "import numpy\nprint 1\n"}, "not-needed"),
        ({"fit.py": ALONE, "show.py": "import unheard_of\nprint 1\n"}, "unknown"),
        ({"fit.py": ALONE, "show.py": "from fastai import x\nprint 1\n"}, "likely"),
        ({"fit.py": ALONE, "show.py": "print 1\nq = Queue()\n"}, "likely"),
        ({}, "likely"),
        # What the documentation runs fits, also with the program's own defaults.
        ({"README.md": f"```bash\n{SHELL} bash\n```\n```\npython train.py\n```\n", "train.py": ONE_IMAGE}, "unknown"),
    ],
)
def test_a_shell_for_code_that_needs_nothing(tmp_path: Path, files: dict[str, str], verdict: str) -> None:
    assert need(tmp_path, {"shell.sh": f"{SHELL} bash\n", **files}).verdict == verdict
    if "README.md" not in files:
        service = f"image: {PYTORCH}\n    command: jupyter lab\n    volumes: [.:/app]\n    {GPUS}\n"
        (tmp_path / "shell.sh").unlink()
        notebook = need(tmp_path, {"compose.yaml": f"services:\n  app:\n    {service}", **files}).verdict
        assert notebook == ("unknown" if verdict == "not-needed" else verdict)


@table(
    "mounts, code, verdict",
    [
        ("-v /home/me/lab:/lab", ALONE, "unknown"),
        ("-v $LAB:/lab", ALONE, "unknown"),
        ("", ALONE, "unknown"),
        ("-v /home/me/lab:/lab", ALONE.replace("=4", "=4, num_workers=2"), "likely"),
        ("-v /home/me/lab:/lab", "import torch\n", "likely"),
        # What the container sees of the repository is only a part of it.
        ("-v $PWD/lab:/lab", ALONE, "likely"),
        # But a directory of the host may be all of it.
        ("-v $PWD/lab:/lab -v /home/$USER/work:/work", ALONE, "unknown"),
        ("-v $PWD/lab:/lab -v /home/$USER/work:/work", LOADER, "likely"),
        ("-v $PWD/lab:/lab -v /data:/data", ALONE, "likely"),
    ],
)
def test_a_shell_that_is_not_known_to_see_the_code(tmp_path: Path, mounts: str, code: str, verdict: str) -> None:
    start = f"docker run -it --gpus all {mounts} {NGC} bash\n"
    files = {"docker/start.sh": start.replace("$PWD", ".."), "lab/net.py": "import torch\n", "fit.py": code}
    assert need(tmp_path, files).verdict == verdict


@table("image", [PYTORCH, "nvcr.io/nvidia/pytorch:24.05-py3", "rapidsai/base:24.06-cuda12.2-py3.11"])
def test_a_notebook_is_advised_the_size_of_a_shell(tmp_path: Path, image: str) -> None:
    page = f"```sh\ndocker run --gpus all -it {image} %s\n```\n"
    found = [need(tmp_path, {"README.md": page % command}) for command in ("bash", "jupyter lab")]
    assert [(n.verdict, n.recommended, n.workload) for n in found[:1]] == [
        (n.verdict, n.recommended, n.workload) for n in found[1:]
    ]


@table("here", ["$GITHUB_WORKSPACE", "${{ github.workspace }}", "$PWD", "$(pwd)", "."])
def test_a_job_starts_at_the_top_of_the_repository(tmp_path: Path, here: str) -> None:
    """And not in the directory of its file, which may have a program of that name too."""
    files = {".github/workflows/a.yml": OF_TOP.format(here), "fit.py": LOADER}
    assert need(tmp_path, {**files, ".github/workflows/fit.py": SERVE, "helper.py": HELPER}).verdict == "needed"


BY_STEPS = ALONE + "for x in loader:\n    net(x).backward()\n"
ASKS = "import torch\nmodel = torch.load('a').eval()\nprint(model(1))\n"


@table(
    "mounts, page, files, verdict",
    [
        # However the container gets the code, it has it where a page runs it.
        ("", "python fit.py", {"fit.py": BY_STEPS}, "not-needed"),
        ("", "python ask.py", {"ask.py": ASKS}, "not-needed"),
        ("", "python fit.py", {"fit.py": BY_STEPS, "other.py": LOADER}, "unknown"),
        ("", "ls", {"fit.py": BY_STEPS}, "unknown"),
        # What a package does that is not known matters less where all that the page runs is read without it.
        ("-v $PWD:/w -w /w", "python fit.py", {"fit.py": BY_STEPS, "net.py": "import unheard_of\n"}, "not-needed"),
        ("-v $PWD:/w -w /w", "ls", {"fit.py": BY_STEPS, "net.py": "import unheard_of\n"}, "unknown"),
        ("-v $PWD:/w -w /w", "python fit.py", {"fit.py": f"import unheard_of\n{BY_STEPS}"}, "unknown"),
    ],
)
def test_a_page_that_runs_code_which_needs_nothing(
    tmp_path: Path, mounts: str, page: str, files: dict[str, str], verdict: str
) -> None:
    start = f"docker build -t lab .\ndocker run -it --gpus all {mounts} lab bash"
    files = {**files, "README.md": f"```\n{start}\n```\n\n```\n{page}\n```\n"}
    assert need(tmp_path, {**files, "Dockerfile": f"FROM {PYTORCH}\nRUN pip install einops\n"}).verdict == verdict


LEGACY = "import torch, importlib, sys\nnet = importlib.import_module(sys.argv[1]).Net()\n"


@table(
    "program, code, verdict",
    [
        ("generate.py", LEGACY, "unknown"),
        ("train.py", LEGACY, "likely"),
        ("generate.py", LEGACY + ALONE, "likely"),
        ("generate.py", LEGACY + "torch.distributed.init_process_group()\n", "likely"),
        ("missing.py", LEGACY, "likely"),
        # One rank talks to nobody.
        ("generate.py", LEGACY + "import vllm\nvllm.LLM('a')\n", "unknown"),
        ("generate.py", LEGACY + "import vllm\nvllm.LLM('a', tensor_parallel_size=int(input()))\n", "likely"),
        ("generate.py", LEGACY + "torch.multiprocessing.spawn(print, nprocs=torch.cuda.device_count())\n", "needed"),
    ],
)
def test_an_image_says_less_than_code_that_loads_no_data(
    tmp_path: Path, program: str, code: str, verdict: str
) -> None:
    """The end of the code is not reached, but in its reach is nothing that the image is made for."""
    files = {"compose.yaml": compose(f"python {program}"), "generate.py": code, "train.py": code}
    assert need(tmp_path, {**files, "Dockerfile": f"FROM {NGC}\nWORKDIR /app\nCOPY . .\n"}).verdict == verdict


@table(
    "cell, place, install, verdict",
    [
        ("!horovodrun -np 8 python3 fit.py\\n", "work/deep/a.ipynb", "horovod", "likely"),
        ("! torchrun --nproc_per_node=4 fit.py", "work/a.ipynb", "torch", "needed"),
        ("!python3 fit.py", "work/a.ipynb", "flask", "unknown"),
        ("!python3 -m torch.distributed.run --nproc_per_node=4 fit.py", "work/a.ipynb", "torch", "needed"),
        ("!mpiexec -n 4 python3 fit.py", "work/a.ipynb", "torch", "needed"),
        ('!torchrun \\\\\\n", "  --nproc_per_node=4 \\"fit.py\\"\\n", "print(1)', "work/a.ipynb", "torch", "needed"),
        ('1"]}, {"cell_type": "raw", "source": ["!horovodrun -np 8 python3 fit.py', "work/a.ipynb", "flask", "unknown"),
        ('1"], "outputs": ["!horovodrun -np 8 python3 fit.py"], "x": ["', "work/a.ipynb", "flask", "unknown"),
        ("!horovodrun -np 8 python3 fit.py", "elsewhere/a.ipynb", "horovod", "unknown"),
    ],
)
def test_notebooks_that_start_ranks(tmp_path: Path, cell: str, place: str, install: str, verdict: str) -> None:
    files = {place: '{"cells": [{"cell_type": "code", "source": ["' + cell + '"]}]}'}
    files["Dockerfile"] = f"FROM python:3.12\nRUN pip install {install}\nCOPY work /w\nWORKDIR /w\n"
    assert need(tmp_path, {"compose.yaml": compose("jupyter lab --ip 0.0.0.0"), **files}).verdict == verdict


@table(
    "shell, page, dockerfile, verdict",
    [
        ("own", "torchrun --nproc_per_node=4 train.py", "RUN pip install torch", "needed"),
        ("own", "python -m torch.distributed.launch --nproc_per_node 4 /w/fit.py", "RUN pip install torch", "needed"),
        ("own", "python fit.py --num_workers 8", "RUN pip install torch", "likely"),
        ("own", "torchrun --nproc_per_node=4 train.py", "RUN pip install flask", "likely"),
        ("own", "torchrun --nproc_per_node=1 train.py", "RUN pip install torch", "likely"),
        ("own", "python fit.py", "RUN pip install torch", "likely"),
        # It is neither built here nor does it see the repository.
        ("pytorch/pytorch", "torchrun --nproc_per_node=4 train.py", "", "likely"),
        ("-v $PWD:/w pytorch/pytorch", "torchrun --nproc_per_node=4 train.py", "", "needed"),
        # That the image is built here is only guessed, and a notebook is not made for the commands of a page.
        ("me/own", "torchrun --nproc_per_node=4 train.py", "RUN pip install torch", "likely"),
        ("own jupyter lab", "torchrun --nproc_per_node=4 train.py", "RUN pip install torch", "likely"),
        # The maintainers of the image ask for shared memory for training.
        ("leogao2/gpt-neox", "python train.py small.yml", "", "needed"),
        ("leogao2/gpt-neox", "python export.py", "", "likely"),
    ],
)
def test_a_shell_in_which_the_repository_trains(
    tmp_path: Path, shell: str, page: str, dockerfile: str, verdict: str
) -> None:
    files = {"shell.sh": f"docker run --gpus all -it {shell} bash\n", "README.md": f"```\n{page}\n```\n"}
    if dockerfile:
        files |= {"Dockerfile": f"FROM ubuntu\n{dockerfile}\n", "build.sh": "docker build -t own .\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "shell, page, verdict",
    [
        ("own", "torchrun --nproc_per_node=4 train.py", "needed"),
        ("own bash", "torchrun --nproc_per_node=4 train.py", "needed"),
        ("own", "bash several.sh 4", "needed"),
        ("own", "bash several.sh <gpus>", "likely"),
        ("own", "torchrun --nproc_per_node=1 train.py", "likely"),
        ("own", "python train.py --num_workers 8", "likely"),
    ],
)
def test_ranks_that_a_page_starts_in_an_image_whose_build_is_guessed(
    tmp_path: Path, shell: str, page: str, verdict: str
) -> None:
    """What is shown to be run in this container matters, and not how its image is built."""
    files = {"README.md": f"```\ndocker run --gpus all -it {shell}\n```\n\n```\n{page}\n```\n"}
    files["several.sh"] = "python -m torch.distributed.launch --nproc_per_node=$1 /w/train.py\n"
    files["Dockerfile"] = "FROM ubuntu\nRUN pip install torch\n"
    assert need(tmp_path, files).verdict == verdict


BY_NAME = "import importlib, sys, tensorflow, unheard_of\nimportlib.import_module(sys.argv[1])\n"


@table(
    "command, file, verdict",
    [
        ("python train.py", "train.py", "unknown"),
        ("python -m own.train", "own/train.py", "unknown"),
        ("python -um own.train", "own/train.py", "unknown"),
        ("python -m own.train", "own/train/__main__.py", "unknown"),
        ("python -m other.train", "own/train.py", "likely"),
        # A page may name a file of another directory than its own, as one says in which it is.
        ("python train_other.py", "code/train_other.py", "unknown"),
        ("python train_other.py", "code/train_another.py", "likely"),
    ],
)
def test_the_repository_has_the_module_that_trains(tmp_path: Path, command: str, file: str, verdict: str) -> None:
    files = {"shell.sh": "docker build -t own .\ndocker run --gpus all -it own bash\n", file: BY_NAME}
    files |= {"README.md": f"```\n./shell.sh\n{command}\n```\n"}
    files["Dockerfile"] = "FROM ubuntu\nRUN pip install tensorflow-gpu==2.2\nCOPY . /app\nWORKDIR /app\n"
    shutil.rmtree(tmp_path / "own", ignore_errors=True)
    (tmp_path / "train.py").unlink(missing_ok=True)
    assert need(tmp_path, files).verdict == verdict


@table(
    "installs, code, verdict",
    [
        ("tensorflow-gpu==2.2", BY_NAME, "unknown"),
        ("tensorflow-gpu==2.2", WITH_LOADER + BY_NAME, "likely"),
        ("tensorflow-gpu==2.2", "", "likely"),
        ("tensorflow torch", BY_NAME, "likely"),
        ("tensorflow horovod", BY_NAME, "likely"),
        ("flask", BY_NAME, "unknown"),
    ],
)
def test_training_with_tensorflow_loads_by_threads(tmp_path: Path, installs: str, code: str, verdict: str) -> None:
    files = {"shell.sh": "docker build -t own .\ndocker run --gpus all -it own bash\n"}
    files |= {"README.md": "PyTorch\n```\n./shell.sh\npython train.py\n```\n"} | ({"train.py": code} if code else {})
    (tmp_path / "train.py").unlink(missing_ok=True)
    files["Dockerfile"] = f"FROM ubuntu\nRUN pip install {installs}\nCOPY . /app\nWORKDIR /app\n"
    assert need(tmp_path, files).verdict == verdict


@table(
    "image, page, verdict",
    [
        ("nvcr.io/nvidia/isaac-lab:2.0.0", "python scripts/<LIBRARY>/train.py --task=a", "not-needed"),
        ("nvcr.io/nvidia/isaac-lab:2.0.0", "torchrun --nproc_per_node=4 scripts/train.py", "likely"),
        ("nvcr.io/nvidia/isaac-lab:2.0.0", "bash train_all.sh", "likely"),
    ],
)
def test_training_that_is_known_to_need_nothing_in_an_image(
    tmp_path: Path, image: str, page: str, verdict: str
) -> None:
    files = {"Dockerfile": f"FROM {image}\nRUN apt-get update\n", "README.md": f"PyTorch\n```\n{page}\n```\n"}
    files["run.sh"] = "docker build -t own .\ndocker run --gpus all -it -v .:/workspace own bash\n"
    assert need(tmp_path, files).verdict == verdict


def test_training_on_one_gpu_of_which_no_amount_is_known(tmp_path: Path) -> None:
    files = {"shell.sh": "docker run --gpus 1 -it leogao2/gpt-neox bash\n"}
    files["README.md"] = "```\npython train.py small.yml\n```\n"
    assert need(tmp_path, files).verdict == "likely"


@table(
    "folder, verdict",
    [
        (".devcontainer/cpp-inference", "unknown"),
        (".devcontainer/export", "unknown"),
        (".devcontainer/gpu", "likely"),
        (".devcontainer/train-and-export", "likely"),
        ("inference/.devcontainer", "likely"),
    ],
)
def test_a_dev_container_whose_directory_is_called_after_its_use(tmp_path: Path, folder: str, verdict: str) -> None:
    for old in tmp_path.glob("*"):
        shutil.rmtree(old)
    files = {f"{folder}/devcontainer.json": '{"image": "' + PYTORCH + '", "runArgs": ["--gpus", "all"]}'}
    found = need(tmp_path, files, (f"{folder}/devcontainer.json",))
    assert (found.verdict, "called after" in found.stopped) == (verdict, verdict == "unknown")


@table(
    "script, runs, verdict",
    [
        ("run_inference.sh", "bash", "unknown"),
        ("docker/export.sh", "", "unknown"),
        ("run_demo.sh", "bash", "unknown"),
        ("run_train_and_demo.sh", "bash", "likely"),
        ("deploy_container.sh", "bash", "likely"),
        ("demo/start.sh", "bash", "likely"),
        ("run_inference.sh", f"{RANKS} ask.py", "needed"),
    ],
)
def test_a_script_that_is_called_after_its_use(tmp_path: Path, script: str, runs: str, verdict: str) -> None:
    files = {script: f"docker run --gpus all -it -v $PWD:/workspace {PYTORCH} {runs}\n", "train.py": "import x\n"}
    found = need(tmp_path, files, (script,))
    assert (found.verdict, "its script is called after" in found.stopped) == (verdict, verdict == "unknown")


@table("image, verdict", [("own/builder", "unknown"), ("own/detectron2:v1", "likely")])
def test_the_programs_of_a_repository_run_where_their_packages_are(tmp_path: Path, image: str, verdict: str) -> None:
    files = {"README.md": f"```bash\ndocker run -it --gpus all {image}\n```\n", "tools/train_net.py": "import x\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "text, stopped",
    [
        ("", "no file shows what is started in it"),
        ("python ask.py", "what is started in it besides the documented commands is unknown"),
        ("python odd.py", "a documented command was not read to its end: odd.py cannot be parsed"),
    ],
)
def test_what_a_shell_tells_of_the_documented_commands(tmp_path: Path, text: str, stopped: str) -> None:
    files = {
        "README.md": f"```\ndocker run -it --rm --gpus all -v $PWD:/app -w /app python:3.12 bash\n{text}\n```\n",
        "ask.py": "import json\nprint(json.loads('1'))\n", "odd.py": "import torch as )\n",
    }  # fmt: skip
    found = need(tmp_path, files)
    assert found.verdict == "unknown" and stopped in found.stopped


@table("workers, verdict", [(1, "unknown"), (4, "likely")])
def test_a_shell_in_which_a_single_worker_loads(tmp_path: Path, workers: int, verdict: str) -> None:
    files = {
        "README.md": f"```\ndocker run -it --gpus all -v $PWD:/app -w /app {PYTORCH} bash\npython train.py\n```\n",
        "train.py": "from torch.utils.data import DataLoader\n"
        f"for x in DataLoader(data(), batch_size=8, num_workers={workers}): x.cuda()\n",
    }
    found = need(tmp_path, files)
    assert (found.verdict, "is not known to need more" in found.stopped) == (verdict, verdict == "unknown")


@table(
    "last, start, verdict",
    [
        ("tail -F /dev/null", "service ssh start", "likely"), ("sleep infinity", "./set_up --all", "likely"),
        ("tail -F /dev/null", "python serve.py &", "unknown"), ("./serve", "service ssh start", "unknown"),
    ],
)
def test_a_service_that_waits_behind_what_is_not_known(tmp_path: Path, last: str, start: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("/start.sh"), "start.sh": f"#!/bin/sh\n{start}\n{last}\n",
        "Dockerfile": f"FROM {PYTORCH}\nCOPY start.sh /start.sh\n",
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


@table(
    ("options", "image", "command", "verdict"),
    [
        ("-it", PYTORCH, "./set_up.sh; exec bash", "likely"),
        ("-it", PYTORCH, "./set_up.sh && bash", "likely"),
        ("-it", PYTORCH, "python -c 'import own'; exec /bin/bash -l", "likely"),
        ("-it", PYTORCH, "bash -l; ./work.sh", "unknown"),
        ("-it", PYTORCH, "./work.sh || bash", "unknown"),
        ("-d", PYTORCH, "./set_up.sh; exec bash", "unknown"),
        ("-it", "own/image", "./set_up.sh; exec bash", "unknown"),
    ],
)
def test_a_shell_behind_what_is_not_known(
    tmp_path: Path, options: str, image: str, command: str, verdict: str
) -> None:
    text = f'docker run {options} --gpus all {image} bash -c "{command}"\n'
    assert need(tmp_path, {"run.sh": text}).verdict == verdict


@table(
    "image, gpus, command, verdict",
    [
        ("tensorflow/tensorflow:latest-gpu", "1", "bash", "not-needed"),
        ("tensorflow/tensorflow:latest-gpu", "1", "jupyter lab", "not-needed"),
        ("tensorflow/tensorflow:latest-gpu", "all", "jupyter lab", "unknown"),
        ("nvidia/cuda:12.4.1-base-ubuntu22.04", "1", "jupyter lab", "unknown"),
        (PYTORCH, "1", "jupyter lab", "likely"),
    ],
)
def test_a_notebook_is_a_shell(tmp_path: Path, image: str, gpus: str, command: str, verdict: str) -> None:
    assert need(tmp_path, {"run.sh": f"docker run -it --gpus {gpus} {image} {command}\n"}).verdict == verdict
