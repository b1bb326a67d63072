"""Settings files: where they are found, what they say, and how a slip in them is answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import shmlint
from shmlint.cli import program as cli
from shmlint.config import load
from shmlint.config.check import fits, schema
from shmlint.config.describe import described
from shmlint.config.rules import nearest_rule
from shmlint.model.settings import InvalidSettings, Settings
from shmlint.workloads.knowledge import users
from tests.project import findings, write
from tests.table import table

GIB = 1024**3
NGC = "nvcr.io/nvidia/pytorch:24.01-py3"
TRAINER = f"services:\n  x:\n    image: {NGC}\n    gpus: all\n"
RUN = f"docker run --gpus all {NGC} python train.py\n"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository that the test runs in; nothing above it counts."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(text: str, name: str = ".shmlint.yaml") -> Settings:
    write(Path(), {name: text})
    return load(None, ".")


def refused(text: str, name: str = ".shmlint.yaml") -> str:
    with pytest.raises(InvalidSettings) as caught:
        settings(text, name)
    message = str(caught.value)
    assert "\n" not in message
    return message


EVERYTHING = """\
# every key there is
select: [SHM1, dropped-float]
ignore:
  - SHM103
exclude: ["third_party/", "*.bak.yml"]
severity: {SHM103: warning, dropped-float: "off"}
per-file-ignores: {"tests/": [SHM1]}
fail-on: warning
shm-size: 16gb
daemon-default-shm-size: 128m
engine: podman
unknown-workload: ignore
follow-outside: true
pod-kinds: [TrainingRun]
projects:
  - [compose.yaml, compose.gpu.yaml]
workloads:
  - id: ours
    name: Our trainer
    images: ["registry.example/ours/*"]
    commands: ["ours train"]
    needs: "yes"
    minimum: 2gb
    recommended: 8gb
    because: its workers hand batches over
"""
EVERYTHING_TOML = """\
[project]
name = "x"

[tool.shmlint]
select = ["SHM1", "dropped-float"]
ignore = ["SHM103"]
exclude = ["third_party/", "*.bak.yml"]
severity = {SHM103 = "warning", dropped-float = "off"}
per-file-ignores = {"tests/" = ["SHM1"]}
fail-on = "warning"
shm-size = "16gb"
daemon-default-shm-size = "128m"
engine = "podman"
unknown-workload = "ignore"
follow-outside = true
pod-kinds = ["TrainingRun"]
projects = [["compose.yaml", "compose.gpu.yaml"]]

[[tool.shmlint.workloads]]
id = "ours"
name = "Our trainer"
images = ["registry.example/ours/*"]
commands = ["ours train"]
needs = "yes"
minimum = "2gb"
recommended = "8gb"
because = "its workers hand batches over"
"""


@pytest.mark.parametrize(("name", "text"), [(".shmlint.yaml", EVERYTHING), ("pyproject.toml", EVERYTHING_TOML)])
def test_everything(name: str, text: str) -> None:
    found = settings(text, name)
    assert found._replace(workloads=(), origins=()) == Settings(
        select=("SHM1", "dropped-float"),
        ignore=("SHM103",),
        exclude=("third_party/", "*.bak.yml"),
        severity=(("SHM103", "warning"), ("dropped-float", "off")),
        per_file_ignores=(("tests/", ("SHM1",)),),
        fail_on="warning",
        shm_size=16 * GIB,
        default_shm_size=128 * 1024**2,
        engine="podman",
        unknown_workload="ignore",
        follow_outside=True,
        pod_kinds=("TrainingRun",),
        projects=(("compose.yaml", "compose.gpu.yaml"),),
        path=name,
    )
    assert {"extend", *dict(found.origins)} == set(schema()["properties"])
    workload = users(found.workloads)[0]
    assert (workload.id, workload.needs, workload.minimum, workload.verified) == ("ours", "yes", 2 * GIB, True)


def test_without_any() -> None:
    assert load(None, ".") == Settings()


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "{}\n"])
def test_an_empty_file(text: str) -> None:
    assert settings(text)._replace(path=None, origins=()) == Settings()


@pytest.mark.parametrize("text", ["[tool.shmlint]\n", "[tool.other]\nx = 'tool.shmlint'\n"])
def test_an_empty_table(text: str) -> None:
    assert settings(text, "pyproject.toml")._replace(path=None, origins=()) == Settings()


# Where they are found --------------------------------------------------------------------------


def test_the_nearest_upwards(repository: Path) -> None:
    write(repository, {".shmlint.yaml": "fail-on: note\n", "a/b/compose.yaml": ""})
    write(repository, {"a/pyproject.toml": "[tool.black]\n"})
    assert load(None, "a/b").path == ".shmlint.yaml"
    assert load(None, "a/b/compose.yaml").path == ".shmlint.yaml"
    write(repository, {"a/pyproject.toml": "[tool.shmlint]\nfail-on = 'warning'\n"})
    assert load(None, "a/b").fail_on == "warning"
    write(repository, {"a/.shmlint.yaml": "fail-on: error\n"})
    assert load(None, "a/b").path == "a/.shmlint.yaml", "before a pyproject.toml in the same directory"


def test_not_beyond_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, {".shmlint.yaml": "fail-on: note\n", "inner/.git/HEAD": "", "inner/deep/x": ""})
    monkeypatch.chdir(repository / "inner" / "deep")
    assert load(None, ".") == Settings()


def test_from_below(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, {".shmlint.yaml": "projects: [[a.yaml, sub/b.yaml]]\n", "sub/x": ""})
    monkeypatch.chdir(repository / "sub")
    found = load(None, ".")
    assert found.path == "../.shmlint.yaml"
    assert found.projects == (("../a.yaml", "b.yaml"),), "relative to the file that names them"


def test_named(repository: Path) -> None:
    write(repository, {".shmlint.yaml": "fail-on: note\n", "ci/lint.yaml": "fail-on: warning\nprojects: [[a.yaml]]\n"})
    found = load("ci/lint.yaml", ".")
    assert (found.fail_on, found.projects) == ("warning", (("ci/a.yaml",),))
    write(repository, {"other.toml": "fail-on = 'note'\n"})
    assert load("other.toml", ".").fail_on == "note"
    with pytest.raises(InvalidSettings, match=r"^gone\.yaml: no such file"):
        load("gone.yaml", ".")


# Several files ---------------------------------------------------------------------------------


def test_each_file_follows_the_nearest_settings(repository: Path) -> None:
    small = TRAINER + "    shm_size: 8m\n"
    write(repository, {
        ".shmlint.yaml": "severity: {SHM101: note}\nexclude: [old/]\n",
        "compose.yaml": TRAINER,
        "old/compose.yaml": TRAINER,
        "a/.shmlint.yaml": "shm-size: 24gb\nexclude: [drafts/]\nper-file-ignores: {x/: [SHM102]}\n",
        "a/compose.yaml": TRAINER, "a/b/run.sh": RUN, "a/drafts/compose.yaml": TRAINER, "a/x/compose.yaml": small,
        "a/apart/.git/HEAD": "",
        "p/pyproject.toml": '[tool.shmlint]\nextend = "../.shmlint.yaml"\nfail-on = "note"\n',
        "p/compose.yaml": TRAINER,
        "p/deep/compose.yaml": TRAINER, "p/deep/compose.override.yaml": "services: {x: {environment: {A: b}}}\n",
        "p/deep/gpu/.shmlint.yaml": "severity: {SHM101: off}\n", "p/deep/gpu/run.sh": RUN,
    })  # fmt: skip
    for paths in ((), ("a", "p", "compose.yaml"), ("a/compose.yaml", "a/b", "a/x", "p", "compose.yaml")):
        found = CliRunner().invoke(cli.program, ["--format", "json", *paths])
        shown = json.loads(found.output)["findings"]
        assert [(f["path"], f["rule"], f["severity"]) for f in shown] == [
            ("a/b/run.sh", "SHM101", "error"), ("a/compose.yaml", "SHM101", "error"),
            ("compose.yaml", "SHM101", "note"), ("p/compose.yaml", "SHM101", "note"),
            ("p/deep/compose.yaml", "SHM101", "note"),
        ], paths  # fmt: skip
        assert ["24g" in f["fix"]["title"] for f in shown[:3]] == [True, True, False]
        assert found.exit_code == 1
    assert [CliRunner().invoke(cli.program, [path]).exit_code for path in ("compose.yaml", "p", "a/x")] == [0, 1, 0]
    api = [(f.location.path, f.rule) for f in shmlint.lint().findings]
    assert api == [(f["path"], f["rule"]) for f in shown]
    named = CliRunner().invoke(cli.program, ["--config", "a/.shmlint.yaml", "--format", "json", "compose.yaml", "p"])
    assert {f["severity"] for f in json.loads(named.output)["findings"]} == {"error"}, "one file for all"


def test_excluded_files_that_are_named(repository: Path) -> None:
    paths = ["old/compose.yaml", "a/b/compose.yaml", "a/compose.yaml"]
    write(repository, dict.fromkeys(paths, TRAINER))
    write(repository, {".shmlint.yaml": "exclude: [old/]\n", "a/.shmlint.yaml": "exclude: [/b/*.yaml]\n"})
    files = {options: CliRunner().invoke(cli.program, ["files", *options, *paths]).output.split() for options in [
        (), ("--force-exclude",), ("--force-exclude", "--config", "a/.shmlint.yaml"),
    ]}  # fmt: skip
    assert [sorted(found) for found in files.values()] == [sorted(paths), ["a/compose.yaml"], sorted(paths)]


def test_settings_above_all_paths_exclude_for_all_of_them(repository: Path) -> None:
    write(repository, dict.fromkeys(["a/compose.yaml", "b/compose.yaml"], TRAINER) | {
        ".shmlint.yaml": "exclude: [b/]\n", "a/.shmlint.yaml": "shm-size: 1g\n", "b/.shmlint.yaml": "shm-size: 1g\n",
    })  # fmt: skip
    for paths in (["a", "b"], ["b", "a"]):
        assert CliRunner().invoke(cli.program, ["files", *paths]).output.split() == ["a/compose.yaml"]


@pytest.mark.needs("links")
def test_what_is_wrong_with_an_excluded_path_is_not_reported(repository: Path) -> None:
    write(repository, {"a/compose.yaml": TRAINER, "a/.shmlint.yaml": "exclude: [old-compose.yaml]\n"})
    (repository / "a" / "old-compose.yaml").symlink_to(repository.parent / "compose.yaml")
    (repository.parent / "compose.yaml").write_text(TRAINER)
    found = json.loads(CliRunner().invoke(cli.program, ["--format", "json", "."]).output)["findings"]
    assert [finding["rule"] for finding in found] == ["SHM101"]
    (repository / "a" / ".shmlint.yaml").unlink()
    found = json.loads(CliRunner().invoke(cli.program, ["--format", "json", "."]).output)["findings"]
    assert [finding["rule"] for finding in found] == ["SHM101", "SHM001"]


def test_extend(repository: Path) -> None:
    write(repository, {
        "base.yaml": "fail-on: note\nexclude: [x/]\nprojects: [[a.yaml]]\nshm-size: 1g\n",
        "mid/base.toml": 'extend = "../base.yaml"\nshm-size = "2g"\n',
        "mid/low/.shmlint.yaml": "extend: ../base.toml\nengine: podman\n",
    })  # fmt: skip
    found = load(None, "mid/low")
    assert (found.fail_on, found.shm_size, found.engine, found.projects) == ("note", 2 * GIB, "podman", (("a.yaml",),))
    assert found.directory("exclude") == "", "patterns count from the file that has them"
    shown = list(described(found))
    for line in ('fail-on: "note"  # base.yaml:1', 'shm-size: "2g"  # mid/base.toml:2',
                 'engine: "podman"  # mid/low/.shmlint.yaml:2'):  # fmt: skip
        assert line in shown
    for text, message in (
        ("extend: ../gone.yaml\n", "mid/low/.shmlint.yaml:1:1: extend: ../gone.yaml: no such file"),
        ("extend: ./.shmlint.yaml\n", "mid/low/.shmlint.yaml:1:1: extend: mid/low/.shmlint.yaml extends itself"),
        ("\nextend: ../../../x.yaml\n",
         "mid/low/.shmlint.yaml:2:1: extend: ../../../x.yaml is outside the repository and is not followed"),
    ):  # fmt: skip
        write(repository, {"mid/low/.shmlint.yaml": text})
        with pytest.raises(InvalidSettings) as caught:
            load(None, "mid/low")
        assert str(caught.value).startswith(message)


@table(
    ("name", "meant"),
    [("SHM1O1", "SHM101"), ("shm1oi", "SHM101"), ("SHM2I2", "SHM212"), ("SHM901", ""), ("NCCL599", "NCCL5"),
     ("mising-shm-size", "missing-shm-size"), ("x", "")],
)  # fmt: skip
def test_the_nearest_rule_is_of_the_same_family(name: str, meant: str) -> None:
    found = nearest_rule(name)
    assert found.startswith(meant) if meant else not found


# Slips -----------------------------------------------------------------------------------------


@table(
    ("text", "message"),
    [
        ("shm-sise: 8gb\n", ".shmlint.yaml:1:1: unknown key `shm-sise`; did you mean `shm-size`?"),
        ("\n# x\nfail_on: error\n", ".shmlint.yaml:3:1: unknown key `fail_on`; did you mean `fail-on`?"),
        ("select: SHM101\n", ".shmlint.yaml:1:1: select must be a list of rule ids, prefixes or names"),
        ("ignore:\n  - 101\n", ".shmlint.yaml:2:5: ignore[0] must be a text in quotes"),
        ("fail-on: never\n", ".shmlint.yaml:1:1: fail-on must be one of error, warning, note"),
        ("severity: [SHM101]\n",
         ".shmlint.yaml:1:1: severity must be a mapping of rule ids, prefixes or names to error, warning, note or off"),
        ("severity:\n  SHM1: note\n  SHM2: info\n",
         ".shmlint.yaml:3:3: severity.SHM2 must be one of error, warning, note, off"),
        ("per-file-ignores:\n  docs/: SHM1\n",
         ".shmlint.yaml:2:3: per-file-ignores.docs/ must be a list of rule ids, prefixes or names"),
        ("per-file-ignores:\n  '!': [SHM1]\n", ".shmlint.yaml:2:3: `!` is not a pattern as in a .gitignore"),
        ("engine: lxc\n", ".shmlint.yaml:1:1: engine must be one of docker, podman, swarm"),
        ("unknown-workload: maybe\n", ".shmlint.yaml:1:1: unknown-workload must be one of note, warn, error, ignore"),
        ("shm-size: 1.5\n", ".shmlint.yaml:1:1: shm-size must be a size like 8gb"),
        ("shm-size: 1e9\n", ".shmlint.yaml:1:1: shm-size must be a size like 8gb"),
        ("daemon-default-shm-size: 1.0e9\n", ".shmlint.yaml:1:1: daemon-default-shm-size must be a size like 8gb"),
        ("workloads:\n- id: x\n  commands: [a]\n  needs: 'yes'\n  recommended: 1e9\n",
         ".shmlint.yaml:5:3: workloads[0].recommended must be a size like 8gb"),
        ("shm-size: 8Gi\n",
         ".shmlint.yaml:1:1: shm-size: `Gi` is not a unit of Docker; use b, k, m, g (also kb, mb, gb)"),
        ("exclude: []\nshm-size: -1\n", ".shmlint.yaml:2:1: shm-size: a size must be greater than 0"),
        ("daemon-default-shm-size: '0'\n", ".shmlint.yaml:1:1: daemon-default-shm-size: a size must be greater than 0"),
        ("shm-size: 16\n", ".shmlint.yaml:1:1: shm-size: 16 counts bytes; write the unit, like 8gb"),
        ("shm-size: '65536'\n", ".shmlint.yaml:1:1: shm-size: 65536 counts bytes; write the unit, like 8gb"),
        ("daemon-default-shm-size: 0x10\n",
         ".shmlint.yaml:1:1: daemon-default-shm-size: 16 counts bytes; write the unit, like 8gb"),
        ("workloads:\n- id: vllm\n  minimum: 8\n",
         ".shmlint.yaml:3:3: workloads[0].minimum: 8 counts bytes; write the unit, like 8gb"),
        ("follow-outside: maybe\n", ".shmlint.yaml:1:1: follow-outside must be true or false"),
        ("projects: [compose.yaml]\n", ".shmlint.yaml:1:12: projects[0] must be a list"),
        ("- select\n", ".shmlint.yaml:1:1: expected a mapping of settings"),
        ("just a text\n", ".shmlint.yaml:1:1: expected a mapping of settings"),
        ("workloads:\n  - images: [a]\n", ".shmlint.yaml:2:5: workloads[0]: 'id' is a required property"),
        ("workloads:\n  - id: a\n    needs: maybe\n",
         ".shmlint.yaml:3:5: workloads[0].needs must be one of yes, multi-gpu, no, depends"),
        ("workloads:\n  - id: a\n    needs: 'no'\n",
         ".shmlint.yaml:2:5: a: it needs `images` or `commands` to be recognised"),
        ("workloads:\n  - id: a\n    images: [a]\n",
         ".shmlint.yaml:2:5: a: `needs` is missing: yes, multi-gpu, no or depends"),
        ("workloads:\n  - id: a\n    needs: 'yes'\n    images: [a]\n    minimum: 8x\n",
         ".shmlint.yaml:5:5: workloads[0].minimum: `x` is not a unit of Docker; use b, k, m, g (also kb, mb, gb)"),
        ("workloads:\n  - id: a\n    id: b\n", ".shmlint.yaml:3:5: id is set twice"),
        ("workloads:\n  - id: a\n    image: [a]\n", ".shmlint.yaml:3:5: unknown key `image`; did you mean `images`?"),
    ],
)  # fmt: skip
def test_slips(text: str, message: str) -> None:
    assert refused(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.shmlint]\nshm-sise = '8gb'\n", "pyproject.toml:2:1: unknown key `shm-sise`; did you mean `shm-size`?"),
        ("[tool.shmlint]\nshm-size = '8x'\n",
         "pyproject.toml:2:1: shm-size: `x` is not a unit of Docker; use b, k, m, g (also kb, mb, gb)"),
        ("[tool.other]\nshm-size = '8g'\n[tool.shmlint]\nshm-size = '8x'\n",
         "pyproject.toml:4:1: shm-size: `x` is not a unit of Docker; use b, k, m, g (also kb, mb, gb)"),
        ("[tool.shmlint]\nselect = 1\n", "pyproject.toml:2:1: select must be a list of rule ids, prefixes or names"),
        ("tool.shmlint = 1\n", "pyproject.toml:1:6: tool.shmlint must be a table of settings"),
        ("[tool.shmlint]\nx = \n", "pyproject.toml:2:5: invalid TOML: invalid value"),
        ("[tool.shmlint]\nignore = [SHM101]\n", "pyproject.toml:2:11: invalid TOML: invalid value"),
        ("[tool.shmlint]\nx\n\n", "pyproject.toml:2:2: invalid TOML: expected '=' after a key in a key/value pair"),
        ("[tool.shmlint]\nx = \"a", "pyproject.toml:2:7: invalid TOML: unterminated string"),
        ("[tool.shmlint]\n[tool.shmlint]\n",
         "pyproject.toml:2:14: invalid TOML: cannot declare ('tool', 'shmlint') twice"),
    ],
)  # fmt: skip
def test_slips_in_toml(text: str, message: str) -> None:
    assert refused(text, "pyproject.toml") == message


def test_files_that_cannot_be_read() -> None:
    assert refused("a: [\n").startswith(".shmlint.yaml:2:1: ")
    assert refused("shm-size: 1g\nshm-size: 2g\n").startswith(".shmlint.yaml:2:1: ")
    Path(".shmlint.yaml").unlink()
    Path("pyproject.toml").write_bytes(b"[tool.shmlint]\nx = '\xff'\n")
    with pytest.raises(InvalidSettings, match="toml:2:6: not UTF-8: byte 0xff"):
        load(None, ".")
    Path(".shmlint.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(InvalidSettings, match="not UTF-8"):
        load(None, ".")


@pytest.mark.parametrize("size", ["8g", "8gb", "8 GB", "8GiB", "8589934592", "'8589934592'", "8388608k"])
def test_sizes(size: str) -> None:
    assert settings(f"shm-size: {size}\n").shm_size == 8 * GIB


def test_no_is_a_word_here() -> None:
    found = settings("workloads:\n  - id: ours\n    images: [registry.example/ours]\n    needs: no\n")
    assert users(found.workloads)[0].needs == "no"


def test_an_entry_of_the_programs_own_can_be_changed() -> None:
    found = settings("workloads:\n  - {id: vllm, recommended: 32gb}\n")
    workload = users(found.workloads)[0]
    assert (workload.recommended, workload.needs) == (32 * GIB, "multi-gpu")
    assert "vllm/vllm-tpu" in workload.images


# What they do ----------------------------------------------------------------------------------




def told(text: str, **files: str) -> list[tuple[str, str, str]]:
    found = settings(text)
    return [(f.span.path, f.rule, f.severity) for f in findings(Path(), files, **found._asdict())]


@table(
    ("text", "severity"),
    [
        ("{}", "error"),
        ("severity: {SHM101: note}", "note"),
        ("severity: {missing-shm-size: warning}", "warning"),
        ("severity: {SHM1: warning, SHM101: note}", "note"),
        ("severity: {SHM101: note, SHM1: warning}", "note"),
        ("severity: {all: note}", "note"),
        ("severity: {SHM102: note}", "error"),
        ("severity: {SHM101: off}", None),
        ("severity: {SHM1: off, SHM101: warning}", "warning"),
    ],
)
def test_severity(text: str, severity: str | None) -> None:
    expected = [("compose.yaml", "SHM101", severity)] if severity else []
    assert told(text, **{"compose.yaml": TRAINER}) == expected


def test_per_file_ignores(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = TRAINER + "    shm_size: 8m\n"
    files = {"compose.yaml": TRAINER, "docs/compose.yaml": TRAINER, "docs/small.compose.yaml": small}
    assert [path for path, _, _ in told("per-file-ignores: {docs/: [SHM1]}", **files)] == ["compose.yaml"]
    found = told("per-file-ignores: {'docs/**': [missing-shm-size]}", **files)
    assert [path for path, _, _ in found] == ["compose.yaml", "docs/small.compose.yaml"]
    assert told("per-file-ignores: {'*.yaml': [all], '/compose.yaml': [SHM2]}", **files) == []
    assert len(told("per-file-ignores: {/docs/compose.yaml: [SHM101]}", **files)) == 2
    monkeypatch.chdir(repository / "docs")
    inner = load(None, ".")
    assert inner.path == "../.shmlint.yaml"
    assert [f.span.path for f in findings(Path(), {}, **inner._asdict())] == ["small.compose.yaml"], (
        "relative to the settings file"
    )


@pytest.mark.parametrize(
    ("ipc", "engine", "severity"),
    [("host", "docker", "note"), ("host", "podman", "error"), ("none", "podman", "error"),
     ("container:x", "podman", "note")],
)  # fmt: skip
def test_engine(ipc: str, engine: str, severity: str) -> None:
    text = TRAINER + f"    ipc: {ipc}\n    shm_size: 8gb\n"
    found = told(f"engine: {engine}\nselect: [SHM204]", **{"compose.yaml": text})
    assert found == [("compose.yaml", "SHM204", severity)]


def test_engine_swarm() -> None:
    text = "services:\n  x:\n    image: postgres\n    shm_size: 1g\n"
    assert told("engine: swarm\nselect: [SHM206]", **{"compose.yaml": text}) == [("compose.yaml", "SHM206", "note")]
    assert told("engine: docker\nselect: [SHM206]", **{"compose.yaml": text}) == []


def test_described() -> None:
    found = settings("shm-size: 16gb\nignore: [SHM103]\nseverity: {SHM101: note}\nfail-on: error\n")
    shown = list(described(found))
    assert shown == [
        "# settings file: .shmlint.yaml",
        'select: []  # default',
        'ignore: ["SHM103"]  # .shmlint.yaml:2',
        "exclude: []  # default",
        'severity: {"SHM101": "note"}  # .shmlint.yaml:3',
        "per-file-ignores: {}  # default",
        'fail-on: "error"  # .shmlint.yaml:4',
        'shm-size: "16g"  # .shmlint.yaml:1',
        'daemon-default-shm-size: "64m"  # default',
        'engine: "docker"  # default',
        'unknown-workload: "note"  # default',
        "follow-outside: false  # default",
        "pod-kinds: []  # default",
        "projects: []  # default",
        "workloads: []  # default",
    ]
    again = settings("\n".join(shown))
    assert again.ignore == ("SHM103",) and again.shm_size == 16 * GIB, "it is a settings file itself"
    bare = Settings()
    assert "# shm-size is not set" in list(described(bare))


def test_what_surely_fits_the_schema_is_valid() -> None:
    """And most of what is valid surely fits, so that it needs no import of jsonschema."""
    values = (None, True, 1, 1.5, "", "note", "off", "docker", "x", [], ["x"], [1], [[]], [["x"]], {}, {"x": "off"},
              {"x": ["y"]}, {"x": "z"}, {"x": [1]}, [{"id": "x"}])  # fmt: skip
    rules = schema()
    validator = Draft202012Validator(rules)
    cases = [{key: value} for key in (*rules["properties"], "y") for value in values]
    sure = [case for case in cases if fits(case, rules)]
    assert all(validator.is_valid(case) for case in sure)
    unsure = [case for case in cases if case not in sure and validator.is_valid(case)]
    assert len(sure) > 30 and all(case.keys() == {"workloads"} for case in unsure), unsure
