"""Programs that Lightning's command line makes of their configuration."""

from __future__ import annotations

import time
from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

DATA = """
import lightning as L
import torchvision.transforms as T
from torch.utils.data import DataLoader

class Digits(L.LightningDataModule):
    def __init__(self, batch_size: int = 32, num_workers: int = 4):
        super().__init__()
        self.batch_size = batch_size
        self.num_workers = num_workers
        self.change = T.Resize((224, 224))

    def train_dataloader(self):
        return DataLoader(read(self.change), batch_size=self.batch_size, num_workers=self.num_workers)

    def test_dataloader(self):
        return DataLoader(read(self.change))
"""
NET = """
import lightning as L

class Net(L.LightningModule):
    def __init__(self, rate: float = 0.1):
        super().__init__()
"""
MAIN = "from lightning.pytorch.cli import LightningCLI\n"
NAMED = f"{MAIN}if __name__ == '__main__':\n    LightningCLI()\n"
GIVEN = f"{MAIN}from own.data import Digits\nfrom own.net import Net\nLightningCLI(Net, Digits)\n"
FILES = {"Dockerfile": DOCKERFILE, "own/__init__.py": "", "own/net.py": NET, "own/data.py": DATA}
TRAINER = "trainer:\n  devices: 1\n"
MODEL = "model:\n  class_path: own.net.Net\n  init_args:\n    rate: 0.2\n"
MANY = f"{TRAINER}{MODEL}data:\n  class_path: own.data.Digits\n  init_args:\n    batch_size: 64\n    num_workers: 8\n"
NONE = MANY.replace("8", "0")


def verdict_of(directory: Path, code: str, words: str, **more: str) -> str:
    files = {**FILES, "compose.yaml": compose(f"python main.py {words}"), "main.py": code}
    return need(directory, {**files, **{f"{name}.yaml": text for name, text in more.items()}}).verdict


@table(
    "words, a, verdict",
    [
        ("fit --config a.yaml", MANY, "needed"),
        ("fit -c a.yaml", MANY, "needed"),
        ("--config a.yaml fit", "fit:\n" + MANY.replace("\n", "\n  ").replace("trainer", "  trainer", 1), "needed"),
        ("fit --config=a.yaml", NONE, "not-needed"),
        # The options of the command win over the file that is given before them, and the file over those before it.
        ("fit --config a.yaml --data.init_args.num_workers=0", MANY, "not-needed"),
        ("fit --config a.yaml --data.num_workers 0", MANY, "not-needed"),
        ("fit --data.num_workers 0 --config a.yaml", MANY, "needed"),
        ("fit --config a.yaml --data.num_workers 8", NONE, "needed"),
        ("fit --config a.yaml --config b.yaml", MANY, "not-needed"),
        ("fit --config a.yaml --data.num_workers $N", NONE, "unknown"),
        ("fit --config a.yaml --trainer.max_epochs $N", NONE, "not-needed"),
        # What the file does not say, the class does.
        ("fit --config a.yaml", MANY.replace("    num_workers: 8\n", ""), "needed"),
        ("fit --config a.yaml", MANY.partition("  init_args:\n    batch")[0], "needed"),
        ("fit --config a.yaml", MANY.replace("devices: 1", "devices: 2"), "needed"),
        ("fit --config a.yaml --trainer.devices 2", NONE, "needed"),
        ("fit --config a.yaml", NONE.replace("devices: 1", "max_epochs: 1"), "likely"),
        # Only training has workers.
        ("test --config a.yaml", MANY, "not-needed"),
        ("validate --config a.yaml", MANY, "not-needed"),
        # What is not there, or not understood.
        ("fit --config lost.yaml", MANY, "likely"),
        ("fit --config $CONFIG", MANY, "likely"),
        ("fit --config a.yaml more", NONE, "unknown"),
        ("tune --config a.yaml", NONE, "unknown"),
        ("fit --config a.yaml", NONE.replace("own.data.Digits", "own.data.Lost"), "unknown"),
        ("fit --config a.yaml", NONE.replace("own.data.Digits", "lost.Digits"), "unknown"),
        ("fit --config a.yaml", NONE.replace("num_workers: 0", "num_workers: ${x.y}"), "unknown"),
        ("fit --config a.yaml", "data: data.yaml\n", "likely"),
        ("fit --config a.yaml", f"{NONE}data.init_args.num_workers: 4\n", "unknown"),
        ("fit --config a.yaml", "- 1\n", "likely"),
        # Classes that are named in other ways.
        ("fit --config a.yaml", f"{NONE}x: [{{class_path: Loads}}]\n", "unknown"),
        ("fit --config a.yaml", f"{NONE}x: own.net.Net\n", "unknown"),
        ("fit --config a.yaml", f"{NONE}x: {{y.z: 1}}\n", "unknown"),
    ],
)  # fmt: skip
def test_a_configuration_that_names_the_classes(tmp_path: Path, words: str, a: str, verdict: str) -> None:
    assert verdict_of(tmp_path, NAMED, words, a=a, b="data:\n  init_args:\n    num_workers: 0\n") == verdict


@table(
    "words, verdict",
    [
        ("fit --trainer.devices 1", "likely"),
        ("fit --trainer.devices 1 --data.num_workers 0", "not-needed"),
        ("fit --trainer.devices 1 --data.num_workers=0 --config a.yaml", "not-needed"),
        ("fit --trainer one.yaml --data.num_workers 0", "not-needed"),
        ("fit --trainer.callbacks+=own.net.Net", "unknown"),
        ("", "unknown"),
    ],
)
def test_classes_that_the_program_names(tmp_path: Path, words: str, verdict: str) -> None:
    found = verdict_of(tmp_path, GIVEN, words, a="trainer:\n  max_epochs: 2\n", one="devices: 1\n")
    assert found in ((verdict, "likely") if verdict == "unknown" else (verdict,))


OWN_CLI = "class OwnCLI(LightningCLI):\n    def add_arguments_to_parser(self, parser):\n        %s\n"


@table(
    "line, call, verdict",
    [
        ("parser.add_argument('--note')", "OwnCLI(Net, Digits)", "not-needed"),
        ("parser.link_arguments('data.batch_size', 'model.rate')", "OwnCLI(Net, Digits)", "not-needed"),
        ("parser.link_arguments('model.rate', 'data.num_workers')", "OwnCLI(Net, Digits)", "unknown"),
        ("parser.link_arguments(a, b)", "OwnCLI(Net, Digits)", "unknown"),
        ("parser.set_defaults(values)", "OwnCLI(Net, Digits)", "unknown"),
        ("pass\n    def instantiate_classes(self):\n        load()", "OwnCLI(Net, Digits)", "unknown"),
        ("parser.link_arguments('model.rate', **more)", "OwnCLI(Net, Digits)", "unknown"),
        ("parser.link_arguments(*pair)", "OwnCLI(Net, Digits)", "unknown"),
        ("parser.default_env = True", "OwnCLI(Net, Digits)", "unknown"),
        ("pass\n    before_instantiate_classes = load", "OwnCLI(Net, Digits)", "unknown"),
        ("pass\n    @changed\n    def before_fit(self):\n        pass", "OwnCLI(Net, Digits)", "unknown"),
        ("pass", "OwnCLI.add_arguments_to_parser = load\nOwnCLI(Net, Digits)", "unknown"),
        ("pass", "class MoreCLI(Load, OwnCLI):\n    pass\nMoreCLI(Net, Digits)", "unknown"),
        ("pass", "import sys\nsys.argv += ['--data.num_workers=8']\nOwnCLI(Net, Digits)", "unknown"),
        ("pass", "OwnCLI(Net, Digits, parser_kwargs={'default_config_files': ['conf/*.yaml']})", "unknown"),
        ("pass\n    def before_fit(self):\n        pass", "OwnCLI(Net, Digits)", "not-needed"),
        ("pass", "make(OwnCLI)", "unknown"),
        ("pass", "OwnCLI(Net, Digits, trainer_defaults={'devices': 1})", "not-needed"),
        ("pass", "OwnCLI(Net, Digits, trainer_defaults={'devices': 4})", "not-needed"),
        ("pass", "OwnCLI(Net, Digits, parser_kwargs={'parser_mode': 'omegaconf'})", "not-needed"),
        ("pass", "OwnCLI(Net, Digits, parser_kwargs={'default_config_files': ['b.yaml']})", "needed"),
        ("pass", "OwnCLI(Net, Digits, parser_kwargs={'fit': {'default_config_files': ['b.yaml']}})", "needed"),
        ("pass", "OwnCLI(Net, Digits, parser_kwargs={'default_env': True})", "unknown"),
        ("pass", "OwnCLI(Net, Digits, args=None)", "not-needed"),
        ("pass", "OwnCLI(Net, Digits, args=words())", "unknown"),
        ("pass", "OwnCLI(Net, Digits, **more)", "unknown"),
        ("pass", "OwnCLI(Net, Digits, subclass_mode_data=True)", "unknown"),
    ],
)  # fmt: skip
def test_a_command_line_of_the_repository(tmp_path: Path, line: str, call: str, verdict: str) -> None:
    code = f"{MAIN}from own.data import Digits\nfrom own.net import Net\n{OWN_CLI % line}{call}\n"
    words = "fit --trainer.devices 1" + ("" if "default_config" in call else " --data.num_workers 0")
    found = verdict_of(tmp_path, code, words, b="data:\n  num_workers: 9\nfit:\n  data:\n    num_workers: 9\n")
    assert found in ((verdict, "likely") if verdict != "not-needed" else (verdict,))


@table(
    "line, a, verdict",
    [
        ("", MANY, "needed"),
        ("", NONE, "not-needed"),
        ("cli.datamodule.num_workers = 4\n", NONE, "unknown"),
    ],
)
def test_a_program_that_trains_with_what_its_configuration_makes(
    tmp_path: Path, line: str, a: str, verdict: str
) -> None:
    code = f"{MAIN}cli = LightningCLI(run=False)\n{line}cli.trainer.fit(cli.model, cli.datamodule)\n"
    assert verdict_of(tmp_path, code, "--config a.yaml", a=a) == verdict


@table("call, verdict", [("OtherCLI(fit)", "unknown"), ("fit()", "not-needed")])
def test_another_command_line(tmp_path: Path, call: str, verdict: str) -> None:
    load = "DataLoader(read(), num_workers=workers)"
    code = f"from torch.utils.data import DataLoader\ndef fit(workers=0):\n    {load}\n{call}\n"
    assert verdict_of(tmp_path, code, "") == verdict


@table(
    "code, words, verdict",
    [
        (NAMED + "    LightningCLI()\n" * 300, "fit --config a.yaml", "unknown"),
        (NAMED, "fit " + "--config a.yaml " * 300, "unknown"),
        (NAMED, "fit --config a.yaml " + "--config a.yaml " * 20, "not-needed"),
    ],
)
def test_a_large_configuration_that_is_laid_many_times(tmp_path: Path, code: str, words: str, verdict: str) -> None:
    large = NONE + "x: [" + ", ".join("1" for _ in range(9000)) + "]\n"
    started = time.process_time()
    assert verdict_of(tmp_path, code, words, a=large) == verdict
    assert time.process_time() - started < 10
