"""Whether everything that the build of an image installs is known, and none of it uses shared memory.

For a shell or a notebook: what is run in it can only use what is there. Code from elsewhere tells nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from shmlint.model.launch import Launch
from shmlint.model.source import Source
from shmlint.workloads.commands import SHELLS, is_python, kind_of, shell_argument, unwrapped
from shmlint.workloads.filesystem import Files
from shmlint.workloads.knowledge import base_called
from shmlint.workloads.packages.libraries import harmless, read_distributions
from shmlint.workloads.packages.requirements import UNKNOWN, all_of, all_of_project, normalised

if TYPE_CHECKING:
    from shmlint.syntax.dockerfile import BuiltImage

_MOST_STAGES = 4
_INSTALLERS = (
    r"https://(?:astral\.sh/uv|sh\.rustup\.rs|just\.systems/|deb\.nodesource\.com/|bootstrap\.pypa\.io/"
    r"|install\.python-poetry)"
)
"""Scripts of tools that install themselves from the web."""
_LOUD_DEBIAN = re.compile(
    r"torch|nccl|mpi|chrom|firefox|browser|webkit|webengine|postgres|spark|dask|iceoryx|\.deb$|[$/]"
)
"""Packages of Debian, Ubuntu and ROS that use shared memory, or of which the name does not tell what they are."""
_FETCHES = frozenset({"git", "git-lfs", "hg", "svn", "vcs", "wstool", "tar", "unzip", "gdown", "hf", "huggingface-cli"})
"""Programs with which a build gets code that the repository does not have, or unpacks it."""
_OF_ROS = r"^ros-\$\{?\w*DISTRO\w*\}?-"
_TELLS = frozenset(
    {"apt-cache", "apt-mark", "catkin_init_workspace", "chsh", "dpkg-reconfigure", "lsb_release", "mesg", "passwd",
     "setcap", "strip", "update-locale"}
)  # fmt: skip
"""Programs that only tell or set something of the system."""
_KEYS = r"^(?:\S*/)?(?:ros2?-apt-source|cuda-keyring|packages-microsoft-prod)[\w.~+-]*\.deb$"
"""Packages of Debian that only bring the key and the address of where other packages are."""
_BUILDS = frozenset(
    {"add-apt-repository", "catkin", "catkin_make", "cmake", "colcon", "groupadd", "locale-gen", "make", "ninja",
     "rosdep", "ssh-keygen", "update-alternatives", "useradd"}
)  # fmt: skip
"""Programs that compile what is there, which is the repository's, or prepare the system."""


_TRANSPORT = r"(?:FASTRTPS|FASTDDS|CYCLONEDDS|ICEORYX)_"
"""Variables by which messages of ROS may go through shared memory
(https://fast-dds.docs.eprosima.com/en/v2.14.4/fastdds/env_vars/env_vars.html)."""


def is_plain(image: BuiltImage, files: Files, depth: int = 0) -> bool:
    """Whether all that a build puts into its image is known to use no shared memory."""
    bases = all(base_called(name).plain for name, _ in image.base_images)
    if not bases or not all(_is_settled(text, files) for text, _ in image.runs):
        return False
    if any(re.match(_TRANSPORT, name) for name in image.environment):
        return False
    for copy in image.copies:
        if any(re.match(r"(?:\w+://|git@)", source) for source in copy.sources):
            return False
        if copy.elsewhere and not all(re.search(r"(?:^|/)uvx?$", source) for source in copy.sources):
            return False
        if copy.origin is not None and (depth >= _MOST_STAGES or not is_plain(copy.origin, files, depth + 1)):
            return False
    return True


def sees_more(launch: Launch, files: Files) -> bool:
    """Whether a container may get code that the repository does not have: from the host, or when it is created."""
    if launch.volumes_from:
        return True
    for bind in launch.binds:
        own = bind.resolved or not bind.source.startswith(("/", "~", "$", "`", "%"))
        shown = files.shown(bind.target, folder=True) or files.shown(bind.target)
        if not own and shown is None and re.search(_WITHOUT_CODE, bind.source) is None:
            return True
    if launch.kind != "devcontainer":
        return False
    text = launch.span.source.text
    steps = re.findall(rf'"(?:{_HOOKS})Command"\s*:\s*("[^"\n]*")?', text)
    features = re.findall(r"\"([\w.-]+/[\w.-]+/features/|\./)[\w.-]+(?::[\w.-]+)?\"\s*:\s*\{", text)
    known = all("/devcontainers" in feature for feature in features)
    return not known or not all(step and _is_settled(step.strip('"'), files) for step in steps)


_HOOKS = "onCreate|updateContent|postCreate|postStart|postAttach"
"""What a dev container runs inside when it is created or started."""
_WITHOUT_CODE = (
    r"(?i)^/(?:dev|etc|run|sys|proc|var/run|tmp/\.x11-unix|usr/share|usr/lib)(?:/|$)|xauth|x11"
    r"|\.(?:ssh|gitconfig|aws|netrc|bash_history|config|cache|docker|nv|kube|claude|codex|ros|gazebo)(?:/|$)"
    r"|(?:^|[/_.-])(?:data|datasets?|models?|weights|checkpoints?|outputs?|results?|logs?|bags?|videos?|images)"
    r"[\"'}]*/?$"
)
"""Paths of the host where there are devices, settings, caches and data."""


def _is_settled(text: str, files: Files) -> bool:
    """Whether each command of a RUN installs what is known, compiles the repository's own code, or only prepares."""
    from shmlint.syntax.shell import commands
    from shmlint.syntax.shell_text import whole

    source = Source("", re.sub(r"^(?:--\S+\s+)+", "", text))
    if source.text.startswith("<<") or re.search(r"\bxargs\b", source.text) is not None:
        return False  # what the lines of a here-document, or of another command's output, install is not read
    for command in commands(whole(source, 0, len(source.text))):
        words = unwrapped([word.text for word in command.words])
        if words and not _is_harmless(words, text, files):
            return False
    return True


def _is_harmless(words: Sequence[str], text: str, files: Files) -> bool:
    program = words[0].rpartition("/")[2]
    if is_python(program) and words[1:3] in (("-m", "pip"), ("-m", "uv")):
        program, words = words[2], words[2:]
    if program in ("apt", "apt-get", "aptitude"):
        named = (re.sub(_KEYS, "", re.sub(_OF_ROS, "ros-", word)) for word in _arguments(words, "install"))
        return not any(map(_LOUD_DEBIAN.search, named))
    if program in ("pip", "pip3", "uv", "conda", "mamba", "micromamba", "poetry", "pdm"):
        return all(_is_known(name) for name in _installs(program, words, files))
    if program in _FETCHES:
        return program == "git" and not {"clone", "pull", "fetch", "submodule"} & set(words)
    is_text, rest = shell_argument(words) if program in SHELLS else (False, ())
    if is_text and rest:
        return _is_settled(rest[0], files)
    if program in _TELLS or (tuple(words) == ("cat",) and "<<" in text):  # it writes a file
        return True
    kind = kind_of(words)
    if kind == "build":
        return program in _BUILDS or (program == "dpkg" and _sets_up(words[1:]))
    return kind in ("silent", "probe") or (program in SHELLS and re.search(_INSTALLERS, text) is not None)


def _sets_up(words: Sequence[str]) -> bool:
    """Whether dpkg only tells or sets something, or installs no more than keys of what is installed later."""
    action, rest = (words[0], words[1:]) if words else ("", ())
    if action in ("-i", "--install"):
        return all(re.search(_KEYS, word) is not None for word in rest)
    return action in ("--print-architecture", "--add-architecture", "-l", "-s")


def _arguments(words: Sequence[str], verb: str) -> list[str]:
    rest = words[words.index(verb) + 1 :] if verb in words else ()
    return [word for word in rest if not word.startswith("-")]


_TAKE_FILE = frozenset({"-r", "--requirement", "-f", "--file", "-c", "--constraint"})
_TAKE_WORD = frozenset(
    {"-i", "--index-url", "--extra-index-url", "--find-links", "--trusted-host", "-n", "--name", "-p", "--prefix",
     "--channel", "--group", "--extra", "--python", "--timeout", "--retries", "--cache-dir", "--index-strategy"}
)  # fmt: skip


def _installs(program: str, words: Sequence[str], files: Files) -> Iterator[str]:
    """The packages that a command installs; a question mark stands for what is not known."""
    verbs = [word for word in words[1:4] if word in ("install", "add", "sync", "create", "update", "run")]
    if "run" in verbs:
        yield UNKNOWN
    if not verbs:
        return
    at = words.index(verbs[-1]) + 1
    if verbs[-1] == "sync" or (program == "poetry" and at == len(words)):
        yield from all_of_project(files)
    while at < len(words):
        word = words[at].strip("'\"")
        if word in _TAKE_WORD or (word == "-c" and program in ("conda", "mamba", "micromamba")):
            at += 1  # a channel, where pip's `-c` is a file
        elif word in _TAKE_FILE and at + 1 < len(words):
            place = files.find(words[at + 1], files.workdir)
            yield from all_of(place.path, files) if place is not None and not place.guessed else (UNKNOWN,)
            at += 1
        elif word.partition("[")[0] in (".", "./"):
            yield from all_of_project(files)
        elif not word.startswith("-"):
            plain = "://" not in word and "/" not in word and "$" not in word
            yield re.split(r"[\[<>=!~;\s]", word)[0] if plain else UNKNOWN
        at += 1


def _is_known(name: str) -> bool:
    """Whether a package is known to use no shared memory, by the name under which it is installed."""
    name = normalised(name)
    if name in sys.stdlib_module_names or name in read_distributions():  # a backport, or what was read as a whole
        return True
    imported = _IMPORTED.get(name, name)
    tool = re.fullmatch(_TOOLS, name) or re.fullmatch(_SYSTEM, name)
    return tool is not None or imported.replace("-", "_").lower() in _lowered()


@cache
def _lowered() -> frozenset[str]:
    return frozenset(name.lower() for name in harmless())


_TOOLS = (
    r"pip|setuptools|setuptools-scm|wheel|uv|build|twine|cmake|ninja|cython|pybind11|nanobind|scikit-build(?:-core)?"
    r"|python|pytest(?:-[a-z0-9-]+)?|coverage|ruff|black|isort|flake8(?:-[a-z-]+)?|pylint|mypy|ty|pyright|pre-commit"
    r"|tox|nox|yapf|autopep8|sphinx(?:-[a-z-]+)?|nbsphinx|mkdocs(?:-[a-z-]+)?|furo|myst-parser|notebook"
    r"|jupyter[a-z-]*|ipykernel|nbconvert|nbformat|nbstripout|nbclient|nbclassic|notebook-shim|qtconsole|terminado|comm"
    r"|jedi|debugpy|entrypoints|types-[a-z-]+|sphinxcontrib-[a-z-]+|livereload|pymdown-extensions|distlib|astroid|poetry"
    r"|nvidia-cu(?:da|dnn|blas|fft|rand|solver|sparse)[a-z0-9-]*"
    r"|cuda(?:12|13|-toolkit|toolkit|-python)?|cudnn|cudatoolkit|tensorflow-(?:gpu|cpu)|tf-nightly(?:-gpu)?|numpy|scipy"
    r"|jax-cuda1[23]-(?:plugin|pjrt)|colcon-[a-z-]+|rosdep|vcstool|catkin-tools|empy|rospkg|catkin-pkg"
)
"""Tools for building, tests, pages and notebooks, and parts of CUDA: under none of these names is there a framework."""
_SYSTEM = (
    r"ca-certificates|openssl|xz|zlib|libzlib|zstd|bzip2|lz4-c|libffi|(?:lib)?sqlite|ncurses|readline|tk|libedit|libuuid|icu"
    r"|expat|libexpat|jpeg|libjpeg-turbo|libpng|libtiff|libwebp(?:-base)?|giflib|lcms2|lerc|libdeflate|openjpeg|freetype"
    r"|fontconfig|glib|libglib|pcre2?|gettext|libiconv|libunistring|libidn2|gmp|mpfr|gnutls|nettle|libtasn1|libxml2|libxslt"
    r"|libxcb|xorg-[a-z0-9-]+|pthread-stubs|libuv|libevent|c-ares|libcurl|libssh2|curl|wget|git|krb5|zeromq|libsodium"
    r"|libprotobuf|libabseil|hdf5|libogg|libvorbis|libopus|lame|x264|openh264|ffmpeg|freeglut|libhwloc"
    r"|lib(?:gcc|stdcxx|gomp|gfortran)(?:5|-ng)?|ld-impl-linux-64|binutils(?:-[a-z0-9-]+)?|g(?:cc|xx|fortran)(?:-[a-z0-9-]+)?"
    r"|kernel-headers-linux-64|sysroot-linux-64|make|pkg-config|swig|nodejs|python-abi|tzdata"
    r"|mkl(?:-(?:service|fft|random|include|devel))?|blas|lib(?:c?blas|lapacke?|openblas)|intel-openmp|llvm-openmp|tbb"
    r"|cuda-(?:bindings|cccl|compiler|cudart|cupti|libraries|nvcc|nvrtc|nvtx|profiler-api|runtime|version|pathfinder)(?:-dev)?"
    r"|lib(?:cublas|cufft|cufile|curand|cusolver|cusparse|npp|nvjpeg|nvjitlink)(?:-dev)?|nvidia-(?:nvjitlink|nvtx)-cu1[123]"
    r"|vc|vs2015-runtime|pywin32|m2w64-[a-z0-9-]+"
)
"""Libraries of C and of the system as conda packs them, of which none runs anything or keeps data in shared memory."""
_IMPORTED = {
    "opencv-python": "cv2", "opencv-python-headless": "cv2", "opencv-contrib-python": "cv2", "pillow": "PIL",
    "scikit-learn": "sklearn", "scikit-image": "skimage", "pyyaml": "yaml", "python-dotenv": "dotenv",
    "beautifulsoup4": "bs4", "python-dateutil": "dateutil", "tensorflow-datasets": "tensorflow_datasets",
    "stable-baselines3": "stable_baselines3", "gym": "gym", "biopython": "Bio", "pyserial": "serial",
    "python-opencv": "cv2", "protobuf": "google", "absl-py": "absl", "attrs": "attr", "dm-haiku": "haiku",
    "ruamel-yaml": "ruamel", "pyopengl": "OpenGL", "pyqt5": "PyQt5", "pyzmq": "zmq", "gitpython": "git",
    "scikit-video": "skvideo", "python-magic": "magic", "imageio-ffmpeg": "imageio_ffmpeg", "netcdf4": "netCDF4",
    "pycryptodome": "Crypto", "psycopg2-binary": "psycopg2", "nvidia-ml-py": "pynvml", "python-slugify": "slugify",
    "antlr4-python3-runtime": "antlr4", "argon2-cffi": "argon2", "argon2-cffi-bindings": "argon2", "azure-identity":
    "azure", "azure-storage-blob": "azure", "box2d-py": "Box2D", "brotli-python": "brotli", "cupy-cuda11x": "cupy",
    "cupy-cuda12x": "cupy", "cupy-cuda13x": "cupy", "discord-py": "discord", "fair-esm": "esm", "faiss-cpu": "faiss",
    "faiss-gpu": "faiss", "ffmpeg-python": "ffmpeg", "gin-config": "gin", "google-api-core": "google",
    "google-api-python-client": "googleapiclient", "google-auth": "google", "google-cloud-storage": "google",
    "google-genai": "google", "google-generativeai": "google", "googleapis-common-protos": "google", "grpcio": "grpc",
    "grpcio-status": "grpc_status", "grpcio-tools": "grpc_tools", "hydra-core": "hydra", "imbalanced-learn":
    "imblearn", "kafka-python": "kafka", "libopencv": "cv2", "llama-cpp-python": "llama_cpp", "markdown-it-py":
    "markdown_it", "matplotlib-base": "matplotlib", "mysql-connector-python": "mysql", "mysqlclient": "MySQLdb",
    "numpy-base": "numpy", "numpy-quaternion": "quaternion", "nuscenes-devkit": "nuscenes", "nvidia-tensorrt":
    "tensorrt", "onnx-simplifier": "onnxsim", "onnxruntime-gpu": "onnxruntime", "open-clip-torch": "open_clip",
    "openai-whisper": "whisper", "opencv": "cv2", "opencv-contrib-python-headless": "cv2", "opentelemetry-api":
    "opentelemetry", "opentelemetry-exporter-otlp": "opentelemetry", "opentelemetry-proto": "opentelemetry",
    "opentelemetry-sdk": "opentelemetry", "opentelemetry-semantic-conventions": "opentelemetry", "paho-mqtt": "paho",
    "pdfminer-six": "pdfminer", "py-cpuinfo": "cpuinfo", "py-opencv": "cv2", "pycryptodomex": "Cryptodome", "pyjwt":
    "jwt", "pymupdf": "fitz", "pyopenssl": "OpenSSL", "pysocks": "socks", "pytables": "tables", "python-can": "can",
    "python-docx": "docx", "python-jose": "jose", "python-json-logger": "pythonjsonlogger", "python-levenshtein":
    "Levenshtein", "python-multipart": "multipart", "python-pptx": "pptx", "python-telegram-bot": "telegram",
    "pywavelets": "pywt", "rdkit-pypi": "rdkit", "rpds-py": "rpds", "scikit-optimize": "skopt", "tavily-python":
    "tavily", "umap-learn": "umap", "usd-core": "pxr", "websocket-client": "websocket",
}  # fmt: skip
"""Packages that are imported under another name."""
