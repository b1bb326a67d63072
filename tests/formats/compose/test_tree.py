"""What merge keys, tags and merging make of nodes, value by value.

That Compose says the same of whole projects is asked in test_load.py and test_differential.py.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from shmlint.formats.compose.tree import Branch, Entry, Layer, Leaf, Listing, Removed, Tree, items_of, merge_service
from shmlint.model.source import Source
from shmlint.syntax.yaml_read import parse
from tests.table import table


def read(text: str, path: str = "compose.yaml") -> Branch:
    """The root of a document."""
    source = Source(path, textwrap.dedent(text))
    (document,) = parse(source)
    tree = Layer(source, {"SET": "here"}, "").tree(document.root)
    assert isinstance(tree, Branch)
    return tree


def plain(tree: Tree) -> Any:
    """A tree as Python values: the text of a scalar, None for null, ``"removed"``."""
    if isinstance(tree, Branch):
        return {name: plain(entry.tree) for name, entry in tree.entries.items()}
    if isinstance(tree, Listing):
        return [plain(item) for item in tree.items]
    if isinstance(tree, Leaf):
        return None if tree.kind == "null" else tree.text
    return "removed"


@table(
    ("text", "value"),
    [
        ("a: {b: 1}\nc: {<<: {d: 2}}\n", {"a": {"b": "1"}, "c": {"d": "2"}}),
        # what is written next to a merge key counts, before it and after it
        ("a: {<<: {b: 1, c: 2}, b: 3}\n", {"a": {"b": "3", "c": "2"}}),
        ("a: {b: 3, <<: {b: 1, c: 2}}\n", {"a": {"b": "3", "c": "2"}}),
        # of several mappings the first counts
        ("a: {<<: [{b: 1}, {b: 2, c: 2}]}\n", {"a": {"b": "1", "c": "2"}}),
        ("a: {<<: []}\n", {"a": {}}),
        # what is no mapping brings nothing
        ("a: {<<: [x, {b: 1}]}\n", {"a": {"b": "1"}}),
        ("a: {<<: x, b: 1}\n", {"a": {"b": "1"}}),
        # a quoted one is a key like others, and so is one that only begins alike
        ("a: {'<<': {b: 1}}\n", {"a": {"<<": {"b": "1"}}}),
        ('a: {"<<": {b: 1}}\n', {"a": {"<<": {"b": "1"}}}),
        ("a: {<<<: {b: 1}, <: {b: 1}, =: {b: 1}}\n", {"a": {"<<<": {"b": "1"}, "<": {"b": "1"}, "=": {"b": "1"}}}),
        ("x: &x {b: 1}\na: {<<: *x}\n", {"x": {"b": "1"}, "a": {"b": "1"}}),
        ("x: &x [{b: 1}, {c: 2}]\na: {<<: *x}\n", {"x": [{"b": "1"}, {"c": "2"}], "a": {"b": "1", "c": "2"}}),
        # of a key that occurs twice the last counts
        ("a: 1\na: 2\n", {"a": "2"}),
        # a key that is no scalar is passed over, one behind an alias is not
        ("? [x]\n: 1\na: 2\n", {"a": "2"}),
        ("x: &k name\n*k : 1\n", {"x": "name", "name": "1"}),
        ("a: !reset 1\nb: [!reset 2, 3]\nc: !override 4\n", {"b": ["removed", "3"], "c": "4"}),
        ("a: ${SET}\nb: '$SET'\nc: $$SET\n", {"a": "here", "b": "here", "c": "$SET"}),
    ],
)
def test_mappings(text: str, value: Any) -> None:
    assert plain(read(text)) == value


@pytest.mark.parametrize(
    ("text", "resets", "overrides"),
    [
        ("a: {b: !reset 1, c: !override 2, d: 3}\n", {"b"}, {"c"}),
        ("a: {}\n", set(), set()),
        # tags come along with the mapping that a merge key brings, the last one's
        ("a: {<<: {b: !reset 1, c: !override 2}}\n", {"b"}, {"c"}),
        ("a: {e: !override 1, f: !reset 2, <<: {b: !reset 1, c: !override 2}}\n", {"b", "f"}, {"c", "e"}),
        # an alias brings no !reset, and a list neither of them
        ("x: &x {b: !reset 1, c: !override 2}\na: {<<: *x}\n", set(), {"c"}),
        ("a: {<<: [{b: !reset 1, c: !override 2}]}\n", set(), set()),
        ("a: {<<: x}\n", set(), set()),
    ],
)
def test_tags_are_remembered(text: str, resets: set[str], overrides: set[str]) -> None:
    branch = read(text).get("a")
    assert isinstance(branch, Branch)
    assert (set(branch.resets), set(branch.overrides)) == (resets, overrides)


MERGED: list[tuple[str, str, dict[str, Any]]] = [
    # one value each: the later counts, a null keeps what is there
    ("shm_size: 1g", "shm_size: 2g", {"shm_size": "2g"}),
    ("shm_size: 1g", "shm_size:", {"shm_size": "1g"}),
    ("shm_size: 1g", "shm_size: ''", {"shm_size": ""}),
    ("shm_size:", "shm_size: 2g", {"shm_size": "2g"}),
    ("shm_size: 1g", "ipc: host", {"shm_size": "1g", "ipc": "host"}),
    ("shm_size: 1g", "shm_size: !reset x", {}),
    ("shm_size: 1g", "shm_size: !override 2g", {"shm_size": "2g"}),
    ("shm_size: 1g\nipc: host", "ipc: private\nshm_size:", {"shm_size": "1g", "ipc": "private"}),
    ("ipc: host", "shm_size: 1g\nipc: private", {"ipc": "private", "shm_size": "1g"}),
    ("shm_size: 1g\nipc: host", "shm_size:\nipc: private", {"shm_size": "1g", "ipc": "private"}),
    ("shm_size: 1", "shm_size: 2", {"shm_size": "2"}),
    ("privileged: true", "privileged: false", {"privileged": "false"}),
    ("cpus: 1.5", "cpus: 2.5", {"cpus": "2.5"}),
    # a mapping where none is known to be merged
    ("labels: {a: 1}", "labels: {b: 2}", {"labels": {"b": "2"}}),
    # command and entrypoint are replaced, also by null
    ("command: a", "command: [b]", {"command": ["b"]}),
    ("command: [a]", "command: [b]", {"command": ["b"]}),
    ("command: a", "command:", {"command": None}),
    ("entrypoint: a", "entrypoint:", {"entrypoint": None}),
    ("command: a", "entrypoint:", {"command": "a", "entrypoint": None}),
    # sequences are put behind each other
    ("cap_add: [A]", "cap_add: [B]", {"cap_add": ["A", "B"]}),
    ("cap_add: [A]", "cap_add: [A]", {"cap_add": ["A", "A"]}),
    ("cap_add: [A]", "cap_add: []", {"cap_add": ["A"]}),
    ("cap_add: [A]", "cap_add: !override [B]", {"cap_add": ["B"]}),
    ("cap_add: [A]", "cap_add: !reset []", {}),
    ("cap_add: [A]", "cap_add:", {"cap_add": ["A"]}),
    ("cap_add:", "cap_add: [B]", {"cap_add": ["B"]}),
    ("volumes: [a]", "volumes: [{target: b}]", {"volumes": ["a", {"target": "b"}]}),
    ("devices: [a, b]", "devices: [c]", {"devices": ["a", "b", "c"]}),
    # what may be a text, a list or a mapping is kept side by side
    ("tmpfs: /a", "tmpfs: /b", {"tmpfs": ["/a", "/b"]}),
    ("tmpfs: [/a]", "tmpfs: /b", {"tmpfs": ["/a", "/b"]}),
    ("tmpfs: /a", "tmpfs:", {"tmpfs": "/a"}),
    ("tmpfs:", "tmpfs: /b", {"tmpfs": ["/b"]}),
    ("tmpfs: /a", "tmpfs: !override /b", {"tmpfs": "/b"}),
    ("env_file: a", "env_file: [b]", {"env_file": ["a", "b"]}),
    ("environment: [A=1]", "environment: {B: 2}", {"environment": ["A=1", {"B": "2"}]}),
    ("environment: {A: 1}", "environment: {A: 2}", {"environment": [{"A": "1"}, {"A": "2"}]}),
    ("environment: {A: 1, B: 2}", "environment: {A: !reset x}", {"environment": [{"B": "2"}, {}]}),
    ("environment: {A: 1, B: 2}", "environment: {A: !override 3}", {"environment": [{"B": "2"}, {"A": "3"}]}),
    ("environment: [A=1]", "environment: {A: !reset x}", {"environment": ["A=1", {}]}),
    ("environment: {A: 1}", "environment: [B]", {"environment": [{"A": "1"}, "B"]}),
    ("gpus: all", "gpus: [{count: 1}]", {"gpus": ["all", {"count": "1"}]}),
    ("gpus: [{count: 1}]", "gpus: all", {"gpus": [{"count": "1"}, "all"]}),
    # mappings are merged key by key, as deep as they go
    ("deploy: {a: {b: 1, c: 2}}", "deploy: {a: {c: 3, d: 4}}", {"deploy": {"a": {"b": "1", "c": "3", "d": "4"}}}),
    ("deploy: {a: {b: [1]}}", "deploy: {a: {b: [2]}}", {"deploy": {"a": {"b": ["1", "2"]}}}),
    ("deploy: {a: {b: [1]}}", "deploy: {a: {b: x}}", {"deploy": {"a": {"b": "x"}}}),
    ("deploy: {a: {b: x}}", "deploy: {a: {b: [1]}}", {"deploy": {"a": {"b": ["1"]}}}),
    ("deploy: {a: {b: 1}}", "deploy: {a: [2]}", {"deploy": {"a": ["2"]}}),
    ("deploy: {a: [1]}", "deploy: {a: {b: 2}}", {"deploy": {"a": {"b": "2"}}}),
    ("deploy: {a: {b: 1}}", "deploy: {a: }", {"deploy": {"a": {"b": "1"}}}),
    ("deploy: {a: {b: 1}}", "deploy: {a: {b: }}", {"deploy": {"a": {"b": "1"}}}),
    ("deploy: {a: {b: 1}}", "deploy: {a: ''}", {"deploy": {"a": ""}}),
    ("deploy: {a: {b: 1, c: 2}}", "deploy: {a: {b: !reset x}}", {"deploy": {"a": {"c": "2"}}}),
    ("deploy: {a: {b: [1]}}", "deploy: {a: {b: !override [2]}}", {"deploy": {"a": {"b": ["2"]}}}),
    ("deploy: {a: {b: 1}}", "deploy: {a: !override {c: 2}}", {"deploy": {"a": {"c": "2"}}}),
    ("deploy: {a: {b: 1}, c: 2}", "deploy: {a: !reset {}}", {"deploy": {"c": "2"}}),
    ("deploy: {a: {b: 1}}", "deploy: {a: !reset x, <<: {a: !override {c: 2}}}", {"deploy": {"a": {"c": "2"}}}),
    ("deploy: {a: 1}", "deploy: !reset {}", {}),
    ("deploy: {a: 1}", "deploy: !override {b: 2}", {"deploy": {"b": "2"}}),
    ("deploy: {a: 1}", "deploy: {}", {"deploy": {"a": "1"}}),
    ("deploy: 1", "deploy: {a: 1}", {"deploy": {"a": "1"}}),
    # a ulimit is one value, however it is written
    ("ulimits: {m: {soft: 1, hard: 2}}", "ulimits: {m: {soft: 3}}", {"ulimits": {"m": {"soft": "3"}}}),
    ("ulimits: {m: 1}", "ulimits: {n: 2}", {"ulimits": {"m": "1", "n": "2"}}),
    ("ulimits: {m: {soft: 1}}", "ulimits: {m: -1}", {"ulimits": {"m": "-1"}}),
    ("ulimits: {m: 1}", "ulimits: {m: }", {"ulimits": {"m": "1"}}),
    ("ulimits: {m: 1}", "ulimits: !override {n: 2}", {"ulimits": {"n": "2"}}),
    # only there: below deploy two levels down is no ulimit
    ("deploy: {u: {soft: 1}}", "deploy: {u: {hard: 2}}", {"deploy": {"u": {"soft": "1", "hard": "2"}}}),
    # the short form of build is its context
    ("build: .", "build: {shm_size: 1g}", {"build": {"context": ".", "shm_size": "1g"}}),
    ("build: {shm_size: 1g}", "build: .", {"build": {"shm_size": "1g", "context": "."}}),
    ("build: a", "build: b", {"build": {"context": "b"}}),
    ("build: {shm_size: 1g}", "build:", {"build": {"shm_size": "1g"}}),
    ("build: {context: a}", "build: {context: b}", {"build": {"context": "b"}}),
    # the arguments of a build may be a list or a mapping, as the environment may
    ("build: {args: [A=1]}", "build: {args: {B: 2}}", {"build": {"args": ["A=1", {"B": "2"}]}}),
    ("build: {args: {A: 1}}", "build: {args: {A: 2}}", {"build": {"args": [{"A": "1"}, {"A": "2"}]}}),
    ("build: {args: {A: 1}}", "build: {args: }", {"build": {"args": {"A": "1"}}}),
    # elsewhere `args` and `build` are keys like others
    ("deploy: {args: {A: 1}}", "deploy: {args: {B: 2}}", {"deploy": {"args": {"A": "1", "B": "2"}}}),
    ("deploy: {build: a}", "deploy: {build: {b: 1}}", {"deploy": {"build": {"b": "1"}}}),
    ("build: {x: {args: {A: 1}}}", "build: {x: {args: {B: 2}}}", {"build": {"x": {"args": {"A": "1", "B": "2"}}}}),
    ("build: {labels: {A: 1}}", "build: {labels: {B: 2}}", {"build": {"labels": {"A": "1", "B": "2"}}}),
    # other mappings of which nothing is read but what Compose refuses
    ("healthcheck: {interval: 1s}", "healthcheck: {timeout: 2s}", {"healthcheck": {"interval": "1s", "timeout": "2s"}}),
    ("logging: {driver: a}", "logging: {options: {b: c}}", {"logging": {"driver": "a", "options": {"b": "c"}}}),
    ("extends: {file: a, service: b}", "extends: {service: c}", {"extends": {"file": "a", "service": "c"}}),
    # what one of them does not have
    ("", "shm_size: 1g", {"shm_size": "1g"}),
    ("shm_size: 1g", "", {"shm_size": "1g"}),
]


@table(("under", "over", "merged"), MERGED)
def test_merging(under: str, over: str, merged: dict[str, Any]) -> None:
    base, later = read(under or "{}"), read(over or "{}", "override.yml")
    before = plain(base), plain(later)
    assert plain(merge_service(base, later)) == merged
    assert (plain(base), plain(later)) == before, "a merge gives a new mapping"


@pytest.mark.parametrize(
    ("under", "over", "merged"),
    [
        # a base of the same file still has its short form, which a list replaces
        ("gpus: all", "gpus: [{count: 1}]", {"gpus": [{"count": "1"}]}),
        ("gpus: [{count: 1}]", "gpus: [{count: 2}]", {"gpus": [{"count": "1"}, {"count": "2"}]}),
        ("gpus: [{count: 1}]", "gpus: all", {"gpus": [{"count": "1"}, "all"]}),
        ("gpus: all", "gpus:", {"gpus": "all"}),
        ("tmpfs: /a", "tmpfs: /b", {"tmpfs": ["/a", "/b"]}),
        ("env_file: a", "env_file: b", {"env_file": ["a", "b"]}),
    ],
)
def test_merging_within_a_file(under: str, over: str, merged: dict[str, Any]) -> None:
    assert plain(merge_service(read(under), read(over), same_file=True)) == merged


def test_of_three_the_last_is_behind_the_others() -> None:
    first, second, third = (read(f"tmpfs: /{n}\ncap_add: [{n}]\nenvironment: {{A: {n}}}\n", n) for n in "abc")
    merged = merge_service(merge_service(first, second), third)
    assert plain(merged) == {
        "tmpfs": ["/a", "/b", "/c"], "cap_add": ["a", "b", "c"], "environment": [{"A": n} for n in "abc"],
    }  # fmt: skip


@table(
    ("under", "over", "path", "file"),
    [
        ("ipc: host", "shm_size: 1g", ("ipc",), "compose.yaml"),
        ("shm_size: 1g", "shm_size: 2g", ("shm_size",), "override.yml"),
        ("shm_size: 1g", "shm_size: ", ("shm_size",), "compose.yaml"),
        ("deploy: {a: 1}", "deploy: {b: 2}", ("deploy",), "override.yml"),
        ("deploy: {a: 1}", "deploy: {b: 2}", ("deploy", "a"), "compose.yaml"),
        ("deploy: {a: 1}", "deploy: {a: }", ("deploy", "a"), "compose.yaml"),
        ("deploy: {a: [1]}", "deploy: {a: [2]}", ("deploy", "a"), "override.yml"),
        ("build: .", "build: {shm_size: 1g}", ("build", "context"), "compose.yaml"),
        ("build: {args: [A]}", "build: {args: [B]}", ("build", "args"), "override.yml"),
        ("tmpfs: /a", "tmpfs: /b", ("tmpfs",), "override.yml"),
    ],
)
def test_a_value_knows_the_file_that_gave_it(under: str, over: str, path: tuple[str, ...], file: str) -> None:
    here: Tree = merge_service(read(under), read(over, "override.yml"))
    for name in path:
        assert isinstance(here, Branch)
        entry = here.entries[name]
        here = entry.tree
    assert not isinstance(here, Removed)
    assert (entry.layer.source.path, here.span.path) == (file, file)


def test_tags_stay_for_what_comes_later() -> None:
    """A service that extends is merged first; its tags then still take from the files before."""
    merged = merge_service(read("shm_size: 1g\n"), read("shm_size: !reset x\nipc: !override host\ndeploy: {}\n"))
    assert (set(merged.resets), set(merged.overrides)) == ({"shm_size"}, {"ipc"})
    inner = merge_service(read("deploy: {a: 1}"), read("deploy: {a: !reset x, b: !override 2}")).get("deploy")
    assert isinstance(inner, Branch)
    assert (set(inner.resets), set(inner.overrides)) == ({"a"}, {"b"})


def test_a_removed_item_is_no_part_of_a_list() -> None:
    branch = read("a: [x, !reset y, z]\nb: x\nc:\nd: {e: 1}\n")
    assert [[plain(item) for item in items_of(branch.get(name))] for name in "abcdx"] == [
        ["x", "z"], ["x"], [], [{"e": "1"}], [],
    ]  # fmt: skip
    assert isinstance(Layer(Source("", ""), {}, "").tree(parse(Source("", "!reset x"))[0].root), Removed)


def test_a_long_chain_of_lists_is_read_without_recursion() -> None:
    service = read("cap_add: [x]\n")
    for number in range(3000):
        service = merge_service(service, read(f"cap_add: [{number}]\n"))
    listing = service.get("cap_add")
    assert isinstance(listing, Listing)
    assert plain(listing) == ["x", *map(str, range(3000))]
    assert len(listing.parts) == 2


def test_a_tree_is_made_once() -> None:
    layer = read("a: {b: 1}\n").layer
    entry: Entry = read("a: {b: 1}\n").entries["a"]
    assert entry.tree is entry.tree
    assert layer.tree(entry.node) is layer.tree(entry.node)
