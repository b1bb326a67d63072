"""SHM201 invalid-size."""

from __future__ import annotations

from pathlib import Path

from shmlint.model.launch import Unknown
from tests.project import findings, fixed, run
from tests.rules.cases import NGC, SIZE_RULES, levels_test, messages_test, service, sizes_test
from tests.table import table

CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "kubernetes": (service("shm_size: 8Gi", gpu=None), [("SHM201", "error")]),
    "kubernetes with gpu": (service("shm_size: 8Gi"), [("SHM201", "error")]),
    "two blanks": (service('shm_size: "8  gb"'), [("SHM201", "error")]),
    "negative": (service("shm_size: -1"), [("SHM201", "error")]),
    "negative text": (service('shm_size: "-1g"'), [("SHM201", "error")]),
    "empty text": (service('shm_size: ""'), [("SHM201", "error")]),
    "null": (service("shm_size:"), [("SHM201", "error")]),
    "word": (service("shm_size: lots"), [("SHM201", "error")]),
    "one blank": (service('shm_size: "8 gb"'), []),
    "binary": (service("shm_size: 8GiB"), []),
    "placeholder of a page": (service("shm_size: <your size>"), []),
    "placeholder with a unit": (service("shm_size: XXXg"), []),
    "placeholder of a template": (service("shm_size: '%SHM_SIZE%'"), []),
    "placeholder that asks": (service('shm_size: "change-me"'), []),
    "placeholder as a default": (service("shm_size: ${SHM:-TODO}"), []),
    "unit alone": (service("shm_size: GB"), [("SHM201", "error")]),
    "capitals of a value": (service("shm_size: UNLIMITED"), [("SHM201", "error")]),
    "capitals": (service("shm_size: 8G"), []),
}  # fmt: skip


test_what_is_found = levels_test(CASES, SIZE_RULES)


MESSAGES: dict[str, tuple[str, str]] = {
    "refused": (service("shm_size: 8Gi"),
                "service `x`: shm_size `8Gi` is refused: "
                "`Gi` is not a unit of Docker; use b, k, m, g (also kb, mb, gb)"),
}  # fmt: skip


test_messages = messages_test(MESSAGES, SIZE_RULES)


REPAIRS: dict[str, tuple[str, str]] = {
    "kubernetes": ("8Gi", "8gb"),
    "megabytes": ("512Mi", "512mb"),
    "comma": ('"8,5g"', '"8704mb"'),
    "comma behind it": ("16g,", "16gb"),
    "blanks": ("'8  gb'", "'8gb'"),
    "word": ("lots", "1gb"),
    "in full": ("16gigs", "16gb"),
    "plural": ("512 MiBs", "512mb"),
}  # fmt: skip


test_repairs_of_a_size_without_a_gpu = sizes_test(REPAIRS)


@table(
    ("name", "text", "words"),
    [
        ("compose.yaml", f"services:\n  a: {{image: {NGC}, gpus: all, shm_size: '8  gb'}}\n",
         "shm_size `8  gb` is refused"),
        ("compose.yaml", f"services:\n  a: {{image: {NGC}, gpus: all, shm_size: ''}}\n",
         "shm_size is refused"),
    ],
)  # fmt: skip
def test_words_of_the_format(tmp_path: Path, name: str, text: str, words: str) -> None:
    (found,) = findings(tmp_path, {name: text}, select=("SHM201",))
    assert words in found.message


@table(
    ("script", "advice"),
    [
        ('docker run --shm-size="1g --gpus all" vllm/vllm-openai\n',
         "write the options as words of their own, not between quotation marks"),
        ('O="--shm-size=1g -it"\ndocker run "$O" --shm-size=2g --gpus all vllm/vllm-openai\n',
         "write the options as words of their own, not between quotation marks"),
        ('O=(--shm-size=64Mi)\ndocker run "${O[@]}" redis\n', ""),
    ],
)  # fmt: skip
def test_no_fix_takes_other_options_away(tmp_path: Path, script: str, advice: str) -> None:
    (found,) = findings(tmp_path, {"x.sh": script}, select=("SHM201",))
    assert found.advice == advice
    assert bool(fixed(tmp_path, {"x.sh": script}, select=("SHM201",))) is not bool(advice)


@table(
    ("script", "image"),
    [
        (f"docker run --gpus all --shm-size {NGC} torchrun --nproc_per_node=8 t.py\n", NGC),
        (f"IMG={NGC}\ndocker run --gpus all --shm-size $IMG torchrun --nproc_per_node=8 t.py\n", NGC),
        (f"docker run --shm-size --gpus all {NGC} torchrun --nproc_per_node=8 t.py\n", NGC),
        (f"docker run --gpus all --shm-size -it {NGC} torchrun --nproc_per_node=8 t.py\n", NGC),
        (f"docker run --gpus all --shm-size {NGC}\n", NGC),
        (f"docker run --gpus all --shm-size lots {NGC} python train.py\n", NGC),
        (f"docker run --gpus all --shm-size 16 g {NGC} python train.py\n", None),
        (f"docker run --gpus all --shm-size = 16g {NGC} python train.py\n", None),
        (f"docker run --gpus all --shm-size= 16g {NGC} python train.py\n", None),
        (f"docker run --gpus = all --shm-size=8g {NGC} python train.py\n", None),
        (f"docker run --gpus device=0 1 --shm-size=8g {NGC} python train.py\n", None),
    ],
)
def test_no_fix_takes_the_image_away(tmp_path: Path, script: str, image: str | None) -> None:
    """The client takes the word after an option for its value, whatever it is meant as."""
    (launch,) = run(tmp_path, {"x.sh": script}).launches
    assert (launch.image.text if launch.image is not None else None) == image
    assert fixed(tmp_path, {"x.sh": script}) == {}


def test_a_size_that_does_not_fit_is_refused_by_the_engine(tmp_path: Path) -> None:
    files = {"x.sh": "docker run --gpus all --shm-size=9000000000g foo\n"}
    (found,) = (f for f in findings(tmp_path, files) if f.rule != "SHM101")
    assert (found.rule, found.severity) == ("SHM201", "error") and "it is too large" in found.message
    files = {"x.sh": "docker run --gpus all --shm-size=9000000000g --shm-size=8g foo\n"}
    assert [f.rule for f in findings(tmp_path, files)] == []


PROGRAM = "torchrun --nproc_per_node=8 t.py"


@table("size", ["<size in GB>", "[SIZE]g", "YOUR_SHM_SIZE", "SIZE", "XXg", "@SHM@", "__SHM_SIZE__", "..."])
@table(
    ("path", "text"),
    [
        ("compose.yaml", f"services:\n  a: {{image: {NGC}, gpus: all, shm_size: '$1'}}\n"),
        ("a.md", f"```yaml\nservices:\n  a:\n    image: {NGC}\n    gpus: all\n    shm_size: '$1'\n```\n"),
        ("a.md", f"```\ndocker run --gpus all --shm-size=$1 {NGC} {PROGRAM}\n```\n"),
        ("a.rst", f"::\n\n  docker run --gpus all --shm-size $1 {NGC} {PROGRAM}\n"),
        ("a.sh", f"S='$1'\ndocker run --gpus all --shm-size=\"$S\" {NGC} {PROGRAM}\n"),
        (".devcontainer.json", f'{{"image": "{NGC}", "runArgs": ["--gpus=all", "--shm-size=$1"]}}'),
    ],
)
def test_a_placeholder_is_unknown_and_stays(tmp_path: Path, path: str, text: str, size: str) -> None:
    files = {path: text.replace("$1", size)}
    (launch,) = run(tmp_path, files).launches
    assert launch.shm is not None and isinstance(launch.shm.value, Unknown) and launch.shm.value.kind == "variable"
    assert [f.rule for f in findings(tmp_path, files) if f.severity == "error"] == []
    assert fixed(tmp_path, files, unsafe=True) == {}


def test_a_size_after_a_placeholder_counts(tmp_path: Path) -> None:
    (launch,) = run(tmp_path, {"x.sh": f"docker run --gpus all --shm-size=SIZE --shm-size=8g {NGC}\n"}).launches
    assert launch.shm is not None and launch.shm.text == "8g"


def test_a_placeholder_of_an_env_file_is_not_shown(tmp_path: Path) -> None:
    files = {"compose.yaml": service("shm_size: ${SHM}"), ".env": "SHM=YOUR_SECRET\n"}
    found = findings(tmp_path, files, select=("ALL",))
    assert found and [f for f in found if "SECRET" in repr(f.message) or f.severity != "note"] == []


@table(
    ("more", "advice"),
    [
        ("volumes: ['/dev/shm:/dev/shm']", "delete the mount on /dev/shm, which takes effect, and write 16g"),
        ("mem_limit: 8g", "raise the memory limit, which includes /dev/shm, above 16g, and write that"),
        ("init: true", None),
    ],
)
def test_a_size_that_would_have_no_effect_is_not_written(tmp_path: Path, more: str, advice: str | None) -> None:
    text = f"services:\n  a:\n    image: {NGC}\n    gpus: all\n    shm_size: 16Gi\n    {more}\n"
    found = [one for one in findings(tmp_path, text) if one.rule == "SHM201"]
    assert [(one.fix is None, one.advice) for one in found] == [(advice is not None, advice or "")]
    assert bool(fixed(tmp_path, text)) == (advice is None)


def test_an_empty_size_before_a_blank_stays(tmp_path: Path) -> None:
    line = f"docker run --shm-size= 8g --gpus all {NGC}\n"
    other = f"docker run --gpus {NGC} torchrun --nproc_per_node=8 t.py\n"
    assert fixed(tmp_path, {"x.sh": line + other})["x.sh"].startswith(line)
