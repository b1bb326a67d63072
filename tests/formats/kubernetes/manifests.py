"""Small manifests for tests."""

from __future__ import annotations

VLLM = "vllm/vllm-openai:v0.6.3"
MEMORY = "emptyDir: {medium: Memory}"
ON_SHM = "volumeMounts: [{name: dshm, mountPath: /dev/shm}]"


def container(*lines: str, name: str = "vllm", gpus: int | str = 2) -> str:
    """An item of ``containers``, with the first dash at the margin."""
    body = [f"image: {VLLM}", 'args: ["--model", "m", "--tensor-parallel-size", "2"]', *lines]
    if gpus:
        body.append(f"resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}")
    return f"- name: {name}\n" + "".join(f"  {line}\n" for line in body)


def pod_spec(*containers: str, volumes: tuple[str, ...] = (), more: tuple[str, ...] = ()) -> str:
    """The specification of a pod; ``volumes`` are what is in a volume named ``dshm``, and ones behind it."""
    lines = "".join(containers or (container(),))
    text = "".join(f"{line}\n" for line in more) + f"containers:\n{lines}"
    if volumes:
        names = ("dshm", *(f"v{number}" for number in range(1, len(volumes))))
        text += "volumes:\n" + "".join(f"- name: {n}\n  {v}\n" for n, v in zip(names, volumes, strict=True))
    return text


def indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


def pod(*containers: str, volumes: tuple[str, ...] = (), more: tuple[str, ...] = ()) -> str:
    """A pod."""
    spec = indented(pod_spec(*containers, volumes=volumes, more=more), 2)
    return f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n{spec}"


def under(api: str, kind: str, *path: str, spec: str = "") -> str:
    """An object with a pod's specification under a path of keys; ``-`` in it is an item of a list."""
    lines = [f"apiVersion: {api}", f"kind: {kind}", "metadata:", "  name: o"]
    depth = 0
    dash = ""
    for key in path:
        if key == "-":
            dash = "- "
            continue
        lines.append(f"{' ' * depth}{dash}{key}:")
        depth += 2 + len(dash)
        dash = ""
    return "\n".join(lines) + "\n" + indented(spec or pod_spec(), depth)
