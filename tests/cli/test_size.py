"""What `shmlint size` answers: the arithmetic, who says so, and what to type."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from shmlint.cli import program as cli
from shmlint.cli import size as sizing_cli
from shmlint.workloads import mechanisms as estimate
from shmlint.workloads.knowledge import builtin
from tests.table import table

Run = Callable[..., Result]
GIB = 2**30
MIB = 2**20


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `shmlint size` in an empty directory, where no settings are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def started(*arguments: str) -> Result:
        result = CliRunner().invoke(cli.program, ["size", *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return started


@pytest.fixture
def told(run: Run) -> Callable[..., dict[str, Any]]:
    """The answer as programs get it."""

    def asked(*arguments: str) -> dict[str, Any]:
        result = run("--format", "json", *arguments)
        assert result.exit_code == 0, result.stderr
        loaded: dict[str, Any] = json.loads(result.stdout)
        return loaded

    return asked


Told = Callable[..., dict[str, Any]]


# What it looks like ----------------------------------------------------------------------------


def test_the_arithmetic_of_nccl(run: Run) -> None:
    result = run("--gpus", "8", "--nccl", "2.27", "torchrun", "--nproc_per_node=8", "train.py")
    assert result.exit_code == 0 and result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[:11] == [
        "launcher of distributed training, command torchrun --nproc_per_node=8 train.py,",
        "8 GPUs",
        "",
        "    252 MiB  NCCL's proxy pools  8 ranks × 31.5 MiB (NCCL 2.27)",
        "             estimated:",
        "             https://github.com/NVIDIA/nccl/blob/5067397/src/include/proxy.h",
        "  275.7 MiB  NCCL's connections  15 connections × 2 channels × 9.2 MiB",
        "             estimated:",
        "             https://github.com/NVIDIA/nccl/blob/5067397/src/init.cc#L810-L813",
        "  527.7 MiB  together",
        "",
    ]
    assert "     answer  1 GiB (the recommended size, more than the sum)" in lines
    assert " docker run  --shm-size=1g" in lines
    assert "    compose  shm_size: 1gb" in lines
    assert any(line.startswith("       note  NCCL: about, for one communicator") for line in lines)


def test_the_arithmetic_of_dataloaders(run: Run) -> None:
    result = run("--workers", "8", "--batch-size", "64", "--item-size", "3x224x224", "python", "train.py")
    assert result.stdout == """\
unknown workload, command python train.py

  661.5 MiB  DataLoader batches  (8 workers × 2 ahead + 2 in use) × 36.8 MiB
             documented and measured:
             https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading

     answer  1 GiB (the sum, rounded up)
 docker run  --shm-size=1g
    compose  shm_size: 1gb
 kubernetes  volumes:
             - {name: dshm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}
             volumeMounts:  # in the container
             - {name: dshm, mountPath: /dev/shm}
"""


@table("workers, noun", [("1", "worker"), ("2", "workers")])
def test_workers_without_the_size_of_a_batch(run: Run, workers: str, noun: str) -> None:
    told = run("--workers", workers, "python", "train.py").stdout
    assert f"{workers} DataLoader {noun}: the batches are not included" in " ".join(told.split())


def test_frigates_own_formula(run: Run) -> None:
    result = run("--camera", "1280x720", "--camera", "1280x720", "frigate")
    assert result.stdout == f"""\
Frigate

     50 MiB  Frigate's logs and cache     40 + 10 MiB
     64 MiB  2 cameras of 1280×720        2 cameras × 20 frames × 1.6 MiB
     64 MiB  2 spare cameras of 1280×720  2 spare cameras × 20 frames × 1.6 MiB
             documented:
             {estimate.FRIGATE_SOURCE}
    178 MiB  together

     answer  192 MiB (Frigate's own formula, rounded up)
 docker run  --shm-size=192m
    compose  shm_size: 192mb
 kubernetes  volumes:
             - {{name: dshm, emptyDir: {{medium: Memory, sizeLimit: 192Mi}}}}
             volumeMounts:  # in the container
             - {{name: dshm, mountPath: /dev/shm}}
"""
    assert run("--camera", "1280x720", "--camera", "1280X720").stdout == result.stdout


def test_what_needs_nothing(run: Run) -> None:
    lines = run("ollama/ollama", "--gpus", "all").stdout.splitlines()
    assert lines[0] == "Ollama, image ollama/ollama, all GPUs"
    assert lines[-2].startswith("     answer  nothing to set. Docker's default of 64 MiB is enough: ")
    assert "--shm-size" not in "".join(lines)


def test_lines_fit_80_columns(run: Run) -> None:
    """Only an address, which is a word alone, may be longer."""
    for arguments in (
        ("vllm", "--gpus", "4"), ("--camera", "1920x1080", "frigate"), ("ray", "--memory", "64g"), ("pytorch",),
        ("docker", "run", "--gpus", "all", "--shm-size=1g", "nvcr.io/nvidia/pytorch:24.01-py3", *["word"] * 40),
    ):  # fmt: skip
        shown = run(*arguments)
        assert shown.exit_code == 0, shown.stderr
        assert [line for line in shown.stdout.splitlines() if len(line) > 80 and len(line.split()) > 1] == []


def test_control_characters_reach_no_terminal(run: Run) -> None:
    assert "\x1b" not in run("evil/\x1b[31m:x", "\x1b]0;x").stdout
    assert "\x1b" not in run("docker", "ps", "\x1b[31m").stderr
    assert "\x1b" not in run("-\x1b[31m").stderr


# What it answers -------------------------------------------------------------------------------


@table(
    ("arguments", "workload", "verdict", "answer"),
    [
        (["vllm/vllm-openai", "--gpus", "4", "--tensor-parallel-size", "4"], "vllm", "needed", 8 * GIB),
        (["vllm/vllm-openai", "--gpus", "1"], "vllm", "not-needed", 0),
        (["vllm/vllm-openai"], "vllm", "likely", 8 * GIB),
        (["vllm"], "vllm", "likely", 8 * GIB),
        (["VLLM", "--gpus=2"], "vllm", "needed", 8 * GIB),
        (["vllm", "serve", "m", "-tp", "2"], "vllm", "needed", 8 * GIB),
        (["vllm serve m --tensor-parallel-size 2"], "vllm", "needed", 8 * GIB),
        (["--", "vllm", "serve", "m", "--gpus", "2"], "vllm", "not-needed", 0),
        (["nvcr.io/nvidia/pytorch:24.01-py3", "--gpus", "all"], "ngc", "needed", 8 * GIB),
        (["ollama"], "ollama", "not-needed", 0),
        (["--gpus", "2"], None, "unknown", GIB),
        (["--gpus", "all"], None, "unknown", GIB),
        (["--gpus", "1"], None, "unknown", None),
        (["mycorp/thing:1"], None, "unknown", None),
        (["mycorp/thing:1", "--gpus", "64"], None, "unknown", 8 * GIB),
        (["--workers", "2", "--batch-bytes", "1m"], None, "unknown", 0),
        (["python", "train.py", "--num_workers", "4"], None, "needed", 8 * GIB),
        (["--batch-bytes", "1m", "python", "train.py", "--num_workers", "4"], None, "needed", 0),
        (["python", "train.py", "--tensor-parallel-size", "2"], None, "likely", GIB),
        (["--workers", "2", "--batch-bytes", "64m"], None, "unknown", GIB),
        (["--workers", "2", "--batch-bytes", "64m", "--prefetch", "4"], None, "unknown", GIB),
        (["--workers", "4", "--gpus", "8", "--batch-bytes", "100m"], None, "unknown", 16 * GIB),
        (["--memory", "64g", "ray"], "ray", None, 20 * GIB),
        (["--memory", "64g", "ray", "start", "--object-store-memory", "20000000000"], "ray", "needed", 19 * GIB),
        (["--birdseye", "--camera", "1920x1080"], "frigate", None, 192 * MIB),
        (["mpirun", "-np", "8", "gmx_mpi", "mdrun"], None, "unknown", 0),
        (["--gpus", "4", "mpirun", "-np", "32", "./a.out"], None, "unknown", GIB),
        (["mpirun", "-np", "32", "-H", "a:16,b:16", "./a.out"], None, "unknown", GIB),
        (["mpirun", "./a.out"], None, "unknown", None),
        (["--tabs", "4"], None, "unknown", 0),
        (["--tabs", "40", "--window", "1280x720"], None, "unknown", GIB),
        (["--picture", "4000x3000"], None, "unknown", GIB),
        (["--tabs", "200", "selenium"], "selenium", "needed", 4 * GIB),
        (["--tabs", "200", "mcr.microsoft.com/playwright"], "playwright", "not-needed", 0),
    ],
)
def test_the_answer(
    told: Told, arguments: list[str], workload: str | None, verdict: str | None, answer: int | None
) -> None:
    found = told(*arguments)
    assert (found["workload"] or {}).get("id") == workload
    assert verdict in (None, found["verdict"])
    assert found["answer_bytes"] == answer
    assert (found["docker"] is None) is (found["compose"] is None) is (not answer)


def test_what_programs_get(told: Told) -> None:
    found = told("--gpus", "2", "--torch", "2.7.1", "--workers", "2", "--batch-bytes", "1m", "python", "-m", "x")
    assert found["version"] == 2
    assert (found["gpus"], found["ranks"], found["image"], found["command"]) == (2, 2, None, ["python", "-m", "x"])
    assert [term["basis"] for term in found["terms"]] == ["estimated", "estimated", "documented and measured"]
    assert found["total_bytes"] == sum(term["bytes"] for term in found["terms"])
    assert found["terms"][0]["bytes"] == 2 * 33030528
    assert found["terms"][2]["formula"] == "2 ranks × (2 workers × 2 ahead + 2 in use) × 1 MiB"
    assert all(term["source"].startswith("https://") for term in found["terms"])
    assert (found["docker"], found["compose"]) == ("--shm-size=1g", "shm_size: 1gb")
    assert found["advised"]["recommended_bytes"] == GIB
    assert any("PyTorch 2.7's wheels bring NCCL 2.26.2" in note for note in found["notes"])


def test_the_queues_of_vllms_workers_are_in_the_sum(told: Told) -> None:
    def terms(*arguments: str) -> dict[str, int]:
        return {term["label"]: term["bytes"] for term in told(*arguments)["terms"] if "queue" in term["label"]}

    of_two = {
        "vLLM's queue to its workers": 160 * MIB, "vLLM's queues from its workers": 480 * MIB,
        "vLLM's queue between its workers": 24 * MIB,
    }  # fmt: skip
    assert terms("vllm", "serve", "m", "-tp", "2") == of_two
    assert terms("docker run --gpus 2 -e VLLM_MQ_MAX_CHUNK_BYTES_MB=32 vllm/vllm-openai -tp 2") == {
        **of_two, "vLLM's queue to its workers": 320 * MIB
    }  # fmt: skip
    assert terms("vllm", "serve", "m") == terms("sglang", "serve", "--tp", "1") == {}
    assert terms("sglang", "serve", "--tp", "2") == {"SGLang's queue between its workers": 24 * MIB}


def test_a_whole_docker_run(told: Told, run: Run) -> None:
    words = ["docker", "run", "--rm", "--gpus", '"device=0,1"', "--shm-size=256m", "-e", "NCCL_BUFFSIZE=524288",
             "--memory", "4g", "nvcr.io/nvidia/pytorch:24.01-py3", "torchrun", "--nproc_per_node=2", "t.py",
             "--workers", "4", "--format", "x"]  # fmt: skip
    found = told(*words)
    assert (found["gpus"], found["ranks"], found["effective_bytes"]) == (2, 2, 256 * MIB)
    assert found["image"] == "nvcr.io/nvidia/pytorch:24.01-py3"
    assert found["command"][-4:] == ["--workers", "4", "--format", "x"]
    assert found["terms"][1]["bytes"] == 2 * 2 * 5967872
    assert any("memory limit of 4 GiB" in note for note in found["notes"])
    assert "        has  256 MiB (--shm-size): too little" in run(*words).stdout.splitlines()
    line = "sudo docker run --gpus 2 \\\n  vllm/vllm-openai --tensor-parallel-size 2 && echo done"
    assert told(line)["command"] == ["--tensor-parallel-size", "2"]
    assert told("--gpus", "8", line)["gpus"] == 8


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("", "64 MiB (Docker's default): too little"),
        ("--shm-size=16g", "16 GiB (--shm-size): enough"),
        ("--shm-size=2g", "2 GiB (--shm-size): less than advised"),
        ("--ipc=host", "the host's /dev/shm (--ipc=host)"),
        ("--tmpfs /dev/shm:size=16g", "16 GiB (tmpfs): enough"),
    ],
)
def test_what_a_docker_run_has(run: Run, options: str, says: str) -> None:
    line = f"docker run --gpus 2 {options} nvcr.io/nvidia/pytorch:24.01-py3"
    assert f"        has  {says}" in run(line).stdout.splitlines()


def test_a_slip_is_pointed_out(told: Told) -> None:
    notes = told("vllm", "--worker", "4")["notes"]
    assert "--worker was read as an option of the command; `shmlint size` has the option --workers" in notes
    assert not any("was taken" in note for note in told("--", "vllm", "--gpus", "4")["notes"])
    lone = told("--workers=2", "--batch-size=8")["notes"]
    assert any("--batch-size needs --item-size" in note for note in lone)


def test_what_would_help_is_said(told: Told) -> None:
    assert any("add --memory" in note for note in told("ray")["notes"])
    assert any("add --camera WIDTHxHEIGHT" in note for note in told("frigate")["notes"])
    assert any("add --tabs N --window WIDTHxHEIGHT" in note for note in told("selenium")["notes"])
    assert not any("add --tabs" in note for note in told("--tabs", "4", "selenium")["notes"])
    (note,) = told("--tabs", "4")["notes"]
    assert "version 156 puts nothing into /dev/shm" in note and "add --picture WIDTHxHEIGHT" in note
    (note,) = told("--picture", "800x600")["notes"]
    assert "--picture" not in note
    assert any("add --gpus N" in note for note in told("vllm")["notes"])
    assert any("--batch-bytes" in note for note in told("python", "train.py", "--num_workers", "4")["notes"])


def test_what_the_sums_do_not_cover_is_said(told: Told) -> None:
    for workload in ("rocm", "rocm-base", "primus"):
        assert any("RCCL" in note for note in told(workload, "--gpus", "4")["notes"])
    amd = "docker run --device /dev/kfd --device /dev/dri x/y"
    assert any("RCCL" in note for note in told("--gpus=2", amd)["notes"])
    assert not any("RCCL" in note for note in told("vllm", "--gpus", "4")["notes"])


def test_several_gpus_do_not_make_ranks_of_everything(told: Told) -> None:
    without = [workload.id for workload in builtin() if workload.no_ranks]
    assert {"browserless", "frigate", "nextcloud", "triton", "zoneminder"} < set(without)
    for workload in without:
        assert told(workload, "--gpus", "4")["terms"] == []
    assert told("triton", "--gpus", "4")["answer_bytes"] == told("triton")["answer_bytes"] == GIB
    assert len(told("triton-llm", "--gpus", "4")["terms"]) == 2


def test_settings_are_heard(told: Told) -> None:
    Path(".shmlint.yaml").write_text(
        "daemon-default-shm-size: 1gb\n"
        "workloads:\n  - {id: ours, name: Our trainer, images: [ours/trainer], needs: 'yes', minimum: 2gb, "
        "recommended: 16gb, because: its loader needs it}\n",
        encoding="utf-8",
    )
    assert told("ours/trainer:1")["answer_bytes"] == 16 * GIB
    assert told("ours")["workload"]["name"] == "Our trainer"
    assert told("docker run --gpus all ours/trainer")["effective_bytes"] == GIB


def test_what_an_entry_of_the_settings_is_computed_from(told: Told) -> None:
    Path(".shmlint.yaml").write_text(
        "workloads:\n"
        "  - {id: nvr, name: Our recorder, images: [our/nvr], needs: 'yes', no_ranks: true, inputs: cameras}\n"
        "  - {id: web, name: Our browser, images: [our/web], needs: 'yes', no_ranks: true, inputs: tabs}\n"
        "  - {id: net, name: Our trainer, images: [our/net], needs: 'yes', vendor: amd}\n",
        encoding="utf-8",
    )
    frigate = told("--camera", "1920x1080", "frigate")
    assert told("--camera", "1920x1080", "our/nvr:1")["answer_bytes"] == frigate["answer_bytes"]
    assert told("--camera", "1920x1080")["answer_bytes"] == frigate["answer_bytes"]
    assert any(note.startswith("Our recorder has an exact formula") for note in told("our/nvr")["notes"])
    assert any("add --tabs N" in note for note in told("our/web")["notes"])
    assert told("our/web", "--gpus", "4")["terms"] == []
    assert any("RCCL" in note for note in told("our/net", "--gpus", "4")["notes"])


@table("workload", builtin(), ids=lambda workload: workload.id)
def test_every_workload_can_be_asked_for_by_its_id(told: Told, workload: Any) -> None:
    found = told(workload.id, "--gpus", "2", "--memory", "8g")
    assert found["workload"]["id"] == workload.id
    if workload.needs == "no":
        assert found["answer_bytes"] == 0 and found["terms"] == []
    elif found["verdict"] == "needed":
        assert found["answer_bytes"] >= (workload.minimum or 0)


# What is wrong ---------------------------------------------------------------------------------


@table(
    ("arguments", "message"),
    [
        ([], "nothing to compute: give an image, a command, or numbers"),
        (["--nccl", "2.27"], "nothing to compute"),
        (["--worker", "4"], "unknown option `--worker`; did you mean `--workers`?"),
        (["--qqq"], "unknown option `--qqq`; `shmlint size --help` lists them"),
        (["--gpus", "x"], "invalid number of GPUs x; write a number, or all"),
        (["--gpus", "0"], "invalid number of GPUs 0"),
        (["--workers", "-1"], "--workers"),
        (["--memory", "64", "ray"], "64 is 64 bytes; write it with a unit, like 64g"),
        (["--memory", "64Gi", "ray"], "`Gi` is not a unit of Docker"),
        (["--batch-bytes", "0", "--workers", "2"], "write a size like 512k, 64m or 8g"),
        (["--batch-bytes", "1m", "--batch-size", "2"], "use either --batch-bytes, or --batch-size and --item-size"),
        (["--item-size", "3x224x224"], "--item-size needs --batch-size"),
        (["--item-size", "3x4:float7", "--batch-size", "2"], "unknown type float7; known are float64"),
        (["--item-size", "0x4", "--batch-size", "2"], "invalid shape 0x4"),
        (["--item-size", "p", "--batch-size", "2"], "does not start with a number"),
        (["--workers", "0", "--batch-bytes", "1m", "x/y"], "without workers"),
        (["--item-size", "900t", "--batch-size", "20", "--workers=1"], "--item-size is the size of one item"),
        (["--nccl", "new", "--gpus", "2"], "invalid version new; write it like 2.27"),
        (["--torch", "3.9", "--gpus", "2"], "(known: 2.1 to 2.11); set it with --nccl"),
        (["--torch", "2.7", "--nccl", "2.27", "--gpus", "2"], "use only one"),
        (["--camera", "720p"], "720p is not a width and height in pixels; write it like 1280x720"),
        (["--camera", "1280x720", "vllm"], "--camera is for Frigate, and vLLM is not known to be Frigate"),
        (["--tabs", "2", "--camera", "1280x720"], "--tabs, --window and --picture are for a browser; use them apart"),
        (["--tabs", "0"], "0 is not in the range"),
        (["--window", "big"], "big is not a width and height in pixels; write it like 1280x720"),
        (["--birdseye", "frigate"], "--birdseye is for Frigate: add --camera"),
        (["docker", "ps"], "the command has no `docker run` with an image"),
        (["docker run 'x"], "the command has no `docker run` with an image"),
        (["python 'x y"], "the command cannot be read"),
        (["--format", "xml", "x/y"], "xml"),
    ],
)
def test_what_is_wrong_is_said(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_a_file_is_no_image(run: Run) -> None:
    Path("compose.yaml").write_text("services: {}\n", encoding="utf-8")
    assert "`shmlint inventory compose.yaml`" in run("compose.yaml").stderr
    Path(".shmlint.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    assert ".shmlint.yaml" in run("vllm").stderr


@given(st.lists(st.text(max_size=12), max_size=6))
def test_any_words_are_answered(words: list[str]) -> None:
    result = CliRunner().invoke(cli.program, ["size", *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (0, 2)


# Its options -----------------------------------------------------------------------------------


def test_help_says_what_each_option_is(run: Run) -> None:
    shown = run("--help").stdout
    assert shown.startswith("Usage: ") and "size [OPTIONS] [IMAGE] [COMMAND]..." in shown
    for option in sizing_cli._own_options():
        assert option in shown


@table(
    "words, name, note",
    [
        ("tgi", "tgi", ""), ("text-generation-inference", "tgi", ""), ("python", None, ""),
        ("trition", None, "there is no workload `trition`; did you mean `triton`?"),
        ("pytroch", None, "there is no workload `pytroch`; did you mean `pytorch`?"),
    ],
)  # fmt: skip
def test_workloads_by_their_short_names(told: Told, words: str, name: str | None, note: str) -> None:
    found = told(words)
    assert (found["workload"] or {}).get("id") == name
    assert [text for text in found["notes"] if "workload" in text] == ([note] if note else [])
