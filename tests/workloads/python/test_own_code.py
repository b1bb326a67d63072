"""Code without any sign of shared memory."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import ALONE, CELLS, CONTAINER, need


@table(
    "name, text, verdict",
    [
        ("data.py", "count = get_worker_info().num_workers\n", "not-needed"),
        ("data.py", "count = worker_info.num_workers\nloader(num_workers=count)\n", "likely"),
        ("data.py", "near = tree.query(points, k=1, workers=-1)\n", "not-needed"),
        ("data.py", "near = service.query(points, workers=4)\n", "likely"),
        ("data.py", "index = scipy.spatial.cKDTree(a)\nnear, _ = index.query(a, workers=-1)\n", "not-needed"),
        ("data.py", "index = scipy.spatial.cKDTree(a)\nnear = other.query(a, workers=4)\n", "likely"),
        ("data.py", r"print('\nProcessed all')" + "\n", "not-needed"),
        ("data.py", "nprocess = 4\n", "likely"),
        ("data.py", "from joblib import Parallel\nParallel(n_jobs=4)(f(x) for x in y)\n", "not-needed"),
        ("data.py", "import joblib\njoblib.Parallel(4)(x)\n", "not-needed"),
        ("data.py", "model = Parallel(model)\n", "likely"),
        # Threads, what is told to people, an argument by itself, names of the repository's own functions.
        ("get.py", "from concurrent.futures import ThreadPoolExecutor\n"
         "with ThreadPoolExecutor(\n    max_workers=8) as p: p.map(get, x)\n", "not-needed"),
        ("get.py", "from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor(max_workers=8)\n",
         "likely"),
        ("get.py", "from multiprocessing.pool import ThreadPool\nThreadPool(8).map(get, x)\n", "not-needed"),
        ("get.py", "from multiprocessing.pool import Pool\nPool(8).map(get, x)\n", "likely"),
        ("get.py", "import multiprocessing as mp\nn = mp.cpu_count()\n", "not-needed"),
        ("get.py", "from multiprocessing import cpu_count\nn = cpu_count()\n", "not-needed"),
        ("get.py", "import multiprocessing as mp\nn = mp.cpu_count()\nmp.Pool(n)\n", "likely"),
        ("get.py", "from joblib import Parallel, delayed\nParallel(n_jobs=4, backend='threading')(x)\n", "not-needed"),
        ("get.py", "import numba\n@numba.njit(parallel=True)\ndef sum_up(x): return x\n", "not-needed"),
        ("get.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--workers', default=4)\n",
         "not-needed"),
        ("get.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--workers', default=4)\n"
         "run(**vars(p.parse_args()))\n", "likely"),
        ("get.py", "import argparse\np = argparse.ArgumentParser()\np.add_argument('--workers')\n"
         "load(p.parse_args().workers)\n", "likely"),
        ("get.py", "print(f'{n} workers in parallel')\nraise ValueError('not distributed')\n", "not-needed"),
        ("get.py", "import os\nos.system('torchrun fit.py')\n", "likely"),
        ("get.py", "import os\nos.environ['TOKENIZERS_PARALLELISM'] = 'false'\n", "not-needed"),
        # Keras loads by threads, unless it is told to use processes.
        ("near.py", "import keras\nkeras.Model().fit(x, workers=8)\n", "not-needed"),
        ("near.py", "import keras\nkeras.Model().fit(x, num_workers=8)\n", "likely"),
        ("near.py", "import keras\nkeras.Model().fit(x, workers=8, use_multiprocessing=True)\n", "likely"),
        ("near.py", "import keras, torch\nkeras.Model().fit(x, workers=8)\n", "likely"),
        ("near.py", "run(x, workers=8)\n", "likely"),
        ("step.py", "def step_parallel(x): return x\nstep_parallel(1)\n", "not-needed"),
        ("step.py", "def step_parallel(x): return nn.DataParallel(x)\nstep_parallel(1)\n", "unknown"),
        ("step.py", "step_parallel(1)\nparallel_lines(2, max_workers=8)\n", "not-needed"),
        ("step.py", "data_parallel(net, 1)\n", "likely"),
        ("step.py", "def num_workers(x): return 4\nload(num_workers=num_workers(1))\n", "likely"),
        ("net.py", "net.processor = LoRAAttnProcessor()\n", "not-needed"),
        ("net.py", "world.respawn(car)\n", "not-needed"),
        ("net.py", "go(undistributed=1)\n", "not-needed"),
        ("net.py", "go(use_distributed=1)\n", "likely"),
        ("net.py", "start(nprocs=2)\n", "likely"),
        ("net.py", "seed_everything(1, workers=True)\n", "not-needed"),
        ("net.py", "load(1, persistent_workers=True)\n", "likely"),
        ("net.py", "import torch\nalone = not torch.distributed.is_initialized()\n", "not-needed"),
        ("net.py", "import torch\ntorch.distributed.is_available() and torch.distributed.barrier()\n", "likely"),
        ("net.py", "class TorchRunType: pass\n", "not-needed"),
        ("net.py", "from keras.layers import TimeDistributed\nTimeDistributed(net)\n", "not-needed"),
        ("net.py", "data.map(read, num_parallel_calls=8)\n", "not-needed"),
        ("net.py", "data.map(read, num_parallel=8)\n", "not-needed"),
        ("serve.sh", "app serve --tensor-parallel-size 1\n", "not-needed"),
        ("serve.sh", "app serve --tensor-parallel-size 16\n", "likely"),
        ("light.py", "ray = a - b\nself.ray.normalize(); ray.dot(n)\n", "not-needed"),
        ("light.py", "import ray\nray.init()\n", "likely"),
        ("start.sh", "ray start --head\n", "likely"),
        ("world.py", "world.spawn_actor(car, min_spawn_distance=3)\n", "not-needed"),
        ("world.py", "spawn(train)\n", "likely"),
        ("world.py", "class Car:\n    def spawn(self): return 1\nspawn = Car().spawn()\n", "not-needed"),
        ("world.yaml", "start_method: spawn\n", "likely"),
        ("gpu.py", "limit = kMaxBlocksPerMultiProcessor\nget_shared_memory_per_block(1)\n", "not-needed"),
        ("gpu.py", "runner = MultiProcessorPool()\n", "unknown"),
        ("environment.yml", "name: a\ndependencies:\n- python\n- nccl=2.1\n- pip:\n  - flask\n", "not-needed"),
        ("environment.yml", "name: a\ndependencies:\n- python\nworkers: 4\n", "likely"),
        ("serve.py", "import uvicorn\nuvicorn.run(app,\n    workers=4)\n", "not-needed"),
        ("serve.sh", "uvicorn app:app --workers 4\n", "not-needed"),
        ("é.py", "é = 'é'; print('é', 'é workers'); load(workers=4)\n", "likely"),
        ("build.sh", "make -j$(nproc)\nmake -j \"`nproc --all`\" install\n", "not-needed"),
        ("build.sh", "MAX_JOBS=$(nproc) pip install .\ncmake --build . --parallel $(nproc)\n", "not-needed"),
        ("build.sh", "mpirun -np $(nproc) python fit.py\n", "likely"),
        ("build.sh", "cmake .. && parallel python fit.py\n", "not-needed"),
        ("all.sh", "run_train() {\n  make train\n  python fit.py train\n  ./all.sh train\n}\n", "not-needed"),
        ("all.sh", "unheard_train 4\n", "likely"),
        ("all.sh", "A=1 unheard-cli train --data a\n", "likely"),
        ("build.sh", "python fit.py -j $(nproc) --workers 4\n", "likely"),
    ],
)
def test_words_that_say_nothing_of_loaders_or_ranks(tmp_path: Path, name: str, text: str, verdict: str) -> None:
    files = {".devcontainer/devcontainer.json": CONTAINER, "fit.py": ALONE, name: text}
    assert need(tmp_path, files).verdict == verdict


HANDED = "from torch.utils.data import DataLoader\ndef made(d, num_workers): DataLoader(d, num_workers=num_workers)\n"


@table(
    "name, text, verdict",
    [
        ("ask.py", "", "unknown"),
        ("ask.py", "def ready(num_workers: int = 4): return model.load(threads=num_workers)\n", "unknown"),
        ("ask.py", "from multiprocessing import Pool\nimport torch.distributed as dist\n", "unknown"),
        ("ask.py", "import ultralytics\nultralytics.YOLO('n.pt').track('a.mp4')\n", "unknown"),
        ("net.py", "import unheard_of\nbatch(workers=0).backward()\nworld_size = 1\n", "unknown"),
        ("size.yaml", "size: 4\n", "unknown"),
        # A number of workers that is 0 wherever it is written.
        ("ask.py", f"{HANDED}def fit(data, num_workers=0): return made(data, num_workers)\n", "unknown"),
        ("ask.py", f"{HANDED}made(data, num_workers)\n", "likely"),
        ("ask.py", f"{HANDED}def fit(data, num_workers=2): return made(data, num_workers)\n", "likely"),
        ("ask.py", f"{HANDED}def fit(data, *, num_workers=None): return made(data, num_workers)\n", "likely"),
        ("ask.py", "load(num_workers=None, distributed=False)\n", "unknown"),
        ("ask.py", f"{HANDED}made(data, {{'num_workers': 0}}['num_workers'])\n", "unknown"),
        ("ask.py", f"{HANDED}cli.add_argument('--num-workers', type=int, default=0)\n", "unknown"),
        ("ask.py", f"{HANDED}cli.add_argument('--num-workers', type=int)\n", "likely"),
        ("ask.py", f"{HANDED}num_workers = os.cpu_count()\nnum_workers = 0\n", "likely"),
        ("ask.py", f"{HANDED}num_workers = 0\nhelp = 'fit --num_workers 4'\n", "likely"),
        # Methods with names that many others have.
        ("ask.py", "text.encode('utf-8')\nmodel.predict(one)\n", "unknown"),
        ("ask.py", "import sentence_transformers\nmodel().encode(texts, device=['cuda:0', 'cuda:1'])\n", "likely"),
        # Signs: workers, ranks, processes, and what may train with workers of its own.
        ("ask.py", "load(num_workers=4)\n", "likely"),
        ("ask.py", "from torch.utils.data import DataLoader\nNUM_WORKERS = 4\nDataLoader(d)\n", "likely"),
        ("ask.py", "from torch.utils.data import DataLoader\nDataLoader(d, 4, False, None, None, 8)\n", "likely"),
        ("ask.py", "from multiprocessing import Pool\nPool(4)\n", "likely"),
        ("ask.py", "import torch.distributed as dist\ndist.barrier()\n", "likely"),
        ("ask.py", "model = torch.nn.DataParallel(model)\n", "unknown"),
        ("ask.py", "model = torch.nn.parallel.DistributedDataParallel(model)\n", "likely"),
        ("ask.py", "import subprocess\nsubprocess.run(['torchrun', 'fit.py'])\n", "likely"),
        ("ask.py", "import ultralytics\nultralytics.YOLO('n.pt').train(data='a')\n", "likely"),
        ("ask.py", "import ultralytics\nmodel = ultralytics.YOLO('n.pt')\nmodel.val()\n", "likely"),
        ("ask.py", "import unheard_of\nunheard_of.fine_tune(data)\n", "likely"),
        ("ask.sh", "torchrun ask.py\n", "likely"),
        ("ask.sh", "python ask.py --train data\npython train/ask.py\n", "unknown"),
        ("ask.sh", "unheard-train --data a\n", "likely"),
        ("ask.sh", "unheard train --data a\n", "likely"),
        ("ask.ipynb", CELLS % "unheard_of\\n\", \"!unheard-train a", "likely"),
        ("ask.ipynb", CELLS % "unheard_of\\n\", \"!python ask.py", "unknown"),
        ("fit.yaml", "_target_: lightning.pytorch.Trainer\n", "likely"),
        ("ask.ipynb", CELLS % "unheard_of\\n!torchrun ask.py", "likely"),
    ],
)
def test_a_shell_for_code_without_a_sign_of_shared_memory(tmp_path: Path, name: str, text: str, verdict: str) -> None:
    """A word alone is no sign, and what else runs is unknown; code that is not there says nothing."""
    asks = "import torch, unheard_of\nmodel = unheard_of.Model.from_pretrained('a')\ndef world_size(): return 1\n"
    files = {".devcontainer/devcontainer.json": CONTAINER, "ask.py": asks}
    text = f"{asks}{text}" if name == "ask.py" else text
    assert need(tmp_path, files | {name: text}).verdict == verdict
