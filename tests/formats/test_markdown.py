"""Documents: which of their lines are commands, where they are, and what fixing them writes."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shmlint.fixing import fix as fixing
from shmlint.model.launch import Launch
from shmlint.model.source import apply_edits
from tests.project import fixed, run
from tests.table import table

IMAGE = "nvcr.io/nvidia/pytorch:24.01-py3"
RUN = f"docker run --gpus all --rm {IMAGE} python train.py"
FIXED = f"docker run --gpus all --shm-size=8g --rm {IMAGE} python train.py"
LONG = f"docker run \\\n  --gpus all \\\n  --rm \\\n  {IMAGE}\n"
LONG_FIXED = f"docker run \\\n  --gpus all \\\n  --shm-size=8g \\\n  --rm \\\n  {IMAGE}\n"
COMPOSE = (
    f"services:\n  trainer:\n    image: {IMAGE}\n    deploy:\n      resources:\n        reservations:\n"
    "          devices:\n            - driver: nvidia\n              count: all\n              capabilities: [gpu]\n"
)


def indented(text: str, by: str) -> str:
    return "".join(by + line if line.strip() else line for line in text.splitlines(keepends=True))


def launches(directory: Path, text: str, name: str = "docs/x.md") -> list[Launch]:
    return run(directory, {name: text}).launches


def lines(directory: Path, text: str, name: str = "docs/x.md") -> list[int]:
    found = launches(directory, text, name)
    for launch in found:
        assert launch.span.text in ("docker", "podman", "nvidia-docker") or launch.span.text == launch.name
    return [launch.span.line for launch in found]


def after_fix(directory: Path, text: str, name: str = "docs/x.md") -> str:
    """The text after fixing, which must be all there is to fix."""
    new = fixed(directory, {name: text}).get(name, text)
    assert fixed(directory, {name: new}) == {}
    return new


# What is a command -----------------------------------------------------------------------------


@table(
    "language",
    [
        "",
        "bash",
        "sh",
        "shell",
        "zsh",
        "console",
        "text",
        "none",
        "plain",
        "BASH",
        "shell-session",
        "powershell",
        "pwsh",
        "cmd",
        "{.bash .annotate}",
        'bash title="run.sh"',
        'bash linenums="1" hl_lines="1"',
        "{code-block} bash",
        "sh{1,3}",
        "bash,ignore",
        "{ .sh }",
        "bash {1}",
    ],
)
def test_fences_that_hold_commands(tmp_path: Path, language: str) -> None:
    text = f"# Use\n\n```{language}\n{RUN}\n```\n"
    assert lines(tmp_path, text) == [4]
    assert after_fix(tmp_path, text) == text.replace(RUN, FIXED)


@table("language", ["dockerfile", "yaml", "json", "toml", "python", "buildoutcfg"])
def test_fences_of_other_languages_that_begin_with_a_command(tmp_path: Path, language: str) -> None:
    """Nobody writes so in that language: the name of the fence is a slip."""
    text = f"```{language}\n{RUN}\n# {RUN}\n```\n"
    assert lines(tmp_path, text) == [2]
    assert after_fix(tmp_path, text) == text.replace(RUN, FIXED, 1)


@table(
    ("language", "line"),
    [
        ("ini", "ExecStart=/usr/bin/{}"), ("yaml", "- run: {}"), ("groovy", "sh '{}'"), ("diff", "+ {}"),
        ("toml", 'cmd = "{}"'), ("python", 'os.system("{}")'), ("dockerfile", "CMD {}"), ("mermaid", "A -->|{}| B"),
    ],
)  # fmt: skip
def test_starts_in_blocks_of_other_languages_are_told(tmp_path: Path, language: str, line: str) -> None:
    text = f"```{language}\nx\n{line.format(RUN)}\n```\n"
    started = run(tmp_path, {"x.md": text})
    assert list(started.launches) == []
    told = [(place.span.line, place.because) for place in started.not_read]
    assert told == [(3, f"a block of `{language}` is not read as commands")]


@table("line", ["# {}", "// {}", "; {}", "- echo hello"])
def test_comments_in_blocks_of_other_languages_are_none(tmp_path: Path, line: str) -> None:
    started = run(tmp_path, {"x.md": f"```toml\nx\n{line.format(RUN)}\n```\n"})
    assert (list(started.launches), list(started.not_read)) == ([], [])


def test_another_command_to_choose_is_no_start(tmp_path: Path) -> None:
    started = run(tmp_path, {"x.md": f"```bash\n# {RUN}\n{RUN}\n```\n"})
    assert ([launch.span.line for launch in started.launches], list(started.not_read)) == ([3], [])


@table(
    ("before", "after"),
    [
        ("{{< highlight bash >}}", "{{< /highlight >}}"), ("{{% code %}}", "{{% /code %}}"),
        ("{% highlight bash %}", "{% endhighlight %}"), ("<CodeGroup>", "</CodeGroup>"),
    ],
)  # fmt: skip
def test_a_command_between_tags(tmp_path: Path, before: str, after: str) -> None:
    text = f"# Use\n\n{before}\n{RUN}\n{after}\n"
    assert lines(tmp_path, text) == [4]
    assert after_fix(tmp_path, text) == text.replace(RUN, FIXED)


@table(
    ("text", "expected"),
    [
        pytest.param(f"```console\n$ {RUN}\n{RUN}\n$ ls\n{RUN}\n$ {RUN}\n```\n", [2, 6], id="output between prompts"),
        pytest.param(f"```console\n# {RUN}\nout\n```\n", [2], id="what root types"),
        pytest.param(f"```console\n# cd app\n# sudo -E {RUN}\n\n# make\n```\n", [3], id="all that root types"),
        pytest.param(f"```console\n# then\n# sudo -E {RUN}\nout\n```\n", [], id="comments"),
        pytest.param(f"```console\n# {RUN}\n{RUN}\n```\n", [3], id="a comment beside commands without a prompt"),
        pytest.param(f"```bash\n# {RUN}\nls\n```\n", [], id="a comment in bash"),
        pytest.param(f"```bash\n$ {RUN}\n# {RUN}\n```\n", [2], id="a comment beside prompts"),
        pytest.param(
            f"```console\n$ docker run --gpus all \\\n>   --rm \\\n>   {IMAGE}\n{RUN}\n```\n", [2], id="> goes on"
        ),
        pytest.param(
            f"```console\n$ docker run --gpus all \\\n    --rm \\\n    {IMAGE}\n{RUN}\n```\n", [2], id="goes on"
        ),
        pytest.param(f"```\necho '{RUN}'\n```\n", [], id="talk"),
        pytest.param(
            f"```bash\ndocker build .\ndocker compose up\ndocker exec x {IMAGE}\n```\n", [], id="other commands"
        ),
        pytest.param(f"```bash\na=1; {RUN} && ls\n```\n", [2], id="among others"),
    ],
)
def test_prompts(tmp_path: Path, text: str, expected: list[int]) -> None:
    assert lines(tmp_path, text) == expected


@table(
    "prompt",
    [
        "$ ",
        "$",
        "% ",
        "> ",
        ">> ",
        "❯ ",
        "➜ ",
        "➜  ~ ",
        "➜  app git:(main) ✗ ",
        "λ ",
        ">>> ",
        "=> ",
        "!",
        "In [1]: !",
        "user@host:~$ ",
        "(venv) user@host:~/x$ ",
        "(base) $ ",
        "(base) $> ",
        "$> ",
        "[root@host ~]# ",
        "root@abc123:/workspace# ",
        "root@x:/#",
        "bash-5.1$ ",
        "PS C:\\work> ",
        "PS> ",
        "C:\\> ",
        "repo$ sudo ",
    ],
)
def test_every_prompt(tmp_path: Path, prompt: str) -> None:
    text = f"```\n{prompt}{RUN}\nsome output\n```\n"
    (launch,) = launches(tmp_path, text)
    assert launch.span.text == "docker"
    assert after_fix(tmp_path, text) == text.replace(RUN, FIXED)


@table(
    ("line", "told"),
    [
        ("Step 1: {}", True), ("1. {}", True), ("╭─ me {}", True), ("{}", True),
        ("$ echo {}", False), ("# {}", False), ("Use `docker run --help`", False), ("docker run -it redis", False),
    ],
)  # fmt: skip
def test_what_is_behind_no_known_prompt_is_told(tmp_path: Path, line: str, told: bool) -> None:
    started = run(tmp_path, {"x.md": f"```sh\n$ ls\n{line.format(RUN)}\n```\n"})
    assert list(started.launches) == []
    found = [(place.span.line, place.because) for place in started.not_read if "prompt" in place.because]
    assert found == ([(3, "it is behind no known prompt")] if told else [])


@table(
    ("text", "expected"),
    [
        pytest.param(f"Some {RUN} in prose.\n\n{RUN}\n\n# {RUN}\n\n| {RUN} | x |\n", [3], id="prose"),
        pytest.param(f"Use `{RUN}` or ``{RUN}``, `$ {RUN}`, `sudo {RUN}`.\n", [1, 1, 1, 1], id="code spans"),
        pytest.param(
            "Of `docker run`, `docker run --gpus all` and `the docker run x` none.\n", [], id="parts of commands"
        ),
        pytest.param(f"# Run it\n{RUN}\n## Then\nWait.\n\nText\n{RUN}\n", [2], id="between headings"),
        pytest.param(f"docker rm x && {RUN}\n\ncd x && sudo docker stop a b && {RUN}\n", [1, 3], id="behind others"),
        pytest.param(f"- {RUN}\n- `{RUN}`\n", [1, 2], id="list items"),
        pytest.param(f"```\n$ docker run \\ # x\n --gpus all {IMAGE}\no\n$ {RUN}\n```\n", [2, 5], id="comment after"),
        pytest.param(f"1. Build\n2. {RUN}\n3. Wait\n", [2], id="an item between others"),
        pytest.param(f"- {RUN}\n  which waits\n", [], id="an item that goes on"),
        pytest.param(f"Run the following:\n>{RUN}\n\nThen wait.\n> {RUN}\n>\n> It ends.\n", [2, 5], id="quotations"),
        pytest.param(f"> {RUN}\n> which waits\n\n> Text\n> {RUN}\n", [], id="sentences of quotations"),
        pytest.param("> docker run --gpus all \\\n>   img\n", [], id="a quotation over two lines"),
        pytest.param(f"> Use `docker run --gpus all\n> {IMAGE}`.\n", [1], id="a code span over two lines"),
        pytest.param(f"text\n\n    {RUN}\n\ntext\n", [3], id="indented"),
        pytest.param(f"text\n    {RUN}\n", [], id="indented, but of the paragraph"),
        pytest.param(f"Run:\n    {RUN}\n\n    more\n", [2], id="indented behind a colon"),
        pytest.param(f"Run:\n\t{RUN}\n\techo\n    {RUN}\nThen wait.\n", [2, 4], id="several indented behind a colon"),
        pytest.param(f"Run:\n    - {RUN}\n    - {RUN}\n", [2, 3], id="items behind a colon"),
        pytest.param(f"Run:\n  {RUN}\nand wait.\n", [], id="behind a colon, not indented enough"),
        pytest.param(f"```shell_script\n{RUN}\n```\n```bash-script\n{RUN}\n```\n", [2, 5], id="scripts"),
        pytest.param(f"~~~bash\n{RUN}\n~~~\n", [2], id="tildes"),
        pytest.param(f"````bash\n```\n{RUN}\n````\n", [3], id="four"),
        pytest.param(f"```bash\n{RUN}\n", [2], id="unclosed"),
        pytest.param(f"```bash\n{RUN}", [2], id="unclosed, without a final line end"),
        pytest.param(f"\ufeff```bash\n{RUN}\n```\n", [2], id="byte order mark"),
        pytest.param(f"<details>\n<summary>x</summary>\n\n```bash\n{RUN}\n```\n\n</details>\n", [5], id="details"),
        pytest.param(f"<details>\n```bash\n{RUN}\n```\n</details>\n", [3], id="details without a blank line"),
        pytest.param(f"<!--\n```bash\n{RUN}\n```\n-->\n\n```bash\n{RUN}\n```\n", [8], id="commented out"),
        pytest.param(f"---\ntitle: {RUN}\nx: `{RUN}`\n---\n\n```bash\n{RUN}\n```\n", [7], id="front matter"),
        pytest.param(
            f'=== "A"\n\n    ```bash\n    {RUN}\n    ```\n\n=== "B"\n\n    ```bash\n    {RUN}\n    ```\n',
            [4, 10],
            id="tabs",
        ),
        pytest.param(
            f"!!! note\n    ```bash\n    ls\n\n    {RUN}\n    ```\n\n```bash\n{RUN}\n```\n",
            [5, 9],
            id="admonition without a blank line",
        ),
        pytest.param(
            f"!!! note\n\n    - x\n\n        ```bash\n        {RUN}\n        ```\n", [6], id="list in admonition"
        ),
        pytest.param(
            f"````{{tab-set}}\n```{{code-block}} bash\n:linenos:\n{RUN}\n```\n````\n", [4], id="nested directives"
        ),
        pytest.param(f"```{{eval-rst}}\n.. code-block:: bash\n\n   {RUN}\n```\n", [4], id="reStructuredText inside"),
        pytest.param(f"```make\nrun:\n\t{RUN}\n```\n", [3], id="make"),
    ],
)
def test_where_commands_are(tmp_path: Path, text: str, expected: list[int]) -> None:
    assert lines(tmp_path, text) == expected
    assert after_fix(tmp_path, text).count("--shm-size=8g") == len(expected)


@table(
    "block",
    ["T='--rm'\nT=\"$T --ipc=host\"", ': "${T:=--ipc=host}"', "printf -v T '%s' '--ipc=host'", "T=(\n  --ipc=host\n)"],
)
def test_options_of_an_earlier_block_are_no_image(tmp_path: Path, block: str) -> None:
    text = f"```bash\n{block}\n```\n\n```bash\ndocker run --gpus all $T redis\n```\n"
    (launch,) = run(tmp_path, {"x.md": text}).launches
    assert launch.image is not None and launch.image.known == "redis"
    assert launch.undecided is not None


@table(
    ("block", "size"),
    [
        ('T="--gpus all --shm-size 8g"', 8 << 30),
        ("$ export T='--gpus all --shm-size=8g'", 8 << 30),
        ('T="--gpus all"', 64 << 20),
        ('T="--gpus all --shm-size $N"', None),
        ('T="--gpus all --shm-size 8g"\n. ./settings.sh', None),
        ('T="--gpus all --shm-size 8g"\n```\n\n```bash\nsource settings.sh', None),
        ('T="--gpus all --shm-size 8g"\n. venv/bin/activate', 8 << 30),
        ('T="--gpus all --shm-size 1g"\n```\n\n```bash\nT="--gpus all --shm-size 8g"', None),
    ],
)
def test_options_of_an_earlier_block(tmp_path: Path, block: str, size: int | None) -> None:
    text = f"```bash\n{block}\n```\n\n```bash\ndocker run $T redis\n```\n"
    (launch,) = run(tmp_path, {"x.md": text}).launches
    assert launch.effective_shm().bytes == size


@table("block", ["G=device=0,1", 'G="device=0,1"', "export G='device=0,1'"])
def test_devices_of_an_earlier_block(tmp_path: Path, block: str) -> None:
    text = f"```bash\n{block}\n```\n\n```bash\ndocker run --gpus $G redis\n```\n"
    assert [finding.rule for finding in run(tmp_path, {"x.md": text}).findings if finding.rule == "GPU401"]


def test_a_code_span_without_an_image_names_a_command(tmp_path: Path) -> None:
    text = f"- `docker run -it` starts one, `docker run --gpus all` has GPUs\n\nor `docker run --gpus all {IMAGE}`\n"
    reading = run(tmp_path, {"README.md": text}).reading
    assert [launch.span.line for launch in reading.launches] == [3]
    assert not reading.not_read
    block = run(tmp_path, {"README.md": "```sh\ndocker run --gpus all\n```\n"}).reading
    assert [place.span.line for place in block.not_read] == [2]


def test_mdx(tmp_path: Path) -> None:
    text = (
        "import Tabs from 'x'\n\n<Tabs>\n  <Tab title=\"a\">\n    ```bash\n    ls\n\n"
        f"    {RUN}\n    ```\n  </Tab>\n  <Tab>\n        ```sh\n        {RUN}\n        ```\n  </Tab>\n</Tabs>\n"
    )
    assert lines(tmp_path, text, "x.mdx") == [8, 13]
    assert after_fix(tmp_path, text, "x.mdx") == text.replace(RUN, FIXED)


@table(
    ("text", "expected"),
    [
        (f"{RUN}\n", [2]),
        (f"$ {RUN}\n", [2]),
        (f"$ docker build -t x .\n$ {RUN}\n", [3]),
        (f"# first\n\nsudo docker pull x\n{RUN}\n", [5]),
        (f"git clone https://example.org/x\ncd x\n{RUN}\n", [4]),
        (f"cd x && {RUN}\n", [2]),
        (f'import os\nos.system("{RUN}")\n', []),
        (f'text = "cd"\n{RUN}\n', []),
        (f"cd = x\n# {RUN}\n", []),
    ],
)
def test_a_block_of_commands_that_is_called_python(tmp_path: Path, text: str, expected: list[int]) -> None:
    text = f"```python\n{text}```\n"
    assert lines(tmp_path, text) == expected
    assert after_fix(tmp_path, text) == (text.replace(RUN, FIXED) if expected else text)


def test_txt_is_not_read(tmp_path: Path) -> None:
    assert lines(tmp_path, f"```bash\n{RUN}\n```\n", "README.txt") == []


@table(
    ("command", "image", "undecided"),
    [
        ("docker run --gpus all <image> <cmd>", "<image>", False),
        ("docker run --gpus all -v {path}:/x vllm/vllm-openai --model {model}", "vllm/vllm-openai", False),
        ("docker run --gpus all -e KEY=${{ secrets.KEY }} lab/image:v1 bash", "lab/image:v1", False),
        ("docker run --gpus all -e 'KEY=${{secrets.KEY}}' lab/image:v1 bash", "lab/image:v1", False),
        ("docker run --gpus all --shm-size=${{ inputs.shm }} lab/image:v1 bash", "lab/image:v1", False),
        ("docker run --gpus all lab/image:${{ matrix.tag }} bash", "lab/image:${{ matrix.tag }}", False),
        ("docker run --gpus all -it lab/image:v{{ version }} bash", "lab/image:v{{ version }}", False),
        ("docker run --gpus all -it lab/image:v{{version}} bash", "lab/image:v{{version}}", False),
        ("docker run --gpus all <your image name here> x", "<your image name here>", False),
        ("docker run --gpus all -v </path/to/it>:/x <xx.yy>-py3", "<xx.yy>-py3", False),
        ("docker run --gpus all -w=[path to the code] lab/image:v1 python train.py", "lab/image:v1", False),
        ("docker run --gpus all -v [path to data]:/data lab/image:v1", "lab/image:v1", False),
        ("docker run --gpus all ... vllm/vllm-openai", "vllm/vllm-openai", True),
        ("docker run --gpus all … vllm/vllm-openai", "vllm/vllm-openai", True),
        ("docker run --gpus all [OPTIONS] vllm/vllm-openai", "vllm/vllm-openai", True),
        ("docker run --gpus all [--shm-size=1g] [--rm] [-v DIR:/data] foo", "foo", True),
        ("docker run --gpus all [--name NAME | --rm] foo", "foo", True),
        ("docker run [options] IMAGE [COMMAND] [ARG...]", "IMAGE", True),
        ("docker run --gpus all vllm/vllm-openai ...", "vllm/vllm-openai", False),
        ('docker run --gpus all vllm/vllm-openai python -c "..."', "vllm/vllm-openai", False),
        ("docker run --gpus all $OPTS vllm/vllm-openai", "vllm/vllm-openai", True),
        ("docker run --gpus all -v a:/a foo sh -c 'a $ b'", "foo", False),
    ],
)
def test_placeholders(tmp_path: Path, command: str, image: str, undecided: bool) -> None:
    (launch,) = launches(tmp_path, f"```bash\n{command}\n```\n")
    assert launch.image is not None and launch.image.text == image
    assert bool(launch.undecided) is undecided
    assert "_OPTIONS" not in repr(launch)
    if undecided:
        assert after_fix(tmp_path, f"```bash\n{command}\n```\n") == f"```bash\n{command}\n```\n"


@table("size", ["{{ shm_size }}", '{{ shm_size | default("8g") }}', "{shm_size}", "[shm size]"])
def test_a_placeholder_in_a_compose_file_without_quotes_is_unknown(tmp_path: Path, size: str) -> None:
    text = f"```yaml\n{COMPOSE}    shm_size: {size}\n```\n"
    (launch,) = launches(tmp_path, text)
    assert launch.shm is not None and launch.shm.known is None and launch.shm.text == size
    assert after_fix(tmp_path, text) == text and run(tmp_path, {}).findings == []


@table("placeholder", ["...", "…", "[--shm-size=8g]", "[OPTIONS]", "[-v DIR:/data]..."])
def test_what_stands_for_more_options_is_called_what_it_is(tmp_path: Path, placeholder: str) -> None:
    (launch,) = launches(tmp_path, f"```bash\ndocker run --gpus all {placeholder} foo\ndocker run --rm\n```\n")
    assert launch.undecided is not None
    assert launch.undecided.because.startswith(f"`{placeholder}` may stand for more options")


def test_a_placeholder_of_several_words_is_no_image(tmp_path: Path) -> None:
    text = "```bash\ndocker run --gpus all -v $ path to the data:/data foo/bar\n```\n"
    (launch,) = launches(tmp_path, text)
    assert launch.image is None and launch.undecided
    assert after_fix(tmp_path, text) == text


@table("language", ["", "bash", "powershell", "cmd"])
@table("escape", ["`", "^"])
def test_other_shells_go_on_with_other_characters(tmp_path: Path, language: str, escape: str) -> None:
    if (language, escape) == ("powershell", "^"):
        return  # no continuation there
    enough = f"docker run --gpus all {escape}\n  --shm-size 8g {escape}\n  {IMAGE}\n"
    (launch,) = launches(tmp_path, f"```{language}\n{enough}```\n")
    assert launch.shm is not None and launch.shm.text == "8g"
    missing = f"```{language}\ndocker run {escape}\n  --gpus all {escape}\n  {IMAGE}\n```\n"
    assert after_fix(tmp_path, missing) == missing.replace("--gpus all", "--gpus all --shm-size=8g")


def test_a_blank_behind_the_backslash_is_a_slip(tmp_path: Path) -> None:
    (launch,) = launches(tmp_path, f"```bash\ndocker run --gpus all \\ \n  --shm-size=8g \\\t\n  {IMAGE}\n```\n")
    assert launch.shm is not None and launch.shm.text == "8g"


# reStructuredText --------------------------------------------------------------------------------


@table(
    ("text", "expected"),
    [
        pytest.param(f".. code-block:: bash\n   :linenos:\n   :caption: x\n\n   {RUN}\n\n{RUN}\n", [5], id="options"),
        pytest.param(f".. code-block:: console\n\n   $ {RUN}\n   {RUN}\n", [3], id="console"),
        pytest.param(f".. code-block:: json\n\n   {RUN}\n", [3], id="another language"),
        pytest.param(f"Run this::\n\n    {RUN}\n\nand {RUN}\n", [3], id="literal block"),
        pytest.param(f"::\n\n  {RUN}\n", [3], id="two colons alone"),
        pytest.param(f"\ufeff::\n\n  {RUN}\n", [3], id="byte order mark"),
        pytest.param(f"Use ``{RUN}``, not ``docker run``.\n", [1], id="inline"),
        pytest.param(f"Use ``docker run --gpus all\n{IMAGE}`` now.\n", [1], id="inline over two lines"),
        pytest.param(f".. note::\n\n   .. code:: sh\n\n      {RUN}\n\n   x::\n\n      {RUN}\n", [5, 9], id="nested"),
        pytest.param(f"- item::\n\n    {RUN}\n\n- x\n", [3], id="in a list"),
        pytest.param(f".. a comment\n   {RUN}\n\n.. {RUN}\n", [], id="comment"),
    ],
)
def test_restructuredtext(tmp_path: Path, text: str, expected: list[int]) -> None:
    assert lines(tmp_path, text, "x.rst") == expected
    assert after_fix(tmp_path, text, "x.rst").count("--shm-size=8g") == len(expected)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("by", ["   ", "\t"])
def test_restructuredtext_is_rewritten_in_its_style(tmp_path: Path, newline: str, by: str) -> None:
    text = f".. code-block:: bash\n\n{indented(LONG, by)}\nend\n".replace("\n", newline)
    expected = f".. code-block:: bash\n\n{indented(LONG_FIXED, by)}\nend\n".replace("\n", newline)
    assert after_fix(tmp_path, text, "x.rst") == expected


# Rewriting -----------------------------------------------------------------------------------------


@table("newline", ["\n", "\r\n"])
@table(
    ("before", "by"),
    [
        ("", ""),
        ("- item\n\n", "  "),
        ("1. item\n\n", "   "),
        ("1. item\n", "    "),
        ("- a\n  - b\n\n", "    "),
        ('=== "x"\n\n', "    "),
        ("!!! note\n", "    "),
        ("- a\n\n", "\t"),
        ("10. x\n\n", "    "),
    ],
)
def test_own_line_style_keeps_the_indentation(tmp_path: Path, newline: str, before: str, by: str) -> None:
    text = (before + indented(f"```bash\n{LONG}```\n", by) + "\nend\n").replace("\n", newline)
    expected = (before + indented(f"```bash\n{LONG_FIXED}```\n", by) + "\nend\n").replace("\n", newline)
    assert after_fix(tmp_path, text) == expected


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_block_quotes(tmp_path: Path, newline: str) -> None:
    text = f"> note\n>\n> ```bash\n> {RUN}\n> ```\n>\n> - x\n>\n>   ```bash\n>   {RUN}\n>   ```\n".replace(
        "\n", newline
    )
    assert lines(tmp_path, text) == [4, 10]
    assert after_fix(tmp_path, text) == text.replace(RUN, FIXED)


def test_a_long_command_in_a_block_quote(tmp_path: Path) -> None:
    text = indented(f"```bash\n{LONG}```\n", "> ")
    new = after_fix(tmp_path, text)
    assert new.replace(" --shm-size=8g", "") == text
    assert all(line.startswith("> ") for line in new.splitlines())


@pytest.mark.parametrize("final", ["", "\n", "\r\n", "\n\n\n"])
def test_the_end_of_the_file_stays(tmp_path: Path, final: str) -> None:
    text = f"x\n\n    {RUN}{final}"
    assert after_fix(tmp_path, text) == text.replace(RUN, FIXED)


def test_a_size_that_is_too_small(tmp_path: Path) -> None:
    text = f"1. x\n\n   ```console\n   $ docker run --gpus all --shm-size=64m {IMAGE}\n   ```\n"
    assert after_fix(tmp_path, text) == text.replace("64m", "8g")


# Compose files in documents ------------------------------------------------------------------------


def repaired(directory: Path, text: str, name: str = "docs/x.md") -> str:
    """The text with the first way its launches know to get 8 GiB."""
    edits = [e for launch in launches(directory, text, name) for e in launch.rewriter.set_shm_size(8 << 30)[0].edits]
    return apply_edits(text, edits)


@table("newline", ["\n", "\r\n"])
@table(
    ("before", "by"), [("# x\n\n", ""), ("- item\n\n", "  "), ("1. item\n", "   "), ('=== "x"\n\n', "    ")]
)
@table("language", ["yaml", 'yml title="compose.yaml"', ""])
def test_compose_blocks(tmp_path: Path, newline: str, before: str, by: str, language: str) -> None:
    text = (before + indented(f"```{language}\n{COMPOSE}```\n", by) + f"\n`{RUN}`\n").replace("\n", newline)
    service, command = launches(tmp_path, text)
    assert (service.kind, service.span.text, command.kind) == ("compose-service", "trainer", "docker-run")
    assert service.image is not None and service.image.span.text == IMAGE
    image = f"{by}    image: {IMAGE}{newline}"
    expected = text.replace(image, f"{image}{by}    shm_size: 8gb{newline}").replace(RUN, FIXED)
    assert repaired(tmp_path, text) == expected


def test_compose_blocks_in_restructuredtext(tmp_path: Path) -> None:
    text = f".. code-block:: yaml\n\n{indented(COMPOSE, '   ')}\nend\n"
    image = f"       image: {IMAGE}\n"
    assert repaired(tmp_path, text, "x.rst") == text.replace(image, f"{image}       shm_size: 8gb\n")


def test_each_block_is_a_file_of_its_own(tmp_path: Path) -> None:
    small = f"services:\n  trainer:\n    image: {IMAGE}\n    runtime: nvidia\n    shm_size: 64m\n"
    text = f"```yaml\n{COMPOSE}```\n\n```yaml\n{small}```\n\n```yaml\nservices:\n  web:\n    image: nginx\n```\n"
    found = launches(tmp_path, text)
    assert [(launch.name, launch.span.line, launch.shm and launch.shm.text) for launch in found] == [
        ("trainer", 3, None),
        ("trainer", 16, "64m"),
        ("web", 24, None),
    ]


@pytest.mark.parametrize(
    "block",
    [
        "services:\n  trainer:\n    deploy:\n      resources:\n        reservations:\n          devices:\n"
        "            - driver: nvidia\n              capabilities: [gpu]\n",
        "services:\n  trainer:\n    # what you have\n    gpus: all\n",
    ],
)
def test_a_fragment_may_leave_out_the_size(tmp_path: Path, block: str) -> None:
    (launch,) = launches(tmp_path, f"```yaml\n{block}```\n")
    assert launch.gpu.requested and launch.undecided
    assert run(tmp_path, {"docs/x.md": f"```yaml\n{block}```\n"}).findings == []


@pytest.mark.parametrize(
    "block",
    [
        f"trainer:\n  image: {IMAGE}\n",
        f"jobs:\n  x:\n    container:\n      image: {IMAGE}\n",
        "services:\n  trainer:\n    image: x\n   broken: [\n",
        "services:\n  - image\n",
    ],
)
def test_other_yaml_gives_nothing_and_no_complaint(tmp_path: Path, block: str) -> None:
    result = run(tmp_path, {"docs/x.md": f"```yaml\n{block}```\n"})
    assert not result.launches and result.findings == []


@table(
    ("block", "line"),
    [
        ("services:\n  web:\n    image: a\n  ...\n  gpu:\n    image: b\n    gpus: all\n", 8),
        ("services:\n  gpu:\n    image: b\n    runtime: nvidia\n    [...]\n", 5),
        ("services:\n\tgpu:\n\t\timage: b\n\t\tgpus: all\n", 5),
        ("name: a\n...\nservices:\n  gpu:\n    image: b\n    gpus: all\n", 7),
        ("services:\n  web:\n    image: a\n    ...\n    ports: []\n", None),
        ("services:\n  web:\n    image: a\n", None),
    ],
)
@table("language", ["yaml", ""])
def test_a_compose_file_that_is_no_yaml_is_told(tmp_path: Path, block: str, line: int | None, language: str) -> None:
    started = run(tmp_path, {"docs/x.md": f"```{language}\n{block}```\n"})
    assert [launch for launch in started.launches if launch.gpu.requested] == [] and started.findings == []
    assert [place.span.line for place in started.not_read] == ([line] if line is not None else [])
    assert all(place.because.startswith("the Compose file around it is not valid YAML") for place in started.not_read)


@table("key", ["image: b", "shm_size: 8g", "ipc: host"])
def test_a_part_of_a_service_is_said_not_to_be_read(tmp_path: Path, key: str) -> None:
    started = run(tmp_path, {"docs/x.md": f"```yaml\ngpus: all\n{key}\n```\n"})
    told = [(place.span.line, place.because) for place in started.not_read]
    assert told == [(2, "a part of a Compose file in a document is not read")]


# Random documents ----------------------------------------------------------------------------------

_PIECES = [
    "# Title\n",
    "\n",
    "text `code` text\n",
    "- item\n",
    "1. item\n",
    "> quote\n",
    "---\n",
    "<details>\n",
    "<!-- x -->\n",
    '=== "tab"\n',
    "!!! note\n",
    f"`{RUN}`\n",
    f"Use `{RUN}` or `ls`.\n",
    f"```bash\n{RUN}\n```\n",
    f"```bash\n{LONG}```\n",
    f"```console\n$ {RUN}\nout\n```\n",
    f"```\n# {RUN}\n```\n",
    f"```bash\n{RUN}\n",
    "```\n",
    "~~~\n",
    f"    {RUN}\n",
    f"```bash\ndocker run --gpus all --shm-size 64m {IMAGE} \\\n  ls\n```\n",
    f"```yaml\n{COMPOSE}```\n",
    "```bash\ndocker run --gpus all <image> ... {x}\n```\n",
    "`unclosed\n",
    "ünïcödé 🐳\n",
    "```bash\npodman run x\n```\n",
    f"```bash\nARGS='--gpus all'\nnvidia-docker run $ARGS {IMAGE}\n```\n",
    f"x::\n\n  {RUN}\n\n",
    f".. code-block:: bash\n\n   {RUN}\n\n",
    "\ttab\n",
]
_INDENTATIONS = ["", "", "", "  ", "   ", "    ", "> ", "\t"]


@st.composite
def documents(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(_INDENTATIONS)), max_size=8))
    text = "".join(indented(piece, by) for piece, by in pieces)
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


@given(documents(), st.sampled_from(["x.md", "x.mdx", "x.rst"]))
def test_any_document(text: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        started = run(directory, {name: text})
        for launch in started.launches:
            assert launch.span.text in ("docker", "podman", "nvidia-docker", launch.name)
            for evidence in launch.gpu.evidence:
                assert evidence.span.text.strip()
            if launch.image is not None and not launch.image.because:
                assert launch.image.span.text == launch.image.text
        with contextlib.chdir(directory):
            new = fixing.fix(started).texts.get(name, text)
        # Each line is there as it was, or with the size in it; between them are lines with nothing but the size.
        new_lines = iter(new.split("\n"))
        for line in text.split("\n"):
            changed = next(new_lines)
            while changed != line and changed.strip(" \t>\r\\") in ("--shm-size=8g", "--shm-size=1g", "shm_size: 8gb"):
                changed = next(new_lines)
            without = changed.replace(" --shm-size=8g", "").replace(" --shm-size=1g", "")
            assert line in (changed, without) or line == changed.replace("--shm-size 8g", "--shm-size 64m")
        assert next(new_lines, None) is None
        assert fixed(directory, {name: new}) == {}


MANIFEST = (
    "```{}\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: x\n"
    "    resources: {{limits: {{{}: 2}}}}\n```\n"
)


@table(
    ("text", "lines"),
    [
        (MANIFEST.format("yaml", "nvidia.com/gpu"), [7]), (MANIFEST.format("", "amd.com/gpu"), [7]),
        (MANIFEST.format("yaml", '"habana.ai/gaudi"'), [7]), (MANIFEST.format("yaml", "cpu"), []),
        (MANIFEST.format("text", "nvidia.com/gpu"), []),
    ],
)  # fmt: skip
def test_a_manifest_with_a_gpu_is_said_not_to_be_read(tmp_path: Path, text: str, lines: list[int]) -> None:
    started = run(tmp_path, {"a.md": text})
    assert [(place.span.line, place.because) for place in started.not_read] == [
        (line, "Kubernetes manifests in documents are not read") for line in lines
    ]


DEV_CONTAINER = """# Docs

```{}
{{
  "image": "nvcr.io/nvidia/pytorch:24.01-py3",
  {}
}}
```
"""


@table(
    ("text", "lines"),
    [
        (DEV_CONTAINER.format("json", '"runArgs": ["--gpus", "all"]'), [6]),
        (DEV_CONTAINER.format("jsonc", '"runArgs": [\n    "--gpus=all",\n  ]'), [7]),
        (DEV_CONTAINER.format("", '"hostRequirements": {"gpu": true}'), [6]),
        (DEV_CONTAINER.format("json", '"runArgs": ["--runtime=nvidia"]'), [6]),
        (DEV_CONTAINER.format("json", '"runArgs": ["--ipc=host"]'), []),
        (DEV_CONTAINER.format("json", '"gpu": true'), []),
        (DEV_CONTAINER.format("diff", '"runArgs": ["--gpus", "all"]'), []),
    ],
)  # fmt: skip
def test_a_dev_container_with_a_gpu_is_said_not_to_be_read(tmp_path: Path, text: str, lines: list[int]) -> None:
    started = run(tmp_path, {"a.md": text})
    assert [(place.span.line, place.because) for place in started.not_read] == [
        (line, "dev containers in documents are not read") for line in lines
    ]


JOB = "```yaml\njobs:\n  a:\n    container:\n      image: IMG\n      {}\n    steps:\n    - run: ls\n```\n"


@table(
    ("text", "lines"),
    [
        (JOB.format("options: --gpus all"), [6]),
        (JOB.format("options: >-\n        --ipc=host\n        --gpus=all"), [8]),
        (JOB.format("env: {A: b}\n      options: '--rm --gpus all'"), [7]),
        (JOB.format("options: --ipc=host"), []),
        (JOB.format("options: --ipc=host").replace("- run: ls", "- run: nvidia-smi --gpus"), []),
        (JOB.format("options: --gpus all").replace("yaml", "diff"), []),
    ],
)
def test_a_container_of_a_job_with_a_gpu_is_said_not_to_be_read(tmp_path: Path, text: str, lines: list[int]) -> None:
    started = run(tmp_path, {"a.md": text})
    assert [(place.span.line, place.because) for place in started.not_read] == [
        (line, "containers of CI jobs in documents are not read") for line in lines
    ]


@table("line", [f"**{RUN}**", f"| {RUN} |", f"| Train | {RUN} |", f"|{RUN}|"])
def test_a_command_in_bold_or_in_a_table_is_said_not_to_be_read(tmp_path: Path, line: str) -> None:
    started = run(tmp_path, {"a.md": f"# Use\n\n{line}\n"})
    told = [(place.span.line, place.span.text, place.because) for place in started.not_read]
    assert (list(started.launches), told) == ([], [(3, "docker run -", "it cannot be read as a command")])


def test_a_command_of_the_remote_client_of_podman(tmp_path: Path) -> None:
    command = RUN.replace("docker", "podman-remote")
    (launch,) = run(tmp_path, {"a.md": f"# Use\n\n- {command}\n"}).launches
    assert (launch.engine, launch.gpu.number, launch.words.launch) == ("podman", "all", f"`podman run` of {IMAGE}")
