"""What a file defines is left alone where another file that it reads or starts uses it: the single launch is edited."""

from __future__ import annotations

from pathlib import Path

from shmlint.files.workspace import Workspace
from shmlint.formats.included import used_by_others
from shmlint.model.source import Source
from tests.fuzz.variants import limited
from tests.project import fixed
from tests.table import table

NEEDS = "nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 train.py"
RUN = f"docker run --gpus all --shm-size=$SHM {NEEDS}\n"
OPTS = f"docker run $OPTS {NEEDS}\n"
REDIS = "docker run --memory 128m --shm-size=$SHM redis\n"
MAKE = "t:\n\t" + RUN.replace("$SHM", "$(SHM)")

SINGLE = {"docker run --gpus all --shm-size=8g"}
ADDED = {"OPTS --shm-size=8g", "OPTS) --shm-size=8g", "opts}} --shm-size=8g", "OPTS}} --shm-size=8g"}


@table(
    ("files", "edited"),
    [
        ({"run.sh": f"SHM=64m\n{RUN}source ./redis.sh\n", "redis.sh": REDIS}, SINGLE),
        ({"run.sh": f". lib/all.sh\nSHM=64m\n{RUN}start\n", "lib/all.sh": f"start() {{ {REDIS.strip()}; }}\n"}, SINGLE),
        ({"run.sh": f"SHM=64m\n{RUN}. \"$(dirname \"$0\")/lib.sh\"\n", "lib.sh": ". ./redis.sh\n", "redis.sh": REDIS},
         SINGLE),
        ({"run.sh": f"SHM=64m\n{RUN}for f in parts/*.sh; do . $f; done\n", "parts/a.sh": REDIS}, SINGLE),
        ({"run.sh": f"OPTS='--gpus all --shm-size=64m'\n{OPTS}. ./more.sh\n", "more.sh": "docker run $OPTS alpine\n"},
         ADDED),
        ({"run.fish": f"set SHM 64m\n{RUN}source redis.fish\n", "redis.fish": REDIS}, SINGLE),
        ({"README.md": f"```sh\nSHM=64m\n{RUN}. ./redis.sh\n```\n", "redis.sh": REDIS}, SINGLE),
        ({"Makefile": f"SHM = 64m\ninclude redis.mk\n{MAKE}", "redis.mk": f"r:\n\t{REDIS.replace('$SHM', '$(SHM)')}"},
         SINGLE),
        ({"Makefile": f"SHM = 64m\ninclude redis.mk\n{MAKE}", "redis.mk": "ifdef SHM\nr:\n\tdocker run redis\nendif\n"},
         SINGLE),
        ({"Makefile": f"OPTS = --gpus all --shm-size=64m\ninclude smi.mk\nt:\n\t{OPTS.replace('$OPTS', '$(OPTS)')}",
          "smi.mk": "smi:\n\tdocker run $(OPTS) alpine nvidia-smi\n"}, ADDED),
        ({"Makefile": f"SHM = 64m\nV = SHM\n{MAKE}r:\n\tdocker run --shm-size=$($(V)) redis\n"}, SINGLE),
        ({"Makefile": f"SHM = 64m\ndefine T\n$(1):\n\tdocker run --shm-size=$$(SHM) redis\nendef\n{MAKE}"
          "$(eval $(call T,r))\n"}, SINGLE),
        ({"justfile": "import 'r.just'\nopts := '--gpus all --shm-size=64m'\n"
          f"t:\n    {OPTS.replace('$OPTS', '{{opts}}')}", "r.just": "s:\n    docker run {{opts}} alpine\n"}, ADDED),
        ({"Taskfile.yml": "version: '3'\nvars:\n  OPTS: --gpus all --shm-size=64m\nincludes:\n  r: ./r.yml\ntasks:\n"
          f"  t:\n    cmds:\n      - {OPTS.replace('$OPTS', '{{.OPTS}}')}",
          "r.yml": "version: '3'\ntasks:\n  s:\n    cmds:\n      - docker run {{.OPTS}} alpine\n"}, ADDED),
        ({"Taskfile.yml": "version: '3'\nvars:\n  OPTS: --gpus all --shm-size=64m\ntasks:\n  t:\n    cmds:\n"
          f"      - {OPTS.replace('$OPTS', '{{.OPTS}}')}      - task: run\n        vars: {{O: '{{{{.OPTS}}}}'}}\n"
          "  run:\n    cmds:\n      - docker run {{.O}} alpine\n"}, ADDED),
        # The call of a function is edited, if it has a place for the size.
        ({"run.sh": f"run() {{ docker run --gpus all \"$@\"; }}\nrun {NEEDS}\n. ./more.sh\n",
          "more.sh": "run alpine nvidia-smi\n"}, {"run --shm-size=8g nvcr"}),
        ({"Makefile": f"define run\ndocker run --gpus all --shm-size=64m $(1)\nendef\ninclude x.mk\nt:\n"
          f"\t$(call run,{NEEDS})\n", "x.mk": "u:\n\t$(call run,alpine)\n"}, set()),
        ({".gitlab-ci.yml": f"include:\n  - local: ci/r.yml\nvariables:\n  OPTS: --gpus all --shm-size=64m\nt:\n"
          f"  script:\n    - {OPTS}", "ci/r.yml": "s:\n  script:\n    - docker run $OPTS alpine\n"}, set()),
        # The other file has nothing to do with it.
        ({"run.sh": f"SHM=64m\n{RUN}. ./redis.sh\n", "redis.sh": "docker run redis\n"}, {"SHM=8g"}),
        ({"run.sh": f"SHM=64m\n{RUN}", "redis.sh": REDIS}, {"SHM=8g"}),
        ({"Makefile": f"SHM = 64m\ninclude redis.mk\n{MAKE}", "redis.mk": "r:\n\tdocker run redis\n"}, {"SHM = 8g"}),
    ],
)  # fmt: skip
def test_what_other_files_use_stays(tmp_path: Path, files: dict[str, str], edited: set[str]) -> None:
    (tmp_path / ".git").mkdir()
    texts = fixed(tmp_path, files)
    if not edited:
        assert texts == {}
    else:
        (text,) = texts.values()
        assert any(one in text for one in edited), text


@table(
    "text",
    ["a-" * 100_000, "a/" * 100_000, "/" * 200_000, "a." * 100_000, "{{" * 100_000, ". " * 100_000, "*?" * 100_000,
     "".join(f"d{n}/x{n}.sh " for n in range(20_000))],
    ids=lambda text: repr(text[:10]),
)  # fmt: skip
def test_long_texts_take_no_long(tmp_path: Path, text: str) -> None:
    files = Workspace({"more.sh": text}, top=str(tmp_path))
    with limited(20):  # seconds of the processor; hours where a name is looked for at each of its characters
        assert not used_by_others({"SHM"}, Source("run.sh", f"{text}\n. ./more.sh\n"), files)
