"""What pytest and its like collect and run."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, SHELL, compose, need

PYTEST = {
    "tests/conftest.py": "import pytest\n\n@pytest.fixture\n"
    "def model():\n    import torch\n    return torch.nn.Linear(2, 2)\n",
    "tests/test_small.py": "def test_small(model):\n    assert model is not None\n",
    "tests/deep/test_deep.py": "from work import total\n\n"
    "class TestTotal:\n    def test_it(self):\n        assert total()\n",
    "work.py": "import torch\n\ndef total():\n    return torch.ones(2).sum()\n",
    "loads/test_loads.py": "from torch.utils.data import DataLoader\n\n"
    "def test_loads():\n    assert DataLoader(data(), batch_size=64, num_workers=8)\n",
    "plug/conftest.py": "pytest_plugins = ['work.fixtures']\n", "plug/test_plug.py": "def test_it():\n    pass\n",
    "strange/test_strange.py": "import nobody_knows_it\n",
    "set/pytest.ini": "[pytest]\npython_files = check_*.py\n", "set/test_set.py": "def test_it():\n    pass\n",
    "web/test_web.py": "def test_web(page):\n    page.goto('x')\n",
    "web/test_used.py": "import pytest\n\n@pytest.mark.usefixtures('page')\ndef test_used():\n    pass\n",
    "web/test_own.py": "def test_own(page=None, *, deep=True):\n    pass\n",
    "web/test_only.py": "def test_only(*, page):\n    pass\n",
    "given/test_given.py": "import pytest\nfrom unittest.mock import patch\n\n"
    "@pytest.fixture(name='one')\ndef make(tmp_path):\n    return 1\n\n"
    "@pytest.mark.parametrize('a, b', [(1, 2)])\ndef test_given(a, b, one, monkeypatch):\n    pass\n\n"
    "@patch('work.total')\ndef test_patched(total):\n    pass\n",
}  # fmt: skip


@table(
    "command, verdict",
    [
        ("pytest tests/", "not-needed"),
        ("pytest -q -k small tests/test_small.py::test_small", "not-needed"),
        ("python -m pytest tests", "not-needed"),
        ("coverage run -m pytest tests/deep", "not-needed"),
        ("pytest tests loads", "likely"),
        ("pytest strange", "unknown"),
        ("pytest set", "unknown"),
        ("pytest web/test_web.py", "unknown"),
        ("pytest web/test_used.py", "unknown"),
        ("pytest web/test_own.py", "not-needed"),
        ("pytest web/test_only.py", "unknown"),
        ("pytest given", "not-needed"),
        ("pytest tests missing", "unknown"),
        ("pytest plug", "unknown"),
        ("pytest", "likely"),
        ("pytest --doctest-modules tests", "unknown"),
        ("pytest nothing/here", "unknown"),
    ],
)
def test_what_pytest_collects(tmp_path: Path, command: str, verdict: str) -> None:
    """All functions of the files of tests may run."""
    files = {"compose.yaml": compose(command), "Dockerfile": DOCKERFILE, **PYTEST}
    assert need(tmp_path, files).verdict == verdict


@table("folders, verdict", [(100, "not-needed"), (300, "unknown")])
def test_tests_in_more_directories_than_are_read(tmp_path: Path, folders: int, verdict: str) -> None:
    data = {f"tests/{number:03}/data.txt": "" for number in range(folders)}
    test = {"tests/test_it.py": "def test_it():\n    pass\n"}
    files = {"compose.yaml": compose("pytest tests"), "Dockerfile": DOCKERFILE, **data, **test}
    assert need(tmp_path, files).verdict == verdict


@table(
    "words, verdict",
    [
        ("pytest -v tests/distributed/test_step.py", "likely"),
        ("python -m pytest tests/test_multi_gpu.py::test_step", "likely"),
        ("pytest -x tests/nccl", "likely"),
        ("pytest tests/test_step.py", "unknown"),
        ("pytest --ignore tests/distributed tests/test_step.py", "unknown"),
        ("pytest --ignore=tests/distributed tests", "unknown"),
        ("check tests/distributed", "unknown"),
    ],
)
def test_tests_of_several_ranks(tmp_path: Path, words: str, verdict: str) -> None:
    started = f"docker run --gpus all -w /app {SHELL.split()[-1]} {words}\n"
    assert need(tmp_path, {"start.sh": started}).verdict == verdict
    if verdict == "likely":
        assert need(tmp_path, {"start.sh": started.replace("all", "1")}).verdict == "unknown"
