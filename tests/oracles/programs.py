"""Generated scripts, Makefiles, CI files and documents whose launches share options in one of many ways.

Each is like something that people write. What a launch of them may become is in ``judged``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

NEEDY = "vllm/vllm-openai"
"""An image whose launch with a GPU needs shared memory."""

TRAIN = "nvcr.io/nvidia/pytorch:24.01-py3 torchrun --nproc_per_node=8 t.py"

SIZES = ("8g", "8gb", "9g", "1g", "64m", "16g", "64g", "8G", "100k")

OTHER_FILES = {
    "local.env": "UNRELATED=1\n",
    "opts.sh": "S=64g\nO=(--rm --shm-size=32g)\nT='--rm --shm-size=32g'\nIMG=redis\n",
    "opts.mk": "S = 64g\nO += --shm-size=32g\nIMG ?= redis\n",
}
"""Files in the directory of each text; those named ``opts`` set what the text may set too."""


class Chooser:
    """Chance with short names."""

    def __init__(self, seed: int | str) -> None:
        self.random = random.Random(seed)

    def one(self, of: Sequence[T]) -> T:
        return self.random.choice(of)

    def maybe(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def some(self, of: Sequence[T], least: int, most: int) -> list[T]:
        return [self.one(of) for _ in range(self.random.randint(least, most))]


_NEXT_FILE = "#@ "
"""Begins the line with the path of a further file, in a text for several files."""


def files(path: str, text: str) -> dict[str, str]:
    """The files of a text by their paths: what is before the first line with a path is the file ``path``."""
    first, *others = f"\n{text}".split(f"\n{_NEXT_FILE}")
    return {path: first[1:], **{name: rest for name, _, rest in (other.partition("\n") for other in others)}}


def one_text(of: Mapping[str, str]) -> str:
    """The text for these files: the other way round."""
    (_, first), *others = of.items()
    return first + "".join(f"\n{_NEXT_FILE}{name}\n{text}" for name, text in others)


# Words ---------------------------------------------------------------------------------------

GPUS = (
    "--gpus all",
    "--gpus=all",
    '--gpus "all"',
    "--gpus 'all'",
    "--gpus device=0,1",
    '--gpus "device=0,1"',
    "--gpus=device=0,1",
    "'--gpus=device=0,1'",
    '"--gpus=device=0,1"',
    "--gpus='device=0,1'",
    '--gpus="device=0,1"',
    "--gpus '\"device=0,1\"'",
    "--gpus '\"device=0,1\",capabilities=utility'",
    "--gpus device=0,1,capabilities=utility",
    "--gpus device=0,1,driver=nvidia",
    '--gpus "device=GPU-1a,GPU-2b"',
    "--gpus device=0,all",
    '--gpus \\"device=0,1\\"',
    "--runtime=nvidia",
    "--device nvidia.com/gpu=all",
    "--device=/dev/nvidia0 --device=/dev/nvidia1",
)
PLAIN_GPUS = (
    "--gpus all",
    "--gpus=all",
    "--gpus device=0,1",
    "--gpus 2",
    "--runtime=nvidia",
    "--device nvidia.com/gpu=all",
)
"""Those that need no other spelling between quotation marks of either kind."""
OTHERS = ("--rm", "--name x", "-v /a:/b", "-e A=1", "--network=host", "--memory 128m", "-it", "--init", "-p 80:80")
PROTECTED = ("--ipc=host", "--shm-size=64g", "--shm-size 32g", "--entrypoint nvidia-smi", "-v /dev/shm:/dev/shm")


def _size(c: Chooser, sign: str = "$") -> str:
    fixed = (f"--shm-size={c.one(SIZES)}", f"--shm-size {c.one(SIZES)}")
    if sign == "make":
        return c.one(("", "", *fixed, "--shm-size=$(S)", "--shm-size ${S}", "--shm-size=$(S)"))
    held = ("--shm-size=$S", '--shm-size "$S"', '--shm-size="${S}"', '"--shm-size=$S"', "--shm-size=${S:-64m}")
    return c.one(("", "", "", *fixed, c.one(held), c.one(held)))


def _image(c: Chooser, held: str = '"$IMG"') -> str:
    return c.one(
        (NEEDY, NEEDY, f"{NEEDY} --tensor-parallel-size 2", TRAIN, held, "redis", "redis --save 60", "ubuntu ls")
    )


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


# Scripts -------------------------------------------------------------------------------------

_USES = (
    '"${O[@]}"',
    '"${O[@]}"',
    '"${O[@]}"',
    "${O[@]}",
    '"${O[@]:0:2}"',
    '"${O[@]:1}"',
    '"${O[@]/--rm/--init}"',
    "${O[*]}",
    '${O[@]+"${O[@]}"}',
    '"${O[@]: -1}"',
    '"${O[0]}"',
    '"${P[@]}"',
    '"${P[@]}"',
    "$T",
    "$T",
    "$T",
    "$U",
    "${T}",
    "${T:-}",
    "${T/--rm/--init}",
    "${T%%--name*}",
    '"${!R}"',
    "${V:-$T}",
    "${GIVEN:+$T}",
    '${GIVEN:+--gpus "all"}',
    "${GIVEN:+--gpus 'all' -e \"A=b c\"}",
    "$(echo $T)",
    '"$@"',
    "$1 $2",
    "$*",
)


def _shared(c: Chooser) -> list[str]:
    """Lines that put options into arrays and variables."""
    gpus = c.one(GPUS)
    text = _joined(*c.some((c.one(PLAIN_GPUS), *OTHERS, *OTHERS, c.one(PROTECTED)), 1, 3), c.one(PLAIN_GPUS))
    found = [_array(c, gpus, text), _string(c, text), _held_size(c)]
    found += [f"IMG={c.one((NEEDY, NEEDY, 'redis'))}", "R=T", 'U="${U:-$T}"']
    found.append(
        c.one(
            ('P=("${O[@]}" --shm-size=64g)', 'P=(--shm-size=64g "${O[@]}")', 'P=("${O[@]}")', "P=($T --rm)", "P=(--rm)")
        )
    )
    if c.maybe(0.3):
        found.append(
            c.one(
                (
                    f"set -- {gpus}",
                    f"set -- {c.one(PLAIN_GPUS)} {c.one(PROTECTED)}",
                    'set -- "${O[@]}"',
                    "set -- --rm --init",
                )
            )
        )
    return found


def _array(c: Chooser, gpus: str, text: str) -> str:
    return c.one(
        (
            f"O=({gpus} --rm)",
            f"O=(--rm)\nO+=({gpus})",
            f"O=(--rm {gpus} --name x)",
            f"O=(\n  --rm\n  {gpus}\n)",
            f"f() {{ O=({gpus}); }}\nO=()\nf",
            f'O=({gpus})\nfor o in --rm --init; do O+=("$o"); done',
            f"O=({gpus})\n. ./local.env",
            f"O=(--rm)\nO=({gpus} ${{O[@]}})",
            f"O=({gpus})\n. ./opts.sh",
            f"declare -a O=(--rm {gpus})",
            f"O=({gpus} # one\n  --rm)",
            f"O=({gpus})\nO+=({_size(c) or '--rm'})",
            f'O=({gpus})\nif [ -n "$X" ]; then O+=({c.one(PROTECTED[:3])}); fi',
            f'O=({gpus})\n[ -z "$X" ] && O+=({c.one(PROTECTED[:3])})',
            f"O=({gpus})\nO[1]=--rm",
            f"O=('{text}' --rm)",
            f'O=("{text} --shm-size={c.one(SIZES)}" --rm)',
            f'O=("--shm-size={c.one(SIZES)} {text}")',
            f"mapfile -t O <<< '--rm'\nO+=({gpus})",
            f"readonly O=({gpus} --rm)",
            f"O=({gpus})\ncase $X in a) O+=(--ipc=host);; *) O+=(--shm-size=64g);; esac",
        )
    )


def _string(c: Chooser, text: str) -> str:
    return c.one(
        (
            f'T="{text}"',
            f"T='{text}'",
            f"T=\"{text}\"\nT+=' --rm'",
            f'export T="{text}"',
            f'T="--rm"\nT="$T {text}"',
            f'T="{text}"\n. ./opts.sh',
            f': "${{T:={text}}}"',
            f'T="${{T:-{text}}}"',
            f"read -r T <<< '{text}'",
            f"printf -v T '%s' '{text}'",
            f'T="{text}"\nreset() {{ T="--rm --shm-size=64g"; }}\n{c.one(("", "reset"))}',
            f'T="{text}"\nif [ -n "$X" ]; then T="$T --ipc=host"; fi',
            f'T="{text}"\nU="$T {c.one(PROTECTED)}"',
            f'T="{text} \\\n  --rm"',
            f"T=$(cat <<EOF\n{text}\nEOF\n)",
            f"T=\"$(cat << 'EOF'\n{text}\n\nEOF\n)\"",
        )
    )


def _held_size(c: Chooser) -> str:
    size = c.one(SIZES)
    return c.one(
        (
            f"S={size}",
            f"S={size}",
            f'S="{size}"',
            f"S=${{S:-{size}}}",
            f": ${{S:={size}}}",
            f"export S={size}",
            f"S={size}\nS=64g",
            f"S={size}\nX=$S",
            f"N={size[:-1]}\nS=${{N}}g" if size[-1] == "g" else f"S={size}",
        )
    )


def _launch(c: Chooser) -> str:
    """One command that starts a container."""
    own = [_size(c), c.one((c.one(_USES), c.one(_USES), c.one(GPUS))), c.one(("", "", c.one(OTHERS), c.one(PROTECTED)))]
    c.random.shuffle(own)
    engine = c.one(("docker", "docker", "docker", "docker", "podman", "nerdctl", "docker container", "env A=1 docker"))
    verb = c.one(("run", "run", "run", "run", "create"))
    return _joined(engine, verb, *own, _image(c))


def _in_larger_scripts(c: Chooser) -> str:
    """Commands as larger scripts have them: ``getopts``, local arrays, functions in functions, other shells."""
    gpus, size, hold = c.one(PLAIN_GPUS), _size(c).replace('"', ""), c.one(PROTECTED[:3])
    words = _launch(c)
    return c.one(
        (
            f"E=\nwhile getopts 's:g' o; do case $o in s) E=--shm-size=$OPTARG;; g) E='{gpus}';; esac; done\n"
            f"docker run {gpus} $E {NEEDY}\ndocker run $E redis",
            f"h() {{ local -a o=({gpus}); docker run \"${{o[@]}}\" {NEEDY}; docker run \"${{o[@]}}\" redis; }}\nh",
            f"h() {{ local -a o=({gpus}); [ -n \"$1\" ] && o+=({hold}); docker run \"${{o[@]}}\" {NEEDY}; }}\nh a\nh",
            f"printf -v L '%s' '{gpus}'\ndocker run $L {NEEDY}\ndocker run $L redis",
            f"printf -v L '%s %s' --rm '{gpus}'\ndocker run $L {NEEDY}\ndocker run $L {hold} {NEEDY}",
            f"E=(A=1 B=2)\ndocker run {gpus} \"${{E[@]/#/--env=}}\" {size} {NEEDY}\n"
            f"docker run \"${{E[@]/#/-e}}\" redis",
            f"L='{gpus}'\neval docker run $L {NEEDY}\neval \"docker run $L {hold} {NEEDY}\"",
            f'h() {{ n=$1; shift; docker run --name "$n" "$@"; }}\nh a {gpus} {NEEDY}\nh b redis',
            f'h() {{ docker run --name "$1" "${{@:2}}"; }}\nh a {gpus} {NEEDY}\nh b {gpus} {hold} {NEEDY}\nh c redis',
            f'outer() {{ h() {{ docker run {gpus} "$@"; }}; h {NEEDY}; h {hold} {NEEDY}; }}\nouter',
            f'if [ -n "$X" ]; then A=({hold}); else A=(); fi\ndocker run {gpus} "${{A[@]}}" {NEEDY}\n'
            f'docker run "${{A[@]}}" redis',
            f"h() {{ docker run {gpus} redis; }}\ntrap h EXIT\ndocker run {gpus} {NEEDY}",
            f"L='{gpus}'\nbash -s <<X\ndocker run $L {NEEDY}\ndocker run $L {hold} {NEEDY}\nX\ndocker run $L redis",
            f"bash -s -- 64m <<'X'\ndocker run {gpus} --shm-size=$1 {NEEDY}\nX",
            f"echo redis | xargs -I{{}} docker run {gpus} {{}}\n{words}",
            f"( L='{gpus}' && docker run $L {NEEDY} )\nL='{gpus}'; ( L=\"$L {hold}\"; docker run $L {NEEDY} )\n"
            f"docker run $L {NEEDY}",
            f"true | {words} | cat\n{_launch(c)} || {_launch(c)}",
            f"docker run\t{gpus}\t\\\n\t\t--rm\t{size}\t{NEEDY}",
            f"L=\"{gpus}\"\\\n\" --rm\"\ndocker run $L {NEEDY}\ndocker run $L redis",
            f"L='\n  {gpus}\n  --rm\n'\ndocker run $L {NEEDY}\ndocker run $L redis",
            f"A=({gpus})\nB=(\"${{A[@]}}\")\nA+=({hold})\ndocker run \"${{A[@]}}\" {NEEDY}\n"
            f"docker run \"${{B[@]}}\" {NEEDY}",
            f"read -ra B <<< '{gpus}'\ndocker run \"${{B[@]}}\" {NEEDY}\ndocker run \"${{B[@]}}\" redis",
            f"s() {{ Y=${{1:-64m}}; }}\ns 64g\ndocker run {gpus} --shm-size=$Y {NEEDY}\ns\n"
            f"docker run {gpus} --shm-size=$Y {NEEDY}",
            f"Y=64m\nh() {{ docker run {gpus} --shm-size=$Y {NEEDY}; }}\nk() {{ local Y=64g; h; }}\nk\nh",
            f"declare -A M=([a]='{gpus}' [b]=--rm)\ndocker run ${{M[a]}} {NEEDY}\ndocker run ${{M[b]}} redis",
            f"docker exec box docker run {gpus} {size} {NEEDY}",
            f"L='{gpus}'\nexport L\nsh -c 'docker run $L {NEEDY}'\nsh -c 'docker run $L {hold} {NEEDY}; tool $L'",
        )
    )


def _handed_on(gpus: str, size: str, image: str) -> tuple[str, ...]:
    """Commands that another shell is given, or that a variable holds."""
    quiet = size.replace('"', "")
    return (
        f"cat <<EOF | bash\ndocker run {quiet} $T {image}\nEOF",
        f"bash <<'EOF'\nT='{gpus}'\ndocker run {quiet.replace('$S', '64m')} $T {NEEDY}\nEOF",
        f'C="docker run $T {quiet} {image}"\neval "$C"',
        f'C=$(cat <<EOF\ndocker run $T {quiet} {image}\nEOF\n)\n$C\neval "$C"\nbash -c "$C"',
        f"C=$(cat <<'EOF'\ndocker run {gpus} {NEEDY}\ndocker run --rm redis\nEOF\n)\neval \"$C\"\nbash -c \"$C\"",
        f'C="docker run $T $U {image}"\n$C\neval "$C"',
        f'docker_cmd="docker run $T {quiet} {image}"\n[ -z "$V" ] || docker_cmd+=" --more"\neval "$docker_cmd"',
        f'DOCKER_RUN="docker run $T {quiet}"\nbash -c "$DOCKER_RUN {image}"\neval "$DOCKER_RUN {NEEDY}"',
        f'Z="{gpus}"\nY="{quiet}"\nC="docker run ${{Z}} ${{Y}} {image}"\n$C\nbash -c "docker run $Z $Y {NEEDY}"',
        f'C="docker run $T {quiet} {image}"\n$C\n$C --more',
        f'bash -c "docker run {quiet} {gpus} {image}"',
        f'C="docker run $T"\n$C {size} {image}\n$C --shm-size=64g {NEEDY}',
        f'C=(docker run {gpus})\n"${{C[@]}}" {size} {NEEDY}\n"${{C[@]}}" redis',
    )


def _repeated(words: str, gpus: str, size: str) -> tuple[str, ...]:
    """Commands that loops and functions run more than once."""
    return (
        f"for i in 1 2; do {words}; done",
        f"for s in 64m 64g; do docker run --shm-size=$s {gpus} {NEEDY}; done",
        f"for i in {NEEDY} {NEEDY}; do docker run {gpus} {size} $i; done",
        f"for o in '{gpus}' '{gpus} --shm-size=64g'; do docker run $o {NEEDY}; done",
        f'launch() {{ docker run "$@"; }}\nlaunch {gpus} {size} {NEEDY}\nlaunch --rm redis',
        f'launch() {{ docker run {gpus} "$@"; }}\nlaunch {size} {NEEDY}\nlaunch {NEEDY}',
        f'launch() {{ docker run {gpus} {size} "$@" {NEEDY}; }}\nlaunch --shm-size=64g\nlaunch --ipc=host\nlaunch',
        f"launch() {{ docker run {gpus} {size} $1 {NEEDY}; }}\nlaunch --shm-size=64g\nlaunch",
        f'launch() {{ docker run {gpus} {size} "$1"; }}\nlaunch {NEEDY}\nlaunch {NEEDY}',
        f'launch() {{ docker run {gpus} {size} "$1"; }}\nlaunch {NEEDY}\nlaunch redis',
        f'launch() {{ docker run {gpus} {size} "$@"; }}\nlaunch {NEEDY}\nlaunch redis',
        f"launch() {{ local s=$1; docker run {gpus} --shm-size=$s {NEEDY}; }}\nlaunch 64m\nlaunch 64g",
        f"launch() {{ local S=${{1:-64m}}; docker run {gpus} --shm-size=$S {NEEDY}; }}\nlaunch\nlaunch 64g",
    )


def _placed(c: Chooser) -> str:
    """A command where people write one."""
    if c.maybe(0.3):
        return _in_larger_scripts(c)
    words, other = _launch(c), _launch(c)
    gpus, size, image = c.one(PLAIN_GPUS), _size(c), _image(c, "$IMG")
    quiet = size.replace('"', "")
    return c.one(
        (
            words,
            words,
            words,
            words.replace(" --", " \\\n  --", 1),
            words.replace(" --", " \\\n  --"),
            f"( {words} )",
            f"g() {{\n  {words}\n}}\ng {c.one(('', '--rm', '--shm-size=64g', f'{gpus} --rm'))}",
            f"if true; then\n  {words}\nelse\n  {other}\nfi",
            *_handed_on(gpus, size, image),
            *_repeated(words, gpus, size),
            f"trap '{'docker run --rm redis'}' EXIT\n{words}",
            f'trap "docker run {gpus} {quiet} redis" EXIT',
            f"{words} &\nwait",
            f"{words} || {other}",
            f"{words} && {other}",
            f"{words}; {other}",
            f"X=$({words})",
            f"true | {words} | cat",
            f"case $S in\n  64m) {words};;\n  *) {other};;\nesac",
            f'if [ "$S" = 64m ]; then {words}; else {other}; fi',
            f"if [[ $T == *shm* ]]; then {words}; else {other}; fi",
            f"if [[ ${{#O[@]}} -gt 3 ]]; then {words}; else {other}; fi",
            f"(( ${{#T}} > 30 )) && {words}\n{other}",
            f'case "$T" in *shm*) tool big;; esac\n{words}',
            f'tool "$S" {c.one(_USES)}\n{words}',
            f'echo "$T" > kept\ntool $(cat kept)\n{words}',
            f'tool <<< "$T"\n{words}',
            f"cat > kept <<EOF\n$T $S\nEOF\ntool $(cat kept)\n{words}",
            f"echo {gpus} | xargs -I@ docker run @ redis\n{words}",
            f'docker run $(echo "$T") {size} {NEEDY}',
            f"S=64g {words}",
            f"S=64m; {words}; S=64g; {other}",
            f"(S=64g; O+=(--shm-size=64g); {other})\n{words}",
            f"unset T\n{words}",
            f"while read -r s; do docker run {gpus} --shm-size=$s {NEEDY}; done <<< '64m'",
            f"timeout 5 {words}",
            f"exec 3>&1\n{words} >&3 2>/dev/null",
            f"{words} # as {other}",
            f"# {other}\n{words}",
            f"tool docker run {gpus} {NEEDY}",
            f"D=docker\n$D run {gpus} {size} {image}",
            f'D="docker run {gpus}"\n$D {size} {NEEDY}\n$D {c.one(PROTECTED)} {NEEDY}\n$D redis',
            f"shm() {{ echo 64m; }}\ndocker run {gpus} --shm-size=$(shm) {NEEDY}",
            f"printf '%s\\n' '{gpus}' | while read -r o; do docker run $o {NEEDY}; done",
            f"docker run {gpus} --shm-size=${{S%m}}m {NEEDY}",
            f"docker run {gpus} --shm-size=${{S/64/32}} {image}",
            f"docker run {gpus} --shm-size=$(( 32 * 2 ))m {NEEDY}",
        )
    )


def script(c: Chooser) -> str:
    """A script with several launches that share options."""
    shared = _shared(c)
    lines = [*shared, *(_placed(c) for _ in range(c.random.randint(1, 4)))]
    if c.maybe(0.2):
        at = c.random.randrange(len(shared), len(lines) + 1)
        lines.insert(
            at, c.one(("S=64g", "O+=(--shm-size=64g)", 'T="$T --ipc=host"', "IMG=redis", "O=(--rm)", ". ./opts.sh"))
        )
    return (
        "\n".join([c.one(("#!/bin/bash", "#!/usr/bin/env bash\nset -eu" if c.maybe(0.1) else "#!/bin/bash")), *lines])
        + "\n"
    )


# Makefiles -----------------------------------------------------------------------------------


_FOR_A_TARGET = (
    "b: O += --shm-size=64g",
    "b: S = 64g",
    "b: O = --rm",
    "b: S := 64g",
    "a: S = 64g",
    "b: export S = 64g",
    "b: private S = 64g",
    "a b: S = 64m",
    "%: S = 64g",
    "b: O := $(O) --ipc=host",
)
"""Variables of one target."""
_DIRECTIVES = (
    ".ONESHELL:",
    "$(eval S = 64g)",
    "define set\nS = $(1)\nendef\n$(eval $(call set,64g))",
    "ifeq ($(S),64m)\nO += --ipc=host\nendif",
    "ifneq ($(strip $(X)),)\nS = 64g\nelse ifdef S\nO += --rm\nendif",
    "$(foreach v,S,$(eval $(v) = 64g))",
    "ifeq ($(MAKECMDGOALS),all)\nS := 64g\nendif",
    "export\n",
    "unexport S",
    "undefine S\nS = 1g",
    "O += $(shell echo --rm)",
)
"""Lines that change, or may change, what the variables are."""


def makefile(c: Chooser) -> str:
    """A Makefile whose recipes share variables."""
    lines = [
        *_make_variables(c),
        f"IMG = {c.one((NEEDY, NEEDY, 'redis'))}",
        f"define launch\ndocker run {c.one(('$(O)', c.one(PLAIN_GPUS)))} {_size(c, 'make')} $(1)"
        f" {c.one((NEEDY, '$(2)', '$(IMG)'))}\nendef",
        f"define both\ndocker run $(O) {_size(c, 'make')} {NEEDY}\ndocker run $(O) {c.one(PROTECTED)} {NEEDY}\nendef",
        f"run = docker run {c.one(('$(O)', c.one(PLAIN_GPUS)))} $(1)",
        f"asked = docker run {c.one(('', '$(O)'))} $1 $(2) ${{3}}",
        f"outer = $(call asked,$(O),$(1),{NEEDY})",
    ]
    if c.maybe(0.2):
        lines.insert(
            c.random.randrange(len(lines) + 1),
            c.one(("include opts.mk", "-include opts.mk", "-include nothing.mk", "sinclude opts.mk")),
        )
    if c.maybe(0.2):
        lines.append(c.one(("S = 64g", "O += --shm-size=64g", "O = --rm", "S := 64g")))
    lines.append("all: a b c")
    if c.maybe(0.4):
        lines.append(c.one(_FOR_A_TARGET))
    if c.maybe(0.3):
        lines.insert(c.random.randrange(2, len(lines)), c.one(_DIRECTIVES))
    for target in "abc":
        lines.append(f"{target}:" if c.maybe(0.9) else f"{target}: ; docker run $(O) {_size(c, 'make')} {NEEDY}")
        lines += ["\t" + _recipe(c) for _ in range(c.random.randint(1, 2))]
    lines.append(f"again:\n\tdocker run $(O) {_size(c, 'make')} {NEEDY}")
    return "\n".join(lines) + "\n"


def _make_variables(c: Chooser) -> list[str]:
    """Lines that hold options and a size."""
    text = _joined(
        *c.some(OTHERS, 0, 2),
        c.one((*PLAIN_GPUS, "--gpus '\"device=0,1\"'", '--gpus "device=0,1"')),
        c.one(("", "", c.one(PROTECTED))),
    )
    size = c.one(SIZES)
    sign = c.one(("=", ":=", "?=", "::="))
    return [
        c.one(
            (
                f"O {sign} {text}",
                f"O {sign} {text}",
                f"O = --rm\nO += {text}",
                f"O := --rm\nO += {text}",
                f"O = --rm \\\n  {text}",
                f"override O = {text}",
                f"export O = {text}",
                f"B = {text}\nO = $(B) --rm",
                f"B := {text}\nO := $(B)",
                f"define O\n{text}\nendef",
                f"O = {text}\nifdef X\nO += --ipc=host\nendif",
                f"ifdef X\nO = --ipc=host\nelse\nO = {text}\nendif",
                f"O = $(if $(X),--ipc=host,{text})",
                f"O = {text} # note",
            )
        ),
        c.one(
            (
                f"S {sign} {size}",
                f"S {sign} {size}",
                f"S ?= {size}",
                f"export S = {size}",
                f"N = {size[:-1]}\nS = $(N){size[-1]}",
                f"S = {size} # note",
            )
        ),
    ]


def _recipe(c: Chooser) -> str:
    own = [
        _size(c, "make"),
        c.one(
            (
                "$(O)",
                "$(O)",
                "${O}",
                c.one(GPUS),
                "$(filter-out --rm,$(O))",
                "$(O:--rm=--init)",
                "$(strip $(O))",
                "$$T",
                "$(X)",
            )
        ),
        c.one(("", "", c.one(OTHERS), c.one(PROTECTED))),
    ]
    c.random.shuffle(own)
    image = _image(c, "$(IMG)")
    words = _joined("docker run", *own, image)
    return c.one(
        (
            words,
            words,
            words,
            f"@{words}",
            f"-{words}",
            words.replace(" --", " \\\n\t  --", 1),
            f"if true; then {words}; fi",
            f"for i in 1 2; do {words}; done",
            f"$(call launch,{c.one(('', '--rm', '--shm-size=64g', '--ipc=host'))},{c.one((NEEDY, 'redis'))})",
            "$(both)",
            "$(call both)",
            f"$(call run,{_size(c, 'make')} {NEEDY})",
            f"$(call run,{c.one(PROTECTED)} {NEEDY})",
            "$(call run,redis)",
            f"$(call asked,{c.one(PLAIN_GPUS)},{_size(c, 'make')} $$T,{NEEDY})",
            f"$(call asked,,{c.one(OTHERS)},{c.one((NEEDY, 'redis', '$(IMG)'))}) && $(call asked,--rm,,redis)",
            f"$(call outer,{c.one(PLAIN_GPUS)} {_size(c, 'make')})",
            f"T='{c.one(PLAIN_GPUS)}'; docker run $$T {_size(c, 'make')} {NEEDY}; docker run $$T redis",
            f"tool $(S) '$(O)'\n\t{words}",
            f"[ $(words $(O)) -gt 3 ] && tool more; {words}",
            f"$(if $(filter 64m,$(S)),tool small,tool large)\n\t{words}",
            f"bash -c '{words}'" if "'" not in words else words,
            f"S=64g; docker run $(O) --shm-size=$$S {image}",
            f"cd . && {words} && docker run $(O) --rm redis",
            f"$(MAKE) -s again S=64g\n\t{words}",
        )
    )


# CI files ------------------------------------------------------------------------------------


def _block(text: str, indentation: str, style: str) -> str:
    """A text as the value of a YAML key."""
    lines = text.rstrip("\n").split("\n")
    if style == "|" or len(lines) > 1:
        return "|\n" + "\n".join(f"{indentation}{line}" if line else "" for line in lines)
    if style == ">":
        return ">-\n" + f"{indentation}{text}"
    if style == "'":
        return "'" + text.replace("'", "''") + "'"
    if style == '"':
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    plain = ": " not in text and " #" not in text and text[0] not in "'\"[]{}>|*&!%@`-#"
    return text if plain else _block(text, indentation, "'")


def _expressions(text: str, c: Chooser) -> str:
    """Variables of a step now and then as expressions."""
    return (
        text.replace("$S", "${{ env.S }}").replace("$T", "${{ env.T }}") if c.maybe(0.3) and "${" not in text else text
    )


def _environment(c: Chooser, pad: str) -> str:
    values = c.some(("S", "T", "IMG", "M"), 1, 2)
    told = {
        "S": c.one(SIZES),
        "T": _joined(c.one(PLAIN_GPUS), *c.some((*OTHERS, *PROTECTED), 0, 1)),
        "IMG": c.one((NEEDY, "redis")),
    }
    told["M"] = c.one(("${{ matrix.opts }}", "${{ inputs.opts }}", f"--shm-size=${{{{ matrix.size }}}} {told['T']}"))
    return f"{pad}env:\n" + "".join(
        f"{pad}  {name}: {c.one((told[name], chr(39) + told[name] + chr(39)))}\n" for name in dict.fromkeys(values)
    )


def _step(c: Chooser, pad: str, shell: bool) -> str:
    words = _expressions(
        _joined(
            "docker run",
            _size(c),
            c.one(("$T", "$T", c.one(GPUS))),
            c.one(("", c.one(PROTECTED), c.one(OTHERS))),
            _image(c, "$IMG"),
        ),
        c,
    )
    text = c.one(
        (
            words,
            words,
            words.replace(" --", " \\\n  --", 1),
            "\n".join([*_shared(c)[:3], _launch(c), _launch(c)]),
            f"T='--rm {c.one(PLAIN_GPUS)}'\n{words}",
            f"{words}\n{_launch(c)}",
            f'tool $S "$T"\n{words}',
            f"for s in ${{{{ matrix.size }}}} 64g; do docker run --gpus all --shm-size=$s {NEEDY}; done",
            f"docker run --gpus all --shm-size=${{{{ matrix.size }}}} {NEEDY}",
            f"docker run ${{{{ matrix.opts }}}} {NEEDY}",
            f"docker run {c.one(PLAIN_GPUS)} ${{{{ matrix.more }}}} {c.one((NEEDY, '${{ matrix.image }}', 'redis'))}",
            f"docker run ${{{{ matrix.opts }}}} ${{{{ matrix.more }}}} --shm-size ${{{{ matrix.size }}}} {NEEDY}",
            f"M=${{{{ matrix.more }}}}\ndocker run --gpus all $M {NEEDY}\ndocker run $M redis",
            f"docker run ${{{{ inputs.opts }}}} --shm-size ${{{{ inputs.size }}}} {NEEDY}",
            f"docker run $M {NEEDY}\ndocker run --gpus all $M redis",
            "echo S=64g >> $GITHUB_ENV",
        )
    )
    more = _environment(c, f"{pad}  ") if c.maybe(0.3) else ""
    language = c.one(("bash", "bash", "sh", "bash -e {0}", "python", "pwsh")) if shell or c.maybe(0.2) else ""
    extra = f"{pad}  shell: {language}\n" if language else ""
    if language == "python":
        text = f"import os\nos.system('docker run {c.one(PLAIN_GPUS)} {NEEDY}')"
    if c.maybe(0.1):
        extra += f"{pad}  working-directory: {c.one(('.', './', '${{ github.workspace }}'))}\n"
    return f"{pad}- name: x\n{more}{extra}{pad}  run: {_block(text, pad + '    ', c.one('|>x')).rstrip()}\n"


_DEFAULTS = ("shell: bash", "shell: sh", "working-directory: .", "shell: bash, working-directory: ./")


def workflow(c: Chooser) -> str:
    """A GitHub workflow, or an action of several steps."""
    if c.maybe(0.2):
        return "name: x\nruns:\n  using: composite\n  steps:\n" + "".join(
            _step(c, "    ", True) for _ in range(c.random.randint(1, 3))
        )
    inputs = f"\n  workflow_call:\n    inputs:\n      size: {{type: string, default: {c.one(SIZES)}}}\n"
    inputs += f"      opts: {{type: string, default: {c.one(('--rm', '--gpus all --ipc=host'))}}}\n"
    text = f"on:{c.one((' push', inputs.rstrip()))}\n" + (_environment(c, "") if c.maybe() else "")
    text += c.one(("", "", "", *(f"defaults: {{run: {{{set_}}}}}\n" for set_ in _DEFAULTS))) + "jobs:\n"
    if "inputs:" in text and c.maybe():
        given = f"size: {c.one(SIZES)}, opts: '{c.one(PLAIN_GPUS)} {c.one(PROTECTED)}'"
        text += f"  again:\n    uses: ./.github/workflows/x.yml\n    with: {{{given}}}\n"
    for job in "ab"[: c.random.randint(1, 2)]:
        text += f"  {job}:\n    runs-on: x\n"
        text += _environment(c, "    ") if c.maybe() else ""
        text += f"    defaults: {{run: {{{c.one(_DEFAULTS)}}}}}\n" if c.maybe(0.2) else ""
        text += f"    strategy:\n      matrix:\n{_matrix(c)}" if c.maybe() else ""
        if c.maybe(0.4):
            image = c.one((NEEDY, "redis", "nvcr.io/nvidia/pytorch:24.01-py3", "${{ matrix.image }}"))
            text += f"    container:\n      image: {image}\n      options: {_options(c)}\n"
        if c.maybe(0.2):
            text += (
                f"    services:\n      m:\n        image: {c.one((NEEDY, 'redis'))}\n        options: {_options(c)}\n"
            )
        text += "    steps:\n" + "".join(_step(c, "      ", False) for _ in range(c.random.randint(1, 3)))
    return text


def _matrix(c: Chooser) -> str:
    """The combinations of a job: lists, and what ``include`` and ``exclude`` make of them."""
    pad = " " * 8
    entries = [f"{pad}  - {{{_entry(c)}}}\n" for _ in range(c.random.randint(1, 3))]
    if c.maybe(0.2):
        return f"{pad}include:\n{''.join(entries)}"
    text = f"{pad}size: [64m, 64g]\n{pad}opts: ['--gpus all', '--gpus all --shm-size=64g']\n"
    if c.maybe():
        text += f"{pad}include:\n{''.join(entries)}"
    return text + (f"{pad}exclude:\n{pad}  - {{{c.one(_EXCLUDED)}}}\n" if c.maybe(0.3) else "")


_EXCLUDED = ("size: 64m", "size: 64g, opts: '--gpus all'", "opts: '--gpus all --shm-size=64g'", "size: 1g")


def _entry(c: Chooser) -> str:
    values = {
        "size": c.one(("64m", "64g", "16g")),
        "opts": c.one(("--gpus all", "--rm", "--gpus all --ipc=host")),
        "more": c.one(("", *PROTECTED[:3], *PLAIN_GPUS[:2], "--rm")),
        "image": c.one((NEEDY, "redis")),
    }
    return ", ".join(f"{name}: '{values[name]}'" for name in dict.fromkeys(c.some(tuple(values), 1, 4)))


def called(c: Chooser) -> str:
    """A workflow that another file calls, and that file: what it gives are options, sizes and images."""
    kinds = {name: c.one(("", ", required: true", f", default: {default}")) for name, default in (
        ("size", c.one(SIZES)), ("opts", c.one(("--rm", "'--gpus all --ipc=host'"))), ("image", NEEDY), ("more", "''"))
    }  # fmt: skip
    text = "on:\n  workflow_call:\n    inputs:\n"
    text += "".join(f"      {name}: {{type: string{more}}}\n" for name, more in kinds.items()) + "jobs:\n  a:\n"
    if c.maybe(0.3):
        text += "    env: {T: '${{ inputs.opts }}', S: '${{ inputs.size }}', IMG: '${{ inputs.image }}'}\n"
    if c.maybe(0.3):
        options = f"--gpus all {c.one(('', '${{ inputs.more }}', '--shm-size=${{ inputs.size }}', PROTECTED[0]))}"
        text += f"    container:\n      image: {c.one((NEEDY, '${{ inputs.image }}'))}\n      options: {options}\n"
    text += "    steps:\n"
    for _ in range(c.random.randint(1, 3)):
        sizes = ("", "--shm-size=${{ inputs.size }}", "--shm-size ${{inputs.size}}", "${{ inputs.more }}")
        own = [c.one(("${{ inputs.opts }}", "${{ inputs.more }}", "$T", c.one(PLAIN_GPUS))), c.one(sizes)]
        c.random.shuffle(own)
        image = c.one(("${{ inputs.image }}", '"${{ inputs.image }}"', "$IMG", NEEDY, "redis", "redis --save 60"))
        words = _joined("docker run", *own, image)
        text += f"      - run: {_block(words, ' ' * 10, c.one('|>x'))}\n"
    return one_text({"": text, ".github/workflows/caller.yml": _caller(c)})


def _caller(c: Chooser) -> str:
    text = "on: push\njobs:\n"
    for job in "ab"[: c.random.randint(1, 2)]:
        given = {
            "size": c.one((*SIZES, "${{ matrix.size }}")), "image": c.one((NEEDY, "redis", "${{ matrix.image }}")),
            "opts": c.one((*PLAIN_GPUS, *PROTECTED, "${{ matrix.opts }}")), "more": c.one(("", "--rm", *PROTECTED)),
        }  # fmt: skip
        text += f"  {job}:\n    uses: ./.github/workflows/x.yml\n"
        if any("matrix" in value for value in given.values()):
            text += f"    strategy:\n      matrix:\n{_matrix(c)}"
        text += "    with:\n" + "".join(f"      {name}: '{value}'\n" for name, value in given.items())
    return text


def _options(c: Chooser) -> str:
    words = _joined(
        c.one((*GPUS, "--gpus ${{ matrix.gpus }}")),
        c.one(("", f"--shm-size={c.one(SIZES)}", c.one(PROTECTED), "${{ matrix.opts }}", "${{ matrix.more }}")),
        c.one(("", *OTHERS[:4])),
    )
    return _block(words, "            ", c.one(">|x'\""))


def pipeline(c: Chooser) -> str:
    """A GitLab pipeline with variables, anchors and templates."""
    text = _joined(c.one(PLAIN_GPUS), *c.some((*OTHERS, *PROTECTED), 0, 1))
    lines = [f"variables:\n  S: {c.one(SIZES)}\n  T: '{text}'\n  IMG: {c.one((NEEDY, 'redis'))}\n"]
    words = _joined("docker run", _size(c).replace('"', ""), c.one(("$T", c.one(PLAIN_GPUS))), _image(c, "$IMG"))
    lines.append(f".start: &start\n  - {_block(words, '    ', 'x')}\n")
    lines.append(
        f".base: &base\n  variables: &vars\n    S: {c.one(SIZES)}\n  before_script:\n"
        f"    - export T='{c.one((text, '--rm --shm-size=64g'))}'\n"
    )
    if c.maybe(0.2):
        lines.append(f"default:\n  before_script:\n    - {c.one(('export S=64g', 'S=64m', 'tool', '. ./opts.sh'))}\n")
    for job in "ab":
        body = c.one(
            (
                "  <<: *base\n",
                "  extends: .base\n",
                "",
                f"  variables:\n    S: {c.one(SIZES)}\n",
                "  variables:\n    <<: *vars\n    T: '--rm --shm-size=64g'\n",
            )
        )
        body += "  script:\n"
        for _ in range(c.random.randint(1, 3)):
            own = _joined(
                "docker run",
                _size(c),
                c.one(("$T", "$T", c.one(GPUS))),
                c.one(("", c.one(PROTECTED))),
                _image(c, "$IMG"),
            )
            body += (
                "    - "
                + c.one(
                    (
                        _block(own, "      ", c.one("|>x")),
                        _block(own, "      ", c.one("|x")),
                        "*start",
                        f'O="{c.one(PLAIN_GPUS)}"',
                        _block(f"docker run $O {NEEDY}", "      ", "x"),
                        "export S=64g",
                        "tool $S $T",
                    )
                )
                + "\n"
            )
        body += c.one(("", "", "", "  after_script:\n    - docker run $T redis\n"))
        lines.append(f"{job}:\n{body}")
    return "".join(lines)


# Documents -----------------------------------------------------------------------------------


def document(c: Chooser) -> str:
    """A page whose blocks are run one after the other."""
    shared = _shared(c)
    fence = c.one(("```bash", "```sh", "```", "~~~bash", "```shell"))
    blocks = ["\n".join(shared[: c.random.randint(1, len(shared))])]
    blocks += [
        "\n".join(c.one((_launch(c), _placed(c), _launch(c))) for _ in range(c.random.randint(1, 2)))
        for _ in range(c.random.randint(1, 3))
    ]
    end = fence[:3]
    pad = c.one(("", "", "  "))
    text = "# Title\n"
    for block in blocks:
        inner = "\n".join(f"{pad}{line}" for line in block.split("\n")) if "EOF" not in block else block
        text += f"\nSay:\n\n{pad}{fence}\n{inner}\n{pad}{end}\n"
    return text


KINDS: dict[str, tuple[str, Callable[[Chooser], str]]] = {
    "shell": ("x.sh", script),
    "makefile": ("Makefile", makefile),
    "workflow": (".github/workflows/x.yml", workflow),
    "called": (".github/workflows/x.yml", called),
    "pipeline": (".gitlab-ci.yml", pipeline),
    "document": ("README.md", document),
}
"""For each kind of text the path that it has and what makes one."""
