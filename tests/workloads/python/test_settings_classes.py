"""Fields of pydantic's settings, and what the environment of the container gives them."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

HEAD = "from torch.utils.data import DataLoader\nfrom pydantic import BaseModel, Field\n"
OWN = "from pydantic_settings import BaseSettings, SettingsConfigDict\nclass Own(BaseSettings):\n"
LOAD = "DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers={})\n"
USE = f"own = Own()\n{LOAD.format('own.workers')}"
DEFAULT = f"{OWN}    workers: int = 8\n{USE}"
OFF = DEFAULT.replace("= 8", "= 0")
PREFIX = f"{OWN}    model_config = SettingsConfigDict(env_prefix='JOB_')\n    workers: int = 8\n{USE}"


@table(
    "code, env, verdict",
    [
        (DEFAULT, "OTHER: 0", "needed"),
        (DEFAULT, "WORKERS: 0", "not-needed"),
        (DEFAULT, "workers: 0", "not-needed"),
        (OFF, "WORKERS: 8", "needed"),
        (OFF, "OTHER: 8", "not-needed"),
        (DEFAULT.replace("pydantic_settings", "pydantic"), "WORKERS: 0", "not-needed"),
        (PREFIX, "JOB_WORKERS: 0", "not-needed"),
        (PREFIX, "WORKERS: 0", "needed"),
        (f"{OWN}    class Config:\n        env_prefix = 'JOB_'\n    workers: int = 8\n{USE}", "JOB_WORKERS: 0",
         "not-needed"),
        (f"{OWN}    workers: int\n{USE}", "WORKERS: 8", "needed"),
        (f"{OWN}    workers: int = Field(8, ge=0)\n{USE}", "WORKERS: 0", "not-needed"),
        (f"{OWN}    model_config = {{'case_sensitive': True}}\n    workers: int = 8\n{USE}", "WORKERS: 0", "needed"),
        # A class that extends one of them
        (f"{OWN}    a: int = 1\nclass More(Own):\n    workers: int = 8\n{USE.replace('Own', 'More')}", "WORKERS: 0",
         "not-needed"),
        # Through a function, and in a method
        (f"{OWN}    workers: int = 8\ndef own():\n    return Own()\n{LOAD.format('own().workers')}", "WORKERS: 0",
         "not-needed"),
        (f"{OWN}    workers: int = 8\n    def load(self):\n        {LOAD.format('self.workers')}Own().load()\n",
         "WORKERS: 0", "not-needed"),
        # A truth value is read as pydantic reads it
        (f"{OWN}    many: bool = True\n{USE.replace('own.workers', '8 if own.many else 0')}", "MANY: 'off'",
         "not-needed"),
        (f"{OWN}    many: bool = False\n{USE.replace('own.workers', '8 if own.many else 0')}", "MANY: 'on'", "needed"),
        # What the code gives beats the environment
        (DEFAULT.replace("Own()", "Own(workers=8)"), "WORKERS: 0", "needed"),
        # What is not understood is not certain
        (f"{OWN}    workers: int = Field(8, validation_alias='N')\n{USE}", "N: 0", "likely"),
        (f"{OWN}    model_config = SettingsConfigDict(env_file='a')\n    workers: int = 8\n{USE}", "N: 0", "likely"),
        (f"{OWN}    model_config = MORE\n    workers: int = 8\n{USE}", "N: 0", "likely"),
        (f"{OWN}    workers: int = 8\n    @field_validator('workers')\n    def change(v): ...\n{USE}", "N: 0",
         "likely"),
        (DEFAULT.replace("Own()", "Own(_env_file='a')"), "N: 0", "unknown"),
        (f"class Data(BaseModel):\n    workers: int = 8\n{OWN}    data: Data = Data()\n"
         f"    model_config = SettingsConfigDict(env_nested_delimiter='__')\n{USE.replace('own.w', 'own.data.w')}",
         "DATA__WORKERS: 0", "likely"),
        (f"class Data(BaseModel):\n    workers: int = 8\nown = Data()\n{LOAD.format('own.workers')}", "WORKERS: 0",
         "needed"),
    ],
)  # fmt: skip
def test_fields_that_the_environment_fills(tmp_path: Path, code: str, env: str, verdict: str) -> None:
    started = compose("python train.py").replace("    command", f"    environment: {{{env}}}\n    command")
    files = {"compose.yaml": started, "Dockerfile": DOCKERFILE, "train.py": HEAD + code}
    assert need(tmp_path, files).verdict == verdict
