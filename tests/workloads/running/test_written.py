"""Files that the build of an image writes itself."""

from __future__ import annotations

from pathlib import Path

from shmlint.model.source import Source
from shmlint.syntax.dockerfile import read
from shmlint.workloads.running.written import written_by
from tests.table import table
from tests.workloads.cases import WITH_LOADER, compose, need

TRAIN = (
    f"{WITH_LOADER}from torchvision.transforms import RandomCrop\nDataLoader(d(RandomCrop(512)), 64, num_workers=8)\n"
)


@table(
    "steps, verdict",
    [
        ("RUN echo '#!/bin/bash\\npython train.py' > /start.sh\nCMD [\"/start.sh\"]", "needed"),
        ("RUN echo '#!/bin/bash' > start.sh && echo 'python train.py' >> start.sh\nCMD bash start.sh", "needed"),
        ("RUN printf '%s\\n' '#!/bin/sh' 'python train.py' > /usr/local/bin/begin\nCMD [\"begin\"]", "needed"),
        ("RUN printf '#!/bin/sh\\nexec python train.py\\n' > /a.sh\nENTRYPOINT [\"/a.sh\"]", "needed"),
        ("COPY <<EOF /start.sh\n#!/bin/bash\npython train.py\nEOF\nCMD bash /start.sh", "needed"),
        ("RUN cat > /start.sh <<'EOF'\npython train.py\nEOF\nCMD bash /start.sh", "needed"),
        ("RUN cat <<EOF > start.sh\npython train.py\nEOF\nCMD bash start.sh", "needed"),
        ("RUN echo 'python serve.py' > /start.sh\nCMD bash /start.sh", "not-needed"),
        ("RUN echo 'python train.py' > /start.sh; echo 'python serve.py' > /start.sh\nCMD sh /start.sh", "not-needed"),
        ("RUN echo \"python \\$PROGRAM\" > /start.sh\nENV PROGRAM=serve.py\nCMD bash /start.sh", "not-needed"),
        ("RUN echo 'python train.py' | tee /start.sh\nCMD bash /start.sh", "unknown"),
        ("RUN printf '%d' 3 > /start.sh\nCMD bash /start.sh", "unknown"),
        ("RUN echo \"python train.py > /start.sh\nCMD bash /start.sh", "unknown"),
        ("COPY <<EOF /start.sh\npython train.py\nCMD bash /start.sh", "unknown"),
    ],
)
def test_a_script_that_a_step_writes(tmp_path: Path, steps: str, verdict: str) -> None:
    dockerfile = f"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nWORKDIR /app\nCOPY . .\n{steps}\n"
    files = {"compose.yaml": compose(""), "Dockerfile": dockerfile, "train.py": TRAIN, "serve.py": "print(1)\n"}
    assert need(tmp_path, files).verdict == verdict


@table(
    "step",
    [
        "RUN " + "echo a > b; " * 1_000, "RUN echo " + "a" * 19_000, "RUN echo " + "'a' " * 4_000 + "> b",
        "RUN echo '" + "\\\\" * 9_000 + "' > b", "COPY <<A /a\n" * 5_000,
        "RUN echo ((((> > > b", "RUN echo >", "RUN >> a",
    ],
)  # fmt: skip
def test_steps_of_any_size_and_shape(step: str) -> None:
    source = Source("Dockerfile", f"FROM a\n{step}\n")
    image = read(source.text)
    assert image is None or len(list(written_by(image, source))) <= 1_000
