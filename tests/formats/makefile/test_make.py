"""Makefiles: the commands of their recipes, and their variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.started import IMAGE, launches, one, seen
from tests.project import run
from tests.table import table

NAME = "Makefile"


@table(
    ("text", "image", "count", "line"),
    [
        ("a:\n\tdocker run --gpus all IMG x\n", IMAGE, "all", 2),
        (".RECIPEPREFIX = >\na:\n> @docker run \\\n>  --gpus all \\\n> IMG x\n", IMAGE, "all", 3),
        (".RECIPEPREFIX := $(.RECIPEPREFIX) \na:\n   docker run --gpus all IMG\n", IMAGE, "all", 3),
        (".RECIPEPREFIX +=\na:\n  docker run --gpus all IMG\n", IMAGE, "all", 3),
        (".RECIPEPREFIX = >\na:\n> ls\n.RECIPEPREFIX =\nb:\n\tdocker run --gpus all IMG\n", IMAGE, "all", 6),
        ("a: b ; @docker run --gpus all IMG", IMAGE, "all", 1),
        ("a:\n\t@-docker run --gpus 2 IMG\n", IMAGE, 2, 2),
        ("Q := @\na:\n\t$(Q)docker run --gpus 2 IMG\n", IMAGE, 2, 3),
        ("ifeq ($(V),1)\nQ :=\nelse\nQ := @\nendif\na:\n\t-${Q} sudo docker run --gpus 2 IMG\n", IMAGE, 2, 7),
        ("a:\n\t+ @ docker run --gpus 2 IMG\n", IMAGE, 2, 2),
        ("a:\n\tcd x && docker run \\\n\t\t--gpus all \\\n\t\t-v $$PWD:/w -v $(PWD):/x IMG\n", IMAGE, "all", 2),
        ("a:\r\n\tdocker run \\\r\n\t  --gpus all \\\r\n\t  IMG\r\n", IMAGE, "all", 2),
        ("G := --gpus all\nI ?= IMG\na:\n\tdocker run $(G) ${I}\n", IMAGE, "all", 4),
        ("a:\n\tdocker run $(G) $(I)\nI = IMG # why\nG ::= --gpus 1\n", IMAGE, 1, 2),
        ("G = --rm\nG += --gpus all\na:\n\tdocker run $(G) IMG\n", IMAGE, "all", 4),
        ("A = $(B)\nB = --gpus all\na:\n\tdocker run $(A) IMG\n", IMAGE, "all", 4),
        ("export G = --gpus all\na:\n\tdocker run $(G) IMG\n", IMAGE, "all", 3),
        ("R = docker run \\\n  --gpus all\na:\n\t$(R) IMG x\n", IMAGE, "all", 4),
        ("DOCKER ?= docker\na:\n\t$(DOCKER) run --gpus all IMG\n", IMAGE, "all", 3),
        ("a:\n\t$(DOCKER) run --gpus all IMG\n", IMAGE, "all", 2),
        ("a:\n\tfor i in 1 2; do docker run --gpus all -e I=$$i IMG; done\n", IMAGE, "all", 2),
        ("a:\n\tG='--gpus all'; docker run $$G IMG\n", IMAGE, "all", 2),
        (".ONESHELL:\na:\n\tG='--gpus all'\n\n\t@docker run $$G \\\n\t  IMG\n", IMAGE, "all", 5),
        (".ONESHELL:\nSHELL = bash\na:\n\tG=(--gpus all)\n\t-docker run \"$${G[@]}\" IMG\n", IMAGE, "all", 5),
        (".ONESHELL :\n.RECIPEPREFIX = >\na:\n>G='--gpus all'\n>docker run $$G IMG\n", IMAGE, "all", 5),
        ("a:\n\tdocker run --gpus '\"device=$(IDS)\"' IMG\n", IMAGE, None, 2),
        ("a:\n\tdocker run --gpus all $(I):$(T) x\n", "${I}:${T}", "all", 2),
        ("a:\n\tssh h 'docker run --gpus all IMG'\n", IMAGE, "all", 2),
        ("a:\nifeq ($(X),1)\n\tdocker run --gpus all IMG\nendif\n", IMAGE, "all", 3),
        ("define R\ndocker run --gpus all IMG\nendef\na:\n\t$(R)\n", IMAGE, "all", 2),
        ("define R\n\t@docker run --gpus all IMG $(1)\nendef\na:\n\t$(call R,x)\n", IMAGE, "all", 5),
        ("define R\n\t@docker run --gpus all IMG $(1)\nendef\n$(foreach i,x y,$(eval $(call R,x)))\n", IMAGE, "all", 2),
        ("{% if x %}\na:\n\tdocker run --gpus all IMG\n{% endif %}\n", IMAGE, "all", 3),
        ("a:\n\tdocker run --gpus all {{ image }}:{{ tag }} x\n", "${image}:${tag}", "all", 2),
        ("I = IMG\nID := $(shell docker run -d --gpus all $(I) x)\n", IMAGE, "all", 2),
        ("a:\n\techo ${shell docker run --gpus all IMG | wc -l} x\n", IMAGE, "all", 2),
        ("R = docker run --gpus all IMG $(1)\na:\n\t$(call R,x)\n", IMAGE, "all", 3),
        ("R = docker run --gpus all $1\na:\n\t$(call R,x)\n", "x", "all", 3),
        ("R = docker run $1\nQ = $(call R,$1 IMG)\na:\n\t$(call Q,--gpus all)\n", IMAGE, "all", 4),
        ("R = docker run $1 ${2}\na:\n\tls && $(call R,--gpus all,IMG sh -c '(a,b)')\n", IMAGE, "all", 3),
        ("a:\n\t$(foreach i,1 2,docker run --gpus all IMG --port=$(i);)\n", IMAGE, "all", 2),
        ("ID != docker run -d --gpus all IMG # start\n", IMAGE, "all", 1),
        ("N := $(shell docker images -q x)\na:\n\tdocker run --gpus all $(N)\n",
         "$(shell docker images -q x)", "all", 3),
        ("a:\n\tdocker run --gpus all '$(TAG:=-x)' x\n", "$(TAG:=-x)", "all", 2),
        ("a:\n\tdocker run --gpus all $(my-img) x\nb:\n\tls $(my_img)\n", "${my_img}", "all", 2),
        ("a:\n\tdocker run {% if x %}--gpus all{% endif %} {# y #} IMG\n", IMAGE, "all", 2),
        ("G = --gpus all\nI = IMG\na:\n\tdocker run $G $I x\n", IMAGE, "all", 4),
        ("O = --gpus 1\na:\n\tO='--gpus all'; docker run $$O IMG\n", IMAGE, "all", 3),
        ("H = x\na:\n\tdocker run --gpus all IMG $HOME\n", IMAGE, "all", 3),
        ("a:\n\tdocker run --gpus all IMG $HOME\n", IMAGE, "all", 2),
        # no rule is before it, or an assignment ended that: such lines are make's own
        ("\tG = --gpus all\na:\n\tdocker run $(G) IMG\n", IMAGE, "all", 3),
        ("ifeq ($(X),1)\n\tG = --gpus 1\nelse\n\tG = --gpus all\nendif\na:\n\tdocker run $(G) IMG\n", IMAGE, "all", 7),
        ("b:\n\tls\nX = 1\n\tG = --gpus all\na:\n\tdocker run $(G) IMG\n", IMAGE, "all", 6),
        ("include x.mk\n\n\tG = --gpus all # y\n\na b: c\n\tdocker run $(G) IMG\n", IMAGE, "all", 6),
    ],
)
def test_recipes(tmp_path: Path, text: str, image: str, count: object, line: int) -> None:
    assert seen(tmp_path, text, NAME) == (image, count, line)


@table(
    ("text", "found"),
    [
        ("define R\ndocker run --gpus all\nendef\na:\n\t$(R) IMG x\n", [(IMAGE, 5)]),
        ("define R =\n@docker run --rm\nendef\na:\n\t$(R) IMG x\nb:\n\t-${R} redis\n", [(IMAGE, 5), ("redis", 7)]),
        ("override define R :=\n\tdocker run --gpus all \\\n\t--rm\n\nendef\na:\n\t$(R) \\\n\t  IMG\n", [(IMAGE, 7)]),
        ("define R\nls\ndocker run --gpus all\nendef\na:\n\t$(R) IMG x\n", [(IMAGE, 6)]),
        ("define R\ndocker run redis\ndocker run --gpus all\nendef\na:\n\t$(R) IMG x\n", [("redis", 2), (IMAGE, 6)]),
        ("define R\ndocker run --gpus all IMG\nendef\na:\n\t$(R)\nb:\n\t$(R) x\n", [(IMAGE, 5), (IMAGE, 7)]),
        ("define O\n--gpus all\nendef\na:\n\tdocker run $(O) IMG\n", [(IMAGE, 5)]),
        ("R = @docker run --gpus all\na:\n\t$(R) IMG x\n", [(IMAGE, 3)]),
        ("R = docker run --gpus all\na:\n\t$R IMG\nb:\n\t${R} redis\n", [(IMAGE, 3), ("redis", 5)]),
        ("R = docker run\na:\n\t$R IMG\n", [(IMAGE, 3)]), ("R = docker run\nI = $(R) IMG\na:\n\t$I\n", [(IMAGE, 4)]),
        ("define R\ndocker run --rm\nendef\na:\n\t@$R IMG x\n", [(IMAGE, 5)]),
        # Of several values, and of what another file may set, it is not known which counts.
        ("define R\ndocker run IMG\nendef\nb: R = ls\na:\n\t$(R) x\n", [(IMAGE, 2)]),
        ("define R\ndocker run IMG\nendef\na:\n\t$(call R,x)\n", [(IMAGE, 5)]),
        ("define R\nls\n@docker run $1\nendef\na:\n\t$(call R,IMG x)\nb:\n\t$(call R,redis)\n",
         [(IMAGE, 6), ("redis", 8)]),
        ("R = docker run $(2) $(1)\na:\n\t$(call R,IMG)\n\t$(call R,redis,--rm)\n", [(IMAGE, 3), ("redis", 4)]),
        ("R = docker run $(1)\na:\n\t@echo 'use R, or (R)' # R, too\n\t$(call R,IMG)\n", [(IMAGE, 4)]),
        ("R = docker run $(1)\na:\n\tssh h '$(call R,IMG)'\n", [(IMAGE, 3)]),
        ("define R\ndocker run IMG\nls\nendef\na:\n\t$(R) x\n", [(IMAGE, 2)]),
    ],
)  # fmt: skip
def test_definitions_are_read_with_the_words_around_their_uses(
    tmp_path: Path, text: str, found: list[tuple[str, int]]
) -> None:
    reading = run(tmp_path, {NAME: text.replace("IMG", IMAGE)}).reading
    assert [(one.image.known, one.span.line) for one in reading.launches if one.image] == found
    assert not reading.not_read


@table(
    "text",
    [
        "O = --shm-size=8g\nundefine O\na:\n\tdocker run --gpus all $(O) IMG\n",
        "ifdef X\nO = --shm-size=8g\nendif\na:\n\tdocker run --gpus all $(O) IMG\n",
        "ifdef X\nO = --shm-size=8g\nelse\nO =\nendif\na:\n\tdocker run --gpus all $(O) IMG\n",
        "O = --rm\nO = --shm-size=8g\na:\n\tdocker run --gpus all $(O) IMG\n",
        "O = --rm\nifdef X\nO += --shm-size=8g\nendif\na:\n\tdocker run --gpus all $(O) IMG\n",
        "a:\n\tdocker run --gpus all $(DOCKER_ARGS) IMG\n",
        "O = --rm\ninclude other.mk\na:\n\tdocker run --gpus all $(strip $(O)) redis\n",
        "O = --rm\nundefine O\na:\n\tdocker run --gpus all $(O) redis\n",
        "a:\n\tO=--rm\n\tdocker run --gpus all $$O redis\n",
        ".ONESHELL:\na:\n\tO=--rm\nb:\n\tdocker run --gpus all $$O redis\n",
        "O = --rm\na:\n\tdocker run --gpus all $(O:--rm=--init) redis\n",
        "define O\n--rm\n-d\nendef\na:\n\tbash -c 'docker run --gpus all $(O) redis'\n",
        "B = --rm\nO ?= $(B)\nb: O = --init\nb: a\na:\n\tdocker run --gpus all $(O) redis\n",
        "run = docker run --gpus all $(1)\na:\n\t$(call run,--rm redis) x\nb:\n\t$(call $(X),run)\n",
        "R := docker run --gpus all $(1) IMG\na:\n\t$(call R,--rm)\n",
        "R = docker run --gpus all $(if $1,$1) IMG\na:\n\t$(call R,--ipc=host)\n",
        "a:\n\tdocker run --gpus all $(if $(X),--shm-size=8g) IMG\n",
        "a:\n\tdocker run --gpus all $(if $(X),-it,--ipc=host) IMG\n",
        "a:\n\tdocker run --gpus all $(if $(X),-it $(O)) IMG\n",
        "O = $(shell flags)\na:\n\tdocker run --gpus all $(O) IMG\n",
        "O = $(shell if x -f; then echo '-v a:b'; fi)\na:\n\tdocker run --gpus all $(O) img\n",
        "O != flags\na:\n\tdocker run --gpus all $(O) IMG\n",
        "a: O = --shm-size=8g\na:\n\tdocker run --gpus all $(O) IMG\n",
    ],
)
def test_what_is_not_known_leaves_it_undecided(tmp_path: Path, text: str) -> None:
    launch = one(tmp_path, text, NAME)
    assert launch.gpu.requested
    assert launch.undecided


@table(
    ("name", "text", "reason"),
    [
        (NAME, "a:\n\tdocker run --gpus all $(if $(S),--shm-size=$(S)) IMG\n",
         "$(if $(S),--shm-size=$(S)) is an expression of make"),
        (NAME, "a:\n\tdocker run --gpus all $(addprefix -v ,\\\n\t  a b) IMG\n",
         "$(addprefix -v , a b) is an expression of make"),
        (NAME, "a:\n\tdocker run --gpus all ${strip -v a:a -v b:b -v c:c -v d:d -v $(PWD):/e -v f:f} IMG\n",
         "${strip -v a:a -v b:b -v c:c -v d:d -v $(PWD):/e -v f:f} is an expression of make"),
        (NAME, "a:\n\tdocker run --gpus all $(DOCKER_ARGS) IMG\n", "variable DOCKER_ARGS is not set here"),
        ("justfile", "a:\n  docker run --gpus all {{ env('A') }} IMG\n", "{{ env('A') }} is an expression of just"),
    ],
)  # fmt: skip
def test_expressions_are_shown_as_they_are_written(tmp_path: Path, name: str, text: str, reason: str) -> None:
    launch = one(tmp_path, text, name)
    assert launch.undecided is not None
    assert launch.undecided.because == f"{reason}; it may hold --shm-size"


@table(
    ("text", "decided"),
    [
        ("ifneq (true,$(CI))\nO = -it\nendif\n", True),
        ("ifdef X\nO = -it\nelse\nO = -t\nendif\n", True),
        ("ifdef X\nO = -v \"$(HOME)/x:/x\"\nelse ifdef Y\nO = -v $(shell pwd)/y:/y\nendif\n", True),
        ("O = --rm\nifdef X\nO += --network host\nendif\nO += -i\n", True),
        ("N = --network\nifdef X\nO = $(N) host\nendif\n", True),
        ("ifdef X\nO = --gpus all\nendif\nifdef Y\nO =\nendif\n", True),
        ("O = --rm\nifdef X\nO += --gpus $(X)\nendif\nifdef Y\nO += --memory $(Y)\nendif\n", True),
        ("O = --rm\nifdef X\nO += --runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=$(X)\nendif\n", True),
        ("O = --rm\nifdef X\nO += --gpus $(X) --ipc=$(Y)\nendif\n", False),
        ("ifdef X\nO = -it\nendif\nO ?= -t\n", True),
        ("ifdef X\nO = --ipc=host\nelse\nO = -t\nendif\n", False),
        ("O = --ipc=host\nifdef X\nO = -t\nendif\n", False),
        ("O = --rm\nifdef X\nO += $(MORE)\nendif\n", False),
        ("ifdef X\nO = `more`\nendif\n", False), ("ifdef X\nO = $(shell more)\nendif\n", False),
        ("ifdef X\nO != more\nendif\n", False), ("ifdef X\nO = -it $(O)\nendif\n", False),
        ("ifdef X\nO = -it\nendif\nO = --shm-size=1g\n", False),
        ("ifdef X\nO = -it\nendif\nO += --shm-size=1g\n", True),
        ("ifdef X\nO = -it\nendif\nO += $(MORE)\n", False),
        ("ifdef X\nO = -it\nendif\nb: O = --ipc=host\nb: a\n", False),
        ("ifdef X\nO = -it\nendif\nb: O = --ipc=host\n", True),
        ("ifdef X\nO = -it\nendif\nb:\n\t$(MAKE) a O=--ipc=host\n", False),
        ("-include more.mk\nifdef X\nO = -it\nendif\n", False),
        ("ifdef X\nO = -it\nendif\n-include more.mk\n", False),
        ("ifdef X\nO = -it\nendif\nb:\n\techo $$O\n", False),
        ("ifdef X\nO = -it\nendif\nundefine O\n", False),
    ],
)
def test_what_conditions_decide_about(tmp_path: Path, text: str, decided: bool) -> None:
    for command in ("docker run --gpus all $(O) IMG", "bash -c 'docker run --gpus all $(O) IMG'"):
        launch = one(tmp_path, f"{text}a:\n\t{command}\n", NAME)
        assert (launch.undecided is None) == decided


@table(
    "words",
    [
        "$(if $(N),--name $(N))", "$(if $(D),-d,-it)", "$(if $(D),-d, ) ${if $(N),-e N=$(N)}", "$(if $(X),-v a:b)",
        "$(if $(filter x,$(Y)),--init,--rm)",
    ],
)
def test_options_of_which_a_condition_of_make_chooses(tmp_path: Path, words: str) -> None:
    launch = one(tmp_path, f"a:\n\tdocker run --gpus all {words} IMG x\n", NAME)
    assert launch.undecided is None and launch.gpu.requested
    assert launch.image is not None and launch.image.known == IMAGE


BRANCHES = "ifdef A\nR = {}\nelse\nR = {}\nendif\na:\n\t$(R) {}\n"


@table(
    ("text", "certain"),
    [
        ("ifdef X\nO = --gpus all --ipc=host\nelse\nO = --gpus all\nendif\n", True),
        ("ifdef X\nO = --gpus=all --ipc=host\nelse ifdef Y\nO = --gpus all\nelse #\nO = --gpus all -i\nendif\n", True),
        ("ifdef X\nifdef Y\nO = --gpus all\nelse\nO = --gpus all -t\nendif\nelse\nO = --gpus all\nendif\n", True),
        ("O = --gpus all --ipc=host\nifdef X\nO = --gpus all\nendif\n", True),
        ("ifdef X\nO = --gpus all\nendif\nO ?= --gpus all --ipc=host\n", True),
        ("ifdef X\nO = --gpus all\nelse ifdef Y\nO = --gpus all -t\nendif\n", False),
        ("ifdef X\nO = --gpus all\nelse\nY = 1\nendif\n", False),
        ("ifdef X\nO = --gpus all\nelse\nO = -t\nendif\n", False),
    ],
)
def test_gpus_that_are_requested_in_each_case(tmp_path: Path, text: str, certain: bool) -> None:
    launch = one(tmp_path, f"{text}a:\n\tdocker run $(O) IMG\n", NAME)
    assert (launch.gpu.requested, launch.gpu.in_branches) == (True, not certain)


@table(
    "first, second, rest, requested, in_branches",
    [
        ("sudo docker run", "docker run", "--gpus all img", True, False),
        ("docker run", "docker run", "--gpus all img", True, False),
        ("docker run --gpus all --rm", "sudo -E docker run --gpus all --rm", "img", True, False),
        ("docker run", "docker run --gpus all", "img", True, True),
        ("nvidia-docker run", "docker run --gpus all", "img", True, True),
        ("docker run --shm-size=8g", "docker run", "--gpus all img", True, False),
    ],
)
def test_a_variable_that_starts_a_container_in_any_case(
    tmp_path: Path, first: str, second: str, rest: str, requested: bool, in_branches: bool
) -> None:
    launch = one(tmp_path, BRANCHES.format(first, second, rest), NAME)
    assert (launch.gpu.requested, launch.gpu.in_branches) == (requested, in_branches)
    assert launch.image is not None and launch.image.text == "img"
    assert (launch.undecided is None) is ("--shm-size" not in first)


def test_a_variable_that_may_hold_another_command_is_not_read(tmp_path: Path) -> None:
    text = BRANCHES.format("docker run --gpus all", "echo", "img")
    started = run(tmp_path, {"Makefile": text})
    assert [launch.gpu.requested for launch in started.launches] == []
    assert [place.span.line for place in started.not_read] == [2]


@table(
    ("use", "lines"),
    [
        ("$(R) IMG", []),
        ("$(R:all=1) IMG", [1]),
        ("@$(subst all,1,$(R)) IMG", [1]),
        ("${strip ${R}} IMG", [1]),
        ("@echo $(strip $(R))\n\t$(R) IMG", []),
    ],
)
def test_what_make_makes_of_a_start_is_not_read(tmp_path: Path, use: str, lines: list[int]) -> None:
    started = run(tmp_path, {"Makefile": f"R = docker run --gpus all\na:\n\t{use}\n"})
    assert [place.span.line for place in started.not_read] == lines
    assert len(started.launches) == (not lines)


def test_gpus_of_a_branch(tmp_path: Path) -> None:
    assert seen(tmp_path, "ifdef X\nG = --gpus all\nendif\na:\n\tdocker run $(G) IMG\n", NAME) == (IMAGE, "all", 5)


@table(
    ("text", "known"),
    [
        ("S = 64m\n", True),
        ("S = 64m\nb: S = 64g\n", True),
        ("S = 64m\nb: S = 64g\nb: a\n", False),
        ("S = 64m\nb: S = 64g\nb: d\nd: \\\n  a\n", False),
        ("S = 64m\nb: S = 64g\nb: c\nd: a\n", True),
        ("S = 64m\nb: S = 64g\nb: $(C)\n", False),
        ("include other.mk\nS = 64m\nb: S = 64g\n", False),
        ("S = 64m\nb: S = 64g\n$(eval b: a)\n", False),
        ("S = 64m\nb: S = 64g\nb: %.x\n", False),
        ("S = 64m\na b: S = 64g\n", False),
        ("S = 64m\n$(B): S = 64g\n", False),
        ("S = $(T)\nT = 64m\na: T = 64g\n", False),
        ("S = 64m\nb: S = 64g\nb \\\n", False),
        ("S = 64m\nb: S = 64g\n%:\n\tls\n", False),
        ("S = 64m\nb: S = 64g\nb: x.done\n%.done: a\n\ttouch $@\n", False),
        ("S = 64m\nb: S = 64g\n.c.o:\n\tls\n", False),
        ("S = 64m\nb: S = 64g\nb: ./a\n", False),
        ("S = 64m\nb: S = 64g\nb:\n\t$(MAKE) a\n", False),
        ("%: S := 64g\nS = 64m\n", False),
        ("S = 64m\nb c: private export S += 64g\n", True),
        ("S = 64m\nb c: private export S += 64g\nc: | a\n", False),
        ("S = 64m\nb:\n\t$(MAKE) a S=64g\n", False),
        ("S = 64m\nb:\n\t$(MAKE) a T=64g\n", True),
        ("S = 64m\nb:\n\t@make -s a S=64g\n", False),
        ("S = 64m\nb:\n\tcd . && S=64g make a\n", False),
        ("S = 64m\nb:\n\t@echo 'make a S=64g'\n\t# make a S=64g\n", True),
        ("# make a S=64g\nS = 64m\n", True),
        # What `:=` names is put in when its line is read.
        ("S := $(T)\nT = 64m\n", False),
        ("U = $(T)\nS ::= $U\nT = 64m\n", False),
        ("S = $(T)\nT = 64m\n", True),
        ("T = 64m\nU = $(T)\nS := $(U)\nT += x\n", True),
        ("T = 64m\nU := $(T)\nS = $(U)\n", True),
        ("T = 64m\nS := $(T)\nb:\n\t$(MAKE) a T=64g\n", False),
        ("S = 64m\n$(eval S = 64g)\n", False),
        ("S = 64m\n$(foreach v,S,$(eval $(v) = 64g))\n", False),
        ("S = 64m\ndefine set\nS = $(1)\nendef\n$(eval $(call set,64g))\n", False),
        ("S = 64m\ndefine set\nT = $(1)\nendef\n$(eval $(call set,64g))\n", True),
        ("override S = 64m\nS = 64g\n", True),
        ("ifdef X\noverride S = 64m\nendif\nS = 64g\n", False),
        ("S = 64m\ndefine S\n64g\nendef\n", False),
        ("include sizes.mk\nS = 64m\n", True),
        ("S = 64m\ninclude sizes.mk\n", False),
        ("include sizes.mk\nS ?= 64m\n", False),
        ("S = 64m\ninclude other.mk\n", True),
        ("include other.mk\nS ?= 64m\n", True),
        ("S = 64m\n-include .env # of each user\n", False),
        ("S = 64m\ninclude $(HERE)/x.mk\n", False),
        ("S = 64m\ninclude more.mk\n", False),
    ],
)
def test_what_something_else_sets_is_not_known(tmp_path: Path, text: str, known: bool) -> None:
    texts = {"sizes.mk": "S = 64g\n", "other.mk": "T = 64g\n", "more.mk": "include sizes.mk\n"}
    texts["Makefile"] = text + f"a:\n\tdocker run --gpus all --shm-size=$(S) {IMAGE}\n"
    (launch,) = run(tmp_path, texts).launches
    assert launch.shm is not None
    assert (launch.shm.known is not None) == known


@pytest.mark.parametrize(
    "text",
    [
        "# docker run --gpus all IMG\na:\n\t# docker run --gpus all IMG\n",
        "a:\n\t@echo 'docker run --gpus all IMG'\n",
        "R = docker run --gpus all IMG\na:\n\ttrue\n",
        "R = docker run --gpus all IMG\na:\n\techo $$R $$RM\n",
        "a:\n\tdocker build .\n",
        "# $(shell docker run --gpus all IMG)\n",
    ],
)
def test_no_launches(tmp_path: Path, text: str) -> None:
    assert not launches(tmp_path, text, NAME)
