"""Environments in which everything that is installed is known."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import need

NETS = "import jax\nimport numpy\nfrom flax import linen\n\ndef step(state):\n    return jax.jit(linen.relu)(state)\n"
MADE_FOR_IT = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip vim\n"


@table(
    "build, files, verdict",
    [
        ("RUN pip install -U 'jax[cuda12]' flax==0.8 jupyterlab", {}, "not-needed"),
        ("COPY requirements.txt .\nRUN pip install -r requirements.txt",
         {"requirements.txt": "# nets\njax[cuda12]>=0.4\nflax\n"}, "not-needed"),
        ("COPY . .\nRUN pip install -e .", {"pyproject.toml": '[project]\nname = "a"\ndependencies = ["jax>=0.4"]\n'},
         "not-needed"),
        ("RUN curl -LsSf https://astral.sh/uv/install.sh | sh", {}, "not-needed"),
        ("RUN bash -c 'apt-get install -y ros-${ROS_DISTRO}-desktop && colcon build'", {}, "not-needed"),
        ("RUN conda install -y -c conda-forge zlib libgcc-ng mkl-fft cuda-nvcc libcublas-dev scipy", {}, "not-needed"),
        ("RUN pip install typing grpcio rpds-py jupyterlab-server decimer-image-transformer", {}, "not-needed"),
        ("RUN cat <<EOF > /etc/motd\nhello\nEOF\nRUN chsh -s /bin/zsh me && passwd -d me", {}, "not-needed"),
        ("RUN curl -Lo /tmp/cuda-keyring_1.1-1_all.deb https://a.b/c && dpkg -i /tmp/cuda-keyring_1.1-1_all.deb", {},
         "not-needed"),
        ("RUN wget https://a.b/ros2-apt-source.deb && apt-get install -y ./ros2-apt-source.deb && dpkg -l", {},
         "not-needed"),
        # What is not known, what may share memory, and code from elsewhere.
        ("RUN <<EOF\npip install unheard-of\nEOF", {}, "unknown"),
        ("RUN --mount=type=cache,target=/root/.cache <<-'EOF' bash\npip install unheard-of\nEOF", {}, "unknown"),
        ("RUN cat <<EOF | bash\npip install unheard-of\nEOF", {}, "unknown"),
        ("RUN dpkg -i /tmp/tool.deb", {}, "unknown"),
        ("RUN apt-get install -y ./tool.deb", {}, "unknown"),
        ("RUN pip install jax unheard-of", {}, "unknown"),
        ("RUN pip install ray", {}, "unknown"),
        ("RUN conda install zlib libgcc-ng nccl", {}, "unknown"),
        ("RUN pip install multiprocess", {}, "unknown"),
        ("RUN pip install git+https://github.com/a/jax", {}, "unknown"),
        ("RUN pip install -r gone.txt", {}, "unknown"),
        ("RUN apt-get install -y libnccl2", {}, "unknown"),
        ("RUN bash -c 'git clone https://a.b/c && make'", {}, "unknown"),
        ("RUN curl https://a.b/install.sh | sh", {}, "unknown"),
        ("RUN ./install.sh", {}, "unknown"),
        ("COPY --from=someone/tools /opt/tools /opt/tools", {}, "unknown"),
        ("RUN pip install jax", {"more.py": "import unheard_of\n"}, "unknown"),
        ("RUN pip install jax", {"more.py": "import jax\njax.pmap(f)\n"}, "unknown"),
        ("RUN pip install jax", {"more.py": "from multiprocessing import Process\n"}, "unknown"),
        ("RUN pip install jax", {"src/main.cu": "#include <nccl.h>\n"}, "unknown"),
        ("RUN pip install jax", {"requirements.txt": "torch\n"}, "likely"),
        ("RUN pip install -e .", {"pyproject.toml": "project = 1\n"}, "unknown"),
    ],
)
def test_a_shell_whose_packages_and_code_are_all_known(
    tmp_path: Path, build: str, files: dict[str, str], verdict: str
) -> None:
    script = "docker build -t mine .\ndocker run -it --gpus all -v $PWD:/work -v /data:/data mine bash\n"
    written = {"run.sh": script, "Dockerfile": f"{MADE_FOR_IT}{build}\n", "net.py": NETS}
    assert need(tmp_path, written | files).verdict == verdict


@table(
    "options, base, verdict",
    [
        ("-it -v $PWD:/work", "nvidia/cuda:12.4.1-base-ubuntu22.04", "not-needed"),
        ("-it -v $PWD:/work", "tensorflow/tensorflow:2.15.0-gpu-jupyter", "not-needed"),
        # The same image under other names of Docker Hub; one of another registry is somebody's own.
        ("-it -v $PWD:/work", "index.docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04", "not-needed"),
        ("-it -v $PWD:/work", "mirror.gcr.io/library/ubuntu:22.04", "not-needed"),
        ("-it -v $PWD:/work", "m.daocloud.io/docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04", "not-needed"),
        ("-it -v $PWD:/work", "docker.io/library/ros:humble", "not-needed"),
        ("-it -v $PWD:/work", "public.ecr.aws/docker/library/postgres:16", "unknown"),
        ("-it -v $PWD:/work", "localhost:5000/nvidia/cuda:12.4.1-base-ubuntu22.04", "unknown"),
        ("-it -v $PWD:/work -v /tmp/.X11-unix:/tmp/.X11-unix -v ~/.ssh:/root/.ssh", "osrf/ros:humble", "not-needed"),
        ("-it -v $PWD:/work -v $HOME/catkin_ws:/root/catkin_ws", "osrf/ros:humble-desktop", "unknown"),
        ("-it", "nvidia/cuda:12.4.1-base-ubuntu22.04", "unknown"),
        ("-it -v $PWD:/work", "someone/tools:1", "unknown"),
        ("-it -v $PWD:/work", "nvcr.io/nvidia/tensorflow:24.01-tf2-py3", "unknown"),
    ],
)
def test_a_shell_in_an_image_of_a_plain_base(tmp_path: Path, options: str, base: str, verdict: str) -> None:
    script = f"docker build -t mine .\ndocker run --gpus all {options} mine bash\n"
    files = {"run.sh": script, "Dockerfile": f"FROM {base}\nRUN pip install jax flax\n", "net.py": NETS}
    assert need(tmp_path, files).verdict == verdict


@table(
    "options, build, files, verdict",
    [
        ("", "FROM ros:humble", {}, "not-needed"),
        ("-v /tmp/.X11-unix:/tmp/.X11-unix -v ./ws:/ws", "FROM osrf/ros:noetic-desktop-full", {}, "not-needed"),
        ("", "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN apt-get install -y ros-humble-desktop gazebo", {},
         "not-needed"),
        ("", "FROM ros:humble", {"README.md": "```\nros2 launch arm rviz.launch.py\n```\n"}, "not-needed"),
        ("", "FROM ros:humble", {"README.md": "```\npip install docker\n./run.sh\n```\n"}, "not-needed"),
        ("", "FROM ros:humble", {"README.md": "```\n./run.sh\npip install torch\n```\n"}, "unknown"),
        ("", "FROM ros:humble", {"README.md": "```\ndocker exec -it robot bash\ngit clone https://a.b/arm\n```\n"},
         "unknown"),
        ("-v $HOME/ws:/ws", "FROM ros:humble", {}, "unknown"),
        ("", "FROM someone/ros:1\nRUN apt-get install -y ros-humble-desktop", {}, "unknown"),
        ("", "FROM ros:humble\nRUN git clone https://a.b/arm /ws/src/arm", {}, "unknown"),
        ("", "FROM ros:humble\nCOPY --from=someone/tools /opt /opt", {}, "unknown"),
        ("", "FROM ros:humble", {"see.py": "import torch\n"}, "unknown"),
        ("", "FROM ros:humble", {"see.py": "import unheard_of\n"}, "unknown"),
        ("", "FROM ros:humble", {"see.py": "from multiprocessing import shared_memory\n"}, "unknown"),
        ("", "FROM ros:humble", {"src/share.cpp": "int f = shm_open(name, O_RDWR, 0600);\n"}, "unknown"),
        ("", "FROM ros:humble", {".gitmodules": "[submodule \"arm\"]\n"}, "unknown"),
        ("", "FROM ros:humble\nRUN echo torch | xargs pip install", {}, "unknown"),
        ("", "FROM ros:humble\nADD https://a.b/arm.tar.gz /opt/", {}, "unknown"),
        ("", "FROM ros:humble\nENV FASTRTPS_DEFAULT_PROFILES_FILE=/shm.xml", {"shm.xml": "<dds/>"}, "unknown"),
        ("", "FROM ubuntu:22.04\nRUN apt-get install -y vim", {}, "unknown"),
    ],
)
def test_a_shell_for_a_robot_that_sees_no_code(
    tmp_path: Path, options: str, build: str, files: dict[str, str], verdict: str
) -> None:
    """All that is in an image for ROS is known; of what another image without code is for, nothing is."""
    script = f"docker build -t mine .\ndocker run -it --gpus all {options} mine bash\n"
    assert need(tmp_path, {"run.sh": script, "Dockerfile": f"{build}\n"} | files).verdict == verdict


@table(
    "more, verdict",
    [
        ("", "not-needed"), (', "postCreateCommand": "pip install optax"', "not-needed"),
        (', "postCreateCommand": "pip install unheard-of"', "unknown"),
        (', "postCreateCommand": ["./setup.sh"]', "unknown"),
        (', "features": {"ghcr.io/devcontainers/features/git:1": {}}', "not-needed"),
        (', "features": {"ghcr.io/someone/features/tools:1": {}}', "unknown"),
    ],
)  # fmt: skip
def test_a_dev_container_whose_packages_and_code_are_all_known(tmp_path: Path, more: str, verdict: str) -> None:
    text = f'{{"build": {{"dockerfile": "Dockerfile"}}, "runArgs": ["--gpus", "all"]{more}}}'
    build = f"{MADE_FOR_IT}RUN pip install jax flax\n"
    files = {".devcontainer/devcontainer.json": text, ".devcontainer/Dockerfile": build, "net.py": NETS}
    assert need(tmp_path, files).verdict == verdict
