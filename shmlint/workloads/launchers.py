"""Programs that start a program of Python: in several processes, under a profiler or a debugger, as a web page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

from shmlint.model.launch import Value
from shmlint.model.number import whole_number
from shmlint.workloads.commands import MISSING, MPI_STARTERS, behind_mpi, is_python, unwrapped

SettingsOf = Callable[[str], Mapping[str, object] | None]
"""Has the values of a configuration file that a command names; None where it cannot be read."""

LAUNCHERS: dict[str, frozenset[str]] = {
    "torchrun": frozenset({"--no-python", "--standalone", "--log-dir", "-m", "--module"}),
    "accelerate": frozenset({"launch", "--multi_gpu", "--multi-gpu", "--use_deepspeed", "--use_fsdp", "--cpu", "-m",
                             "--module", "--debug", "--quiet", "--no_python", "--tpu"}),
    "accelerate-launch": frozenset({"--multi_gpu", "--use_deepspeed", "--use_fsdp", "--cpu", "-m", "--module"}),
    "deepspeed": frozenset({"--module", "--no_python", "--no_local_rank", "--force_multi"}),
    "composer": frozenset({"-v", "--verbose", "--stop_on_first_failure", "-m", "--module_mode"}),
    "horovodrun": frozenset({"--verbose", "--gloo", "--mpi"}),
    **dict.fromkeys(MPI_STARTERS, frozenset()),
    "torchpack": frozenset({"dist-run"}),
    "colossalai": frozenset({"run", "-m"}),
    "fleetrun": frozenset(),
    "bpslaunch": frozenset(),
    "fabric": frozenset({"run", "model"}),
    "lightning": frozenset({"run", "model"}),
    "ray": frozenset({"job", "submit", "--no-wait", "--verbose"}),
}  # fmt: skip
"""Programs that start others in several processes, and their words that are no option with a value."""
_MODULE_LAUNCHERS = {
    "torch.distributed.run": "torchrun", "torch.distributed.launch": "torchrun",
    "accelerate.commands.launch": "accelerate", "deepspeed.launcher.runner": "deepspeed",
    "paddle.distributed.launch": "fleetrun", "oneflow.distributed.launch": "torchrun",
    "bagua.distributed.launch": "torchrun", "bagua.distributed.run": "torchrun",
}  # fmt: skip


def python_words(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words that a launcher gives to Python: a file or ``-m`` and what follows. None for what is no launcher."""
    program = posixpath.basename(command[0])
    rest = command[1:]
    at = next((i for i, word in enumerate(rest) if word == "-m" or not word.startswith("-")), len(rest))
    if is_python(program) and rest[at : at + 1] == ("-m",):
        module = rest[at + 1] if len(rest) > at + 1 else ""
        if module in _RUNNERS:
            return _words_of_file(module, rest[at + 2 :])
        if module in _GIVEN_SCRIPT:
            return _words_of_script(rest[at + 2 :])
        if module not in _MODULE_LAUNCHERS:
            return None
        program, rest = _MODULE_LAUNCHERS[module], rest[at + 2 :]
    elif program in _RUNNERS:
        return _words_of_file(program, rest)
    elif program not in LAUNCHERS:
        return None
    if rest[:1] and rest[0] not in _SUBCOMMANDS.get(program, rest[:1]):
        return () if program == "ray" else None
    by_mpi = program in MPI_STARTERS
    inner, module_next = (behind_mpi(rest), False) if by_mpi else _behind_options(rest, LAUNCHERS[program])
    if module_next:
        return ("-m", *inner)
    if inner and is_python(posixpath.basename(inner[0])):
        return inner[1:]
    return inner if inner and (inner[0].endswith(".py") or program in ("torchrun", "accelerate", "deepspeed")) else ()


def _behind_options(rest: tuple[str, ...], flags: frozenset[str]) -> tuple[tuple[str, ...], bool]:
    """What a launcher starts, and whether that is a module; ``flags`` are its words that are no option with a value."""
    at = 0
    module_next = False
    while at < len(rest):
        word = rest[at]
        if word == "--":
            at += 1
            break
        if not word.startswith("-") and word not in flags:
            break
        module_next = module_next or word in ("-m", "--module")
        at += 1 if word in flags or "=" in word else 2
    return unwrapped(rest[at:]), module_next


def with_settings(command: tuple[str, ...], settings_of: SettingsOf) -> tuple[str, ...]:
    """A command with what its configuration file says, where its program reads options there. Its own words beat it."""
    program = posixpath.basename(command[0])
    if program == "yolo":
        return _with_keys(command, 1, next((w[4:] for w in command if w.startswith("cfg=")), ""), {}, settings_of)
    if program in _LLAMA_FACTORY and command[1:2] == ("train",) and len(command) > 2:
        named = command[2] if command[2].endswith((".yaml", ".yml", ".json")) else ""
        return _with_keys(command, 3, named, _OF_TRAINER, settings_of)
    if "--config" in command[:-1]:
        return _with_options(command, command.index("--config"), settings_of)
    return _with_processes(command, settings_of)


_LLAMA_FACTORY = frozenset({"llamafactory-cli", "lmf"})
"""https://github.com/hiyouga/LLaMA-Factory/blob/v0.9.3/src/llamafactory/hparams/parser.py, ``read_args``"""
_OF_TRAINER = {"dataloader_num_workers": 0}
"""What it trains with where nobody says otherwise, as in all arguments of transformers' trainer.

https://github.com/huggingface/transformers/blob/v4.57.0/src/transformers/training_args.py
"""


def _with_keys(
    command: tuple[str, ...], at: int, file: str, defaults: Mapping[str, object], settings_of: SettingsOf
) -> tuple[str, ...]:
    """A command with the keys of a file: ``yolo train cfg=fit.yaml``.

    https://github.com/ultralytics/ultralytics/blob/v8.3.0/ultralytics/cfg/__init__.py, ``entrypoint``
    """
    settings = settings_of(file) if file else None
    if settings is None:
        return command
    given = _names_given(command)
    values = {key: value for key, value in {**defaults, **settings}.items() if _spelt(key) not in given}
    order = sorted(values, key=lambda key: key != "mode")  # which the name of the program is followed by
    return (*command[:at], *(f"{key}={_written(values[key])}" for key in order), *command[at:])


def _with_options(command: tuple[str, ...], at: int, settings_of: SettingsOf) -> tuple[str, ...]:
    """A command of vLLM or SGLang, or the options of an image's own program, with the options of its file of YAML.

    https://github.com/vllm-project/vllm/blob/v0.6.4/vllm/utils.py, ``FlexibleArgumentParser``
    https://github.com/sgl-project/sglang/blob/03bd2f167a3bc5a040d9cbb8343ac77adb3db53f/python/sglang/srt/server_args_config_parser.py
    """
    start = next((i + 1 for i, word in enumerate(command[:at]) if _SERVES.fullmatch(word)), 0)
    settings = settings_of(command[at + 1]) if start or command[0].startswith("-") else None
    given = _names_given((*command[:at], *command[at + 2 :]))
    if settings is None or (not start and _MODEL.isdisjoint({*given, *map(_spelt, settings)})):
        return command
    found: list[str] = []
    for key, value in settings.items():
        if _spelt(key) not in given and value is not False and value is not None:
            found += (f"--{key}",) if value is True else (f"--{key}", _written(value))
    return (*command[:start], *found, *command[start:at], *command[at + 2 :])


_SERVES = re.compile(r"serve|vllm\.entrypoints\..+|sglang\.launch_server")
"""The word behind which servers have their options."""
_MODEL = frozenset({"model", "model_tag", "model_path"})
"""Options that all of them have and other programs hardly."""


def _names_given(words: tuple[str, ...]) -> set[str]:
    return {_spelt(word.partition("=")[0]) for word in words if word.startswith("-") or "=" in word}


def _spelt(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _written(value: object) -> str:
    """A value as a command has it: a list of numbers with commas, nothing that has more in it."""
    values = [getattr(one, "value", one) for one in value] if isinstance(value, tuple) else [value]
    known = all(isinstance(one, str | int | float) for one in values)
    return ",".join(map(str, values)) if known and values else MISSING


def _with_processes(command: tuple[str, ...], settings_of: SettingsOf) -> tuple[str, ...]:
    """A command of accelerate with the number of processes that its configuration file sets for one host."""
    if posixpath.basename(command[0]) not in ("accelerate", "accelerate-launch"):
        return command
    words = [part for word in command for part in (word.split("=", 1) if word.startswith("--") else [word])]
    if any(word in _PROCESSES for word in words):
        return command
    named = next((words[at + 1] for at, word in enumerate(words[:-1]) if word in _CONFIGURATION), None)
    settings = (settings_of(named) if named is not None else None) or {}
    way = str(settings.get("distributed_type")).upper()
    count = whole_number(str(settings.get("num_processes")))
    hosts = whole_number(str(settings.get("num_machines", 1)))
    if way == "NO":
        count = hosts
    if way not in _ON_GPUS or not count or not hosts or count % hosts:
        return command
    at = 2 if command[1:2] == ("launch",) else 1
    return (*command[:at], "--num_processes", str(count // hosts), *command[at:])


def with_ranks_of_variable(command: tuple[str, ...], variables: Mapping[str, Value[str]]) -> tuple[str, ...]:
    """A command of torchrun with the number of processes that a script sets in its variable instead of its option.

    https://github.com/pytorch/pytorch/blob/v2.5.1/torch/distributed/argparse_util.py
    """
    value = variables.get(TORCHRUN_VARIABLE)
    is_torchrun = posixpath.basename(command[0]) == "torchrun" or command[1:3] == ("-m", "torch.distributed.run")
    if value is None or not is_torchrun or any(word.startswith(("--nproc_per", "--nproc-per")) for word in command):
        return command
    at = 1 if posixpath.basename(command[0]) == "torchrun" else 3
    number = value.known if value.known is not None and not value.because else f"${TORCHRUN_VARIABLE}"
    return (*command[:at], f"--nproc_per_node={number}", *command[at:])


TORCHRUN_VARIABLE = "PET_NPROC_PER_NODE"
_PROCESSES = frozenset({"--num_processes", "--num-processes", "--cpu", "--tpu"})
_CONFIGURATION = frozenset({"--config_file", "--config-file"})
_ON_GPUS = frozenset({"NO", "MULTI_GPU", "DEEPSPEED", "FSDP", "MEGATRON_LM"})
"""Ways of accelerate to use GPUs, the first of them only one (accelerate/utils/dataclasses.py, ``DistributedType``)."""

_SUBCOMMANDS: dict[str, tuple[str, ...]] = {
    "accelerate": ("launch",), "ray": ("job",), "colossalai": ("run",), "fabric": ("run",), "lightning": ("run",),
}  # fmt: skip
"""The words after which these programs start others."""

_RUNNERS: dict[str, str] = {
    "streamlit": "run", "chainlit": "run", "gradio": "", "coverage": "run", "kernprof": "", "scalene": "",
    "viztracer": "", "mprof": "run", "memray": "run", "debugpy": "", "cProfile": "", "profile": "", "trace": "",
    "pdb": "", "ipdb": "", "memory_profiler": "", "line_profiler": "", "torch.utils.bottleneck": "", "runpy": "",
    "fastapi": "", "bokeh": "serve", "panel": "serve", "solara": "run", "mesop": "", "kopf": "run", "litserve": "",
}  # fmt: skip
"""Programs and modules that run a file of Python after the subcommand, here with the file's own arguments."""


_GIVEN_SCRIPT = frozenset({"trainer.distribute", "TTS.bin.distribute"})
"""Modules of Coqui that start the program behind ``--script`` on each of some GPUs, with all other words.

https://github.com/coqui-ai/Trainer/blob/4c21e8636a4afd539f1b1818ebb104469337d733/trainer/distribute.py
"""


def _words_of_script(rest: tuple[str, ...]) -> tuple[str, ...]:
    words = tuple(part for word in rest for part in (word.split("=", 1) if word.startswith("--script=") else [word]))
    at = words.index("--script") if "--script" in words[:-1] else len(words)
    return (*words[at + 1 : at + 2], *words[:at], *words[at + 2 :]) if at < len(words) else ()


def _words_of_file(program: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words from a file of Python or ``-m`` on, which a program runs; None where it runs none."""
    if _RUNNERS[program] and _RUNNERS[program] not in rest[:2]:
        return None
    at = next((i for i, word in enumerate(rest) if word.endswith(".py") or word == "-m"), None)
    return rest[at:] if at is not None else None
