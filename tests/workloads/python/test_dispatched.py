"""What functions are given that a package calls with the words of the command."""

from __future__ import annotations

from pathlib import Path

from tests.table import table
from tests.workloads.cases import DOCKERFILE, compose, need

LOADS = "import click, fire, typer, argparse\nfrom torch.utils.data import DataLoader\ncrop = RandomResizedCrop(224)\n"
LOAD = "    loader = DataLoader(data(crop), batch_size=64, num_workers=w)\n"
CLICK = f"@click.command()\n@click.option('--w', type=int, default=8)\ndef main(w):\n{LOAD}"
FLAG = "@click.option('-a', '--all', is_flag=True)\n"
ONLY = CLICK.replace("def main(w):\n", f"{FLAG}def main(w, all):\n    if all:\n    ")
PLACE = f"@click.command()\n@click.argument('w', type=int)\ndef main(w):\n{LOAD}"
TWO = PLACE.replace("@click.arg", "@click.argument('path')\n@click.arg").replace("main(w)", "main(path, w)")
PARSER = "p = argparse.ArgumentParser()\np.add_argument('w', type=int)\n"
BARE = LOAD.replace("    ", "", 1).replace("=w)", "=args.w)")
FIRE = f"def main(w=8, path='a'):\n{LOAD}"
TYPER = f"def main(path: str, w: int = 8):\n{LOAD}"


@table(
    "code, words, verdict",
    [
        (f"{CLICK}main()\n", "", "needed"),
        (f"{CLICK}main()\n", "--w 8", "needed"),
        (f"{CLICK}main()\n", "--w 0", "not-needed"),
        (f"{CLICK}main(standalone_mode=False)\n", "", "needed"),
        (f"{CLICK.replace('(w)', '(w=0)')}main()\n", "", "needed"),
        (CLICK.replace("'--w'", "'-n', '--number', 'w'") + "main()\n", "-n 8", "needed"),
        (f"{PLACE}main()\n", "8", "needed"),
        (f"{PLACE}main()\n", "0", "not-needed"),
        (f"{TWO}main()\n", "a 8", "needed"),
        (f"{TWO}main()\n", "8 0", "not-needed"),
        (CLICK.replace("(w):", "(w):\n    if tell():\n        w = 0") + "main()\n", "", "likely"),
        (f"def main(w):\n    if tell():\n        w = 0\n{LOAD}main(8)\n", "", "likely"),
        (f"def main(w):\n    if tell():\n        w = 8\n{LOAD}main(0)\n", "", "likely"),
        (f"def main(w):\n    w = 0\n{LOAD}main(8)\n", "", "not-needed"),
        # What decides whether it gets there
        (f"{ONLY}main()\n", "", "not-needed"),
        (f"{ONLY}main()\n", "--all", "needed"),
        (f"{ONLY}main()\n", "--all --w 0", "not-needed"),
        (ONLY.replace("def main(w, all):", "def main(**given):\n    own = EasyDict(given)").replace("=w", "=own.w")
            .replace("if all", "if own.all") + "main()\n", "--all", "needed"),
        (ONLY.replace("def main(w, all):", "def main(**given):\n    own = EasyDict(given)").replace("=w", "=own.w")
            .replace("if all", "if own.all") + "main()\n", "", "not-needed"),
        (CLICK.replace("type=int", "type=click.IntRange(min=1)") + "main()\n", "", "needed"),
        (CLICK.replace("type=int", "type=click.IntRange(max=1, clamp=True)") + "main()\n", "", "likely"),
        # What may give it something else
        (f"{CLICK}main(auto_envvar_prefix=tell())\n", "", "likely"),
        (CLICK.replace("default=8", "default=8, callback=change") + "main()\n", "", "likely"),
        (CLICK.replace("command()", "command(context_settings=more)") + "main()\n", "", "likely"),
        (f"{CLICK}main()\n", '"$$@"', "likely"),
        (f"{CLICK}main.callback(0)\nmain()\n", "", "likely"),
        (f"{CLICK}main(['--w', '0'])\n", "", "unknown"),
        (f"{CLICK}call(main)\nmain()\n", "", "likely"),
        (CLICK.replace("@click.command", "@twice\n@click.command") + "main()\n", "", "likely"),
        (f"{TWO}main()\n", "a", "unknown"),
        (f"{TWO}main()\n", "a 8 9", "unknown"),
        (f"{PLACE}main()\n", "$$W", "unknown"),
        # argparse
        (f"{PARSER}args = p.parse_args()\n{BARE}", "8", "needed"),
        (f"{PARSER}args = p.parse_args()\n{BARE}", "0", "not-needed"),
        (f"{PARSER.replace(', type', ', nargs=chr(63), type')}args = p.parse_args()\n{BARE}", "0", "unknown"),
        (f"{PARSER.replace(', type', ', nargs=QUESTION, default=8, type')}args = p.parse_args()\n{BARE}".replace(
            "QUESTION", "'?'"), "0", "not-needed"),
        (f"{PARSER}args = p.parse_args(read())\n{BARE}", "8", "likely"),
        (f"{PARSER}q = p.add_subparsers().add_parser('a')\nargs = p.parse_args()\n{BARE}", "8", "unknown"),
        # Functions whose parameters are the options
        (f"{FIRE}fire.Fire(main)\n", "", "needed"),
        (f"{FIRE}fire.Fire(main)\n", "--w 8", "needed"),
        (f"{FIRE}fire.Fire(main)\n", "--w=0", "not-needed"),
        (f"{FIRE}fire.Fire(main)\n", "--path=b", "needed"),
        (f"{FIRE}fire.Fire(main)\n", "0", "likely"),
        (f"{FIRE}fire.Fire(main)\n", "-w 0", "not-needed"),
        (f"{FIRE.replace('w=8', 'wk=8').replace('=w)', '=wk)')}fire.Fire(main)\n", "-w 0", "likely"),
        (f"{FIRE}fire.Fire(main)\nmain(w=0)\n", "", "unknown"),
        (f"{TYPER}typer.run(main)\n", "a", "needed"),
        (f"{TYPER}typer.run(main)\n", "a --w 0", "not-needed"),
        (TYPER.replace("int = 8", "int = typer.Option(8, '--n')") + "typer.run(main)\n", "a --n 0", "unknown"),
    ],
)
def test_functions_that_get_the_words_of_the_command(tmp_path: Path, code: str, words: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose(f"sh -c 'python train.py {words}'" if "$$@" in words else f"python train.py {words}"),
        "Dockerfile": DOCKERFILE, "train.py": LOADS + code,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


LOOP = f"def train(a=None, w=8):\n{LOAD}def serve(a=None):\n    print(1)\n"
SUBS = "p = argparse.ArgumentParser()\ns = p.add_subparsers(dest='cmd')\n"
RUN = "args = p.parse_args()\nargs.func(args)\n"
BOTH = (
    f"{LOOP}{SUBS}t = s.add_parser('train', aliases=['fit'])\nt.set_defaults(func=train)\n"
    f"t = s.add_parser('run-it')\nt.set_defaults(func=serve)\n{RUN}"
)
GROUP = (
    "@click.group()\ndef cli():\n    pass\n"
    f"@cli.command()\n@click.option('--w', type=int, default=8)\ndef train(w):\n{LOAD}"
    "@cli.command('run-it')\ndef serve():\n    print(1)\nif __name__ == '__main__':\n    cli()\n"
)
CLASS = f"class Tool:\n    def train(self, w=8):\n    {LOAD}    def run_it(self):\n        print(1)\nfire.Fire(Tool)\n"
CASES = (
    f"import sys\n{LOOP}"
    "match sys.argv[1]:\n    case 'train' | 'fit':\n        train()\n    case _:\n        serve()\n"
)


@table(
    "code, words, verdict",
    [
        *((code, words, verdict)
          for code in (BOTH, GROUP, CLASS, CASES)
          for words, verdict in (("train", "likely"), ("run-it", "not-needed"))),
        (BOTH, "fit", "likely"),
        (BOTH, "", "likely"),
        (CASES, "fit", "likely"),
        # The parser is not one of a subcommand, or which one it is of is not written there.
        (f"{LOOP}{SUBS}p.set_defaults(func=train)\n{RUN}", "run-it", "likely"),
        (f"{LOOP}{SUBS}t = make(s)\nt.set_defaults(func=train)\n{RUN}", "run-it", "likely"),
        (GROUP, '"$$@"', "likely"),
    ],
)
def test_only_the_subcommand_that_is_named_counts(tmp_path: Path, code: str, words: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose(f"sh -c 'python train.py {words}'" if "$$@" in words else f"python train.py {words}"),
        "Dockerfile": DOCKERFILE, "train.py": LOADS + code,
    }  # fmt: skip
    found = need(tmp_path, files)
    assert ("likely" if found.verdict == "needed" else found.verdict) == verdict


ENV = CLICK.replace("default=8", "default=8, envvar='N'") + "main()\n"
PREFIX = f"{CLICK}main(auto_envvar_prefix='A')\n"
OPTION = TYPER.replace("path: str, ", "").replace("int = 8", "int = typer.Option(8, envvar='N')") + "typer.run(main)\n"
ANNOTATED = OPTION.replace("int = typer.Option(8, envvar='N')", "Annotated[int, typer.Option(envvar='N')] = 8")


@table(
    "code, words, env, verdict",
    [
        *((code, words, env, verdict)
          for code in (ENV, OPTION, ANNOTATED, PREFIX)
          for words, env, verdict in (("", "0", "not-needed"), ("", "8", "needed"), ("--w 8", "0", "needed"),
                                      ("--w 0", "8", "not-needed"))),
        *((code, "", "", "needed") for code in (ENV, OPTION, ANNOTATED, PREFIX)),
        *((code.replace("8", "0", 1), "", "8", "needed") for code in (ENV, OPTION)),
    ],
)
def test_options_that_the_environment_gives(tmp_path: Path, code: str, words: str, env: str, verdict: str) -> None:
    given = f"    environment: {{N: '{env}', A_W: '{env}'}}\n" if env else ""
    files = {"compose.yaml": compose(f"python train.py {words}", given), "Dockerfile": DOCKERFILE,
             "train.py": LOADS + code}  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


MAIN = "if __name__ == '__main__':\n    "
WORK = f"def train(args):\n{LOAD.replace('=w)', '=args.w)')}def serve(args):\n    print(1)\n"
TELLS = (
    f"{WORK}{MAIN}p = argparse.ArgumentParser()\n    s = p.add_subparsers(dest='what', required=True)\n"
    "    t = s.add_parser('train')\n    t.add_argument('--w', type=int, default=8)\n    u = s.add_parser('serve')\n"
)
PARSE = "    args = p.parse_args()\n"
KEPT = f"{TELLS}    t.set_defaults(run=train)\n    u.set_defaults(run=serve)\n{PARSE}    args.run(args)\n"
ASKS = f"{TELLS}{PARSE}    if args.what == 'train':\n        train(args)\n    else:\n        serve(args)\n"
FOUND = f"{TELLS}{PARSE}    {{'train': train, 'serve': serve}}[args.what](args)\n"
TABLE = (
    f"{WORK.replace('args.w', '8')}COMMANDS = {{'train': train, 'serve': serve}}\n"
    "def main():\n    COMMANDS[sys.argv[1]](None)\nmain()\n"
)
TOLD = TABLE.replace(
    "    COMMANDS", "    if sys.argv[1] not in COMMANDS:\n        sys.exit(', '.join(COMMANDS))\n    COMMANDS"
)
FIRES = f"def train(w=8):\n{LOAD}def serve():\n    print(1)\n{MAIN}fire.Fire({{'train': train, 'serve': serve}})\n"
APP = (
    f"app = typer.Typer()\n@app.command()\ndef train(w: int = 8):\n{LOAD}@app.command()\ndef serve():\n    print(1)\n"
    f"{MAIN}app()\n"
)
OF_GROUP = GROUP.replace("run-it", "serve")


@table(
    "code, words, verdict",
    [
        *((code, words, verdict)
          for code in (KEPT, ASKS, FOUND, FIRES, APP, OF_GROUP)
          for words, verdict in (("train", "needed"), ("train --w 8", "needed"), ("train --w 0", "not-needed"),
                                 ("serve", "not-needed"))),
        (KEPT.replace("default=8", "default=0"), "train", "not-needed"),
        *((TABLE, words, verdict)
          for words, verdict in (("train", "needed"), ("serve", "not-needed"), ("", "likely"), ("$WHAT", "likely"))),
        *((TOLD, words, verdict) for words, verdict in (("train", "likely"), ("serve", "not-needed"))),
        (TABLE.replace("'serve': serve", "'serve': lambda args: print(1)"), "train", "likely"),
        (TABLE.replace("COMMANDS[", "one = COMMANDS['train']\n    COMMANDS["), "serve", "likely"),
        (TABLE.replace("sys.argv[1]", "tell()"), "serve", "likely"),
        # What is run is not known.
        *((code, "", "likely") for code in (KEPT, ASKS, FOUND, FIRES, APP, OF_GROUP)),
        (FOUND.replace("[args.what]", "[tell()]"), "train", "likely"),
        (OF_GROUP.replace("    cli()", "    if tell():\n        cli()"), "train", "likely"),
        (OF_GROUP.replace("    cli()", "    cli(['serve'])"), "train", "likely"),
        *((APP.replace("w: int = 8", f"w: {spelt}"), words, verdict)
          for spelt in ("Annotated[int, typer.Option('--w', '-v')] = 8", "int = typer.Option(8, '-v', '--w')")
          for words, verdict in (("train", "needed"), ("train --w 0", "not-needed"), ("train -v 8", "likely"))),
        (APP.replace("w: int = 8", "w: int = typer.Option(8, '--many')"), "train --many 0", "unknown"),
        (FIRES, "train 0", "likely"),
        (APP, '"$$@"', "likely"),
    ],
)  # fmt: skip
def test_the_subcommand_that_is_named_is_certain(tmp_path: Path, code: str, words: str, verdict: str) -> None:
    files = {
        "compose.yaml": compose(f"sh -c 'python train.py {words}'" if "$$@" in words else f"python train.py {words}"),
        "Dockerfile": DOCKERFILE, "train.py": LOADS + code,
    }  # fmt: skip
    assert need(tmp_path, files).verdict == verdict


ARGPARSE = (
    "import argparse\np = argparse.ArgumentParser(%s)\np.add_argument('-v', action='store_true')\n"
    "p.add_argument('-j', '--jobs', type=int, default=0)\na = p.parse_args()\n"
    "DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers=a.jobs)\n"
)
ABSL = (
    "from absl import app, flags\nflags.DEFINE_integer('jobs', 0, '')\nFLAGS = flags.FLAGS\ndef main(_):\n"
    "    DataLoader(data(RandomResizedCrop(224)), batch_size=64, num_workers=FLAGS.jobs)\napp.run(main)\n"
)
KEYWORDS = f"import jsonargparse, tyro\ndef main(jobs: int = 0):\n{LOAD.replace('=w)', '=jobs)')}"
SWEEP = (
    "import wandb\ndef main():\n    wandb.init(config=dict(jobs=2))\n"
    f"    jobs = wandb.config.jobs\n{LOAD.replace('=w)', '=jobs)')}"
)
NOTHING = CLICK.replace("default=8", "default=0")


@table(
    "code, words, verdict",
    [
        (ARGPARSE % "", "-vj8", "needed"),
        (ARGPARSE % "", "-vj 8", "needed"),
        (ARGPARSE % "", "-j8 -v", "needed"),
        (ARGPARSE % "", "-v", "not-needed"),
        (ARGPARSE % "fromfile_prefix_chars='@'", "@some.txt", "unknown"),
        (ARGPARSE % "", "--config /srv/some.yaml", "likely"),
        (ABSL, "", "not-needed"),
        (ABSL, "--flagfile=some.txt", "unknown"),
        (ABSL, "--flagfile=some.txt --jobs=8", "needed"),
        *((f"{KEYWORDS}\n{tool}(main)\n", words, verdict)
          for tool in ("tyro.cli", "jsonargparse.CLI", "jsonargparse.auto_cli")
          for words, verdict in (("", "not-needed"), ("--jobs 8", "needed"), ("--config some.yaml", "likely"))),
        (f"{KEYWORDS}\njsonargparse.CLI(main, default_env=True)\n", "", "unknown"),
        (f"{SWEEP}main()\n", "", "needed"),
        (f"{SWEEP}wandb.agent('a/b', main)\n", "", "likely"),
        (f"{NOTHING}main()\n", "", "not-needed"),
        (f"{NOTHING}main(default_map={{'w': 8}})\n", "", "unknown"),
    ],
)
def test_words_that_are_written_together_or_elsewhere(tmp_path: Path, code: str, words: str, verdict: str) -> None:
    files = {"compose.yaml": compose(f"python train.py {words}"), "Dockerfile": DOCKERFILE, "some.yaml": "jobs: 8\n",
             "train.py": LOADS + code}  # fmt: skip
    assert need(tmp_path, files).verdict == verdict
