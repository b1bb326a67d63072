"""What the processes of a pool of PyTorch exchange."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

JOB = "import torch\n\ndef job(path, size=5):\n    {}\n"
PLAIN = "return float(torch.zeros(size).sum())"
MAIN = "import os\nimport torch.multiprocessing as mp\nfrom functools import partial\nfrom work import job\n{}\n"
WITH = "with mp.Pool(10) as pool:\n    found = "


@table(
    "main, job, verdict",
    [
        (f"{WITH}pool.starmap(job, [('a', 5), ('b', 5)])", PLAIN, "not-needed"),
        (f"{WITH}pool.map(job, ['a', 'b'])", PLAIN, "not-needed"),
        (f"{WITH}pool.map(partial(job, size=3), os.listdir('data'))", PLAIN, "not-needed"),
        (f"{WITH}pool.map(job, [f'{{n}}.xml' for n in range(3)])", PLAIN, "not-needed"),
        (f"{WITH}pool.apply_async(job, ('a', 5))", PLAIN, "not-needed"),
        ("pool = mp.Pool()\npool.map(job, sorted(os.listdir('data')))\npool.close()", PLAIN, "not-needed"),
        (f"{WITH}pool.map(job, ['a'])", "print(path)", "not-needed"),
        (f"{WITH}pool.map(job, ['a'])", "return path, torch.zeros(2).sum().item()", "not-needed"),
        # What is given or comes back may be a tensor
        (f"{WITH}pool.map(job, ['a'])", "return torch.zeros(size)", "unknown"),
        (f"{WITH}pool.map(job, ['a'])", "return load(path)", "unknown"),
        (f"{WITH}pool.map(job, ['a'])", "path = torch.load(path)\n    return path", "unknown"),
        (f"{WITH}pool.map(job, ['a'])", "return {'size': torch.zeros(2)}", "unknown"),
        (f"{WITH}pool.map(job, items)", PLAIN, "unknown"),
        (f"{WITH}pool.map(partial(job, size=read()), ['a'])", PLAIN, "unknown"),
        (f"{WITH}pool.map(lambda path: path, ['a'])", PLAIN, "unknown"),
        (f"{WITH}pool.map(job, ['a'])\n    hand(pool)", PLAIN, "unknown"),
        (f"{WITH}pool.map(job, ['a'])\n    pool.map(other, more)", PLAIN, "unknown"),
        ("with mp.Pool(2, start, (shared,)) as pool:\n    pool.map(job, ['a'])", PLAIN, "unknown"),
        ("mp.Pool(2).map(job, ['a'])", PLAIN, "unknown"),
    ],
)
def test_pools_of_pytorch(tmp_path: Path, main: str, job: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose("python main.py"), "Dockerfile": DOCKERFILE, "main.py": MAIN.format(main),
        "work.py": JOB.format(job),
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict
