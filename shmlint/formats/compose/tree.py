"""Values of compose files: what aliases, merge keys, tags and merging make of YAML nodes.

Trees are made when they are asked for, one a node and layer, and never changed: a merge gives a
new mapping that shares what it did not touch. So the cost follows the text, not what the
anchors in it would unfold to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from shmlint.docker.goyaml import WrongTag, is_timestamp, resolve
from shmlint.formats.compose.interpolate import Interpolated, InvalidInterpolation, interpolate
from shmlint.model.source import Source, Span
from shmlint.syntax.template import PLACEHOLDER, has_placeholder
from shmlint.syntax.yaml import Alias, MappingNode, Node, Scalar, SequenceNode

LeafKind = Literal["null", "bool", "int", "float", "str"]

Variables = Mapping[str, str | None]


class Layer:
    """One document of one file, with the variables its text is substituted from."""

    __slots__ = ("_replacing", "_trees", "directory", "outer", "source", "tagged", "variables")

    def __init__(
        self, source: Source, variables: Variables, directory: str, outer: Variables | None = None
    ) -> None:
        self.source = source
        self.variables = variables
        self.outer = variables if outer is None else outer
        """The variables of the whole project, where it is of a file that is included."""
        self.directory = directory
        self.tagged = "!reset" in source.text or "!override" in source.text
        """Whether there may be tags in it that say how it is merged."""
        self._trees: dict[int, Tree] = {}
        self._replacing: set[int] = set()
        """Nodes inside of a value with ``!override``."""

    def tag(self, node: Node) -> str | None:
        """The tag of a node that says how it is merged: Compose does not look for one inside of ``!override``."""
        return None if id(node) in self._replacing else node.tag

    def tree(self, node: Node) -> Tree:
        """The value a node stands for in this layer."""
        node = node.resolved
        known = self._trees.get(id(node))
        if known is None:
            tag = self.tag(node) if node.tag is not None else None
            if tag == "!reset":
                return Removed()
            if tag == "!override":
                self._replace(node)
            if isinstance(node, Scalar):
                known = Leaf(node, self)
            elif self._is_placeholder(node):
                text = self.source.text[node.start : node.end]
                known = Leaf(Scalar(node.start, node.end, None, None, text, ""), self)
            elif isinstance(node, MappingNode):
                known = _branch(node, self)
            else:
                assert isinstance(node, SequenceNode)
                known = Listing(node, self)
            self._trees[id(node)] = known
        return known

    def _replace(self, node: Node) -> None:
        pending = [node]
        while pending:
            node = pending.pop()
            if isinstance(node, MappingNode):
                inner = [value for _, value in node.pairs]
            else:
                inner = list(node.items) if isinstance(node, SequenceNode) else []
            inner = [one for one in inner if id(one) not in self._replacing]
            self._replacing.update(map(id, inner))
            pending += inner

    def _is_placeholder(self, node: Node) -> bool:
        """Whether a mapping in a mapping is ``{{ size }}`` without quotation marks, as a document shows it."""
        text = self.source.text
        return text.startswith("{{", node.start) and PLACEHOLDER.fullmatch(text, node.start, node.end) is not None

    def span(self, node: Node) -> Span:
        return Span(self.source, node.start, node.end)


class Removed:
    """``!reset`` where it is not a value of a mapping: the item of a list, a whole document."""

    __slots__ = ()


class Leaf:
    """A scalar, read as go-yaml reads it and then substituted as Compose does."""

    __slots__ = ("_interpolated", "kind", "layer", "node", "plain_value", "refused")

    def __init__(self, node: Scalar, layer: Layer) -> None:
        self.node = node
        self.layer = layer
        self._interpolated: Interpolated | None = None
        self.refused = ""
        """Why Compose cannot read it, where its tag does not fit."""
        value: object
        try:
            value = resolve(node.value, node.tag, plain=node.style == "")
        except WrongTag as error:
            value, self.refused = node.value, str(error)
        self.plain_value = value
        self.kind: LeafKind
        if isinstance(value, str):  # most are
            self.kind = "str"
        elif value is None:
            self.kind = "null"
        elif isinstance(value, bool):
            self.kind = "bool"
        elif isinstance(value, int):
            self.kind = "int"
        else:
            assert isinstance(value, float)
            self.kind = "float"

    @property
    def span(self) -> Span:
        return Span(self.layer.source, self.node.start, self.node.end)

    @property
    def written(self) -> str:
        """The scalar as the file has it, without quotes."""
        return self.node.value

    @property
    def is_timestamp(self) -> bool:
        """Whether go-yaml reads a time, which Compose takes for no value of its own."""
        return self.kind == "str" and not self.node.style and self.node.tag is None and is_timestamp(self.node.value)

    @property
    def interpolated(self) -> Interpolated:
        """The text after substitution. A text Compose refuses stays as it is, marked unset."""
        if self._interpolated is None:
            text = self.plain_value if isinstance(self.plain_value, str) else self.node.value
            if self.kind == "str" and has_placeholder(text):
                self._interpolated = Interpolated(text, unset=[self.node.value])  # another tool replaces it first
            elif self.kind != "str" or "$" not in text:
                self._interpolated = Interpolated(text)
            else:
                try:
                    self._interpolated = interpolate(text, self.layer.variables)
                except InvalidInterpolation:
                    self._interpolated = Interpolated(text, unset=[self.node.value])
        return self._interpolated

    @property
    def text(self) -> str:
        return self.interpolated.text

    @property
    def named(self) -> str:
        """The text with ``$NAME`` for each variable that is not set, as a shell's reader leaves them."""
        unset = self.interpolated.unset
        return self.naming(unset) if unset != [self.node.value] else self.text

    def naming(self, names: Collection[str]) -> str:
        """The text with ``$NAME`` for some variables, whatever their values and defaults."""
        if not names or not isinstance(self.plain_value, str) or self.interpolated.unset == [self.node.value]:
            return self.text
        return interpolate(self.plain_value, {**self.layer.variables, **{name: f"${name}" for name in names}}).text

    @property
    def go_text(self) -> str:
        """The text where Compose makes one of any value (Go's ``%v``): ``True`` is ``true``, ``1.0`` is ``1``."""
        value = self.plain_value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float):
            return _float_text(value)
        return str(value) if isinstance(value, int) else self.text

    def within(self, start: int, end: int) -> Span | None:
        """The place in the file of characters of the scalar's value, where it is written plainly."""
        if isinstance(self.plain_value, str) and self.plain_value != self.node.value:  # !!binary
            return None
        shift = 1 if self.node.style in ("'", '"') and self.node.style else 0
        begin = self.node.start + shift
        if self.layer.source.text[begin : begin + len(self.node.value)] != self.node.value:
            return None
        return Span(self.layer.source, begin + start, begin + end)


def _float_text(value: float) -> str:
    """A float as Go prints it: the shortest digits, an exponent below 1e-4 and from 1e6 on."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(value)]
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        return repr(value).removesuffix(".0")
    return next(text for digits in range(17) if float(text := f"{value:.{digits}e}") == value)


class Entry:
    """A key of a mapping and its value; the value's tree is made when it is asked for."""

    __slots__ = ("_tree", "key", "layer", "node")

    def __init__(self, key: Node, layer: Layer, node: Node, tree: Tree | None = None) -> None:
        self.key = key
        self.layer = layer
        self.node = node
        self._tree = tree

    @property
    def tree(self) -> Tree:
        if self._tree is None:
            self._tree = self.layer.tree(self.node)
        return self._tree


NO_NAMES: frozenset[str] = frozenset()


class Branch:
    """A mapping.

    ``overrides`` and ``resets`` are the keys tagged ``!override`` and ``!reset``: what the files (or
    the extended services) before gave under them is taken away, and of the latter nothing is put there.
    """

    __slots__ = ("entries", "layer", "node", "overrides", "resets")

    def __init__(
        self, node: Node, layer: Layer, entries: dict[str, Entry], resets: frozenset[str] = NO_NAMES,
        overrides: frozenset[str] = NO_NAMES,
    ) -> None:  # fmt: skip
        self.node = node
        self.layer = layer
        self.entries = entries
        self.resets = resets
        self.overrides = overrides

    @property
    def span(self) -> Span:
        return Span(self.layer.source, self.node.start, self.node.end)

    def get(self, *path: str) -> Tree | None:
        """The value under a path of keys; None where there is none."""
        here: Tree = self
        for key in path:
            if not isinstance(here, Branch) or (entry := here.entries.get(key)) is None:
                return None
            here = entry._tree or entry.tree
        return here

    def leaf(self, *path: str) -> Leaf | None:
        """The scalar under a path of keys; None where there is none, or null."""
        found = self.get(*path)
        return found if isinstance(found, Leaf) and found.kind != "null" else None


class Listing:
    """A sequence, or several put after each other by merging."""

    __slots__ = ("_items", "_parts", "layer", "node")

    def __init__(self, node: Node, layer: Layer, parts: tuple[Tree, ...] = ()) -> None:
        self.node = node
        self.layer = layer
        self._parts = parts
        self._items: list[Tree] | None = None

    @property
    def span(self) -> Span:
        return Span(self.layer.source, self.node.start, self.node.end)

    @property
    def parts(self) -> tuple[Tree, ...]:
        """The values it was put together from; none where it is one sequence of the text."""
        return self._parts

    @property
    def items(self) -> list[Tree]:
        if self._items is None:
            self._items = []
            stack: list[Tree] = [self]
            while stack:  # a list that many files added to is many lists deep
                tree = stack.pop()
                if isinstance(tree, Listing) and tree._parts:
                    stack += reversed(tree._parts)
                elif isinstance(tree, Listing):
                    assert isinstance(tree.node, SequenceNode)
                    self._items += [tree.layer.tree(item) for item in tree.node.items]
                else:
                    self._items += items_of(tree)
        return self._items


Tree = Leaf | Branch | Listing | Removed


def items_of(tree: Tree | None) -> Iterator[Tree]:
    """The parts of a value that is a list, or stands for a list of one."""
    if isinstance(tree, Listing):
        for item in tree.items:
            if not isinstance(item, Removed):
                yield item
    elif isinstance(tree, Branch) or (isinstance(tree, Leaf) and tree.kind != "null"):
        yield tree


def _branch(node: MappingNode, layer: Layer) -> Branch:
    entries: dict[str, Entry] = {}
    resets: set[str] = set()
    overrides: set[str] = set()
    merged: list[Branch] = []
    for key, value in node.pairs:
        name = key.resolved
        if not isinstance(name, Scalar):
            continue
        target = value.resolved
        if name.value == "<<" and name.style == "":
            given = target.items if isinstance(target, SequenceNode) else [target]
            mappings = [layer.tree(m) for m in given if isinstance(m.resolved, MappingNode)]
            merged += [m for m in mappings if isinstance(m, Branch)]
            if merged and not isinstance(target, SequenceNode):
                # In a list of mappings Compose loses sight of the tags; and a key with !reset is gone
                # before an alias can bring it here.
                overrides |= merged[-1].overrides
                resets |= merged[-1].resets if not isinstance(value, Alias) else NO_NAMES
        elif target.tag is None:
            entries[name.value] = Entry(key, layer, value)
        elif layer.tag(target) == "!reset":
            resets.add(name.value)
        else:
            if layer.tag(target) == "!override":
                overrides.add(name.value)
            entries[name.value] = Entry(key, layer, value)
    for inherited in merged:
        for name_, entry in inherited.entries.items():
            entries.setdefault(name_, entry)
    return Branch(node, layer, entries, frozenset(resets), frozenset(overrides))


_REPLACED = frozenset({"command", "entrypoint"})
_JOINED = frozenset({"environment", "tmpfs", "env_file", "gpus"})
_MERGED = frozenset(
    {
        "build", "deploy", "devices", "volumes", "ulimits", "cap_add", "logging", "healthcheck", "extends",
    }
)  # fmt: skip
"""Keys of a service whose parts are read here; every other key is taken from the later file."""


def merge_service(base: Branch, over: Branch, *, same_file: bool = False) -> Branch:
    """One service of two files (or of a service and what it extends) as Compose merges them.

    compose-go override/merge.go; a null keeps the base, sequences append, ``command`` and
    ``entrypoint`` are replaced, ``!override`` replaces, ``!reset`` removes. A base of the same file
    still has its short forms: ``gpus: all`` is a text there, which a list replaces. What the base has from another
    file has none.
    """
    entries = _left(base, over)
    for name, entry in over.entries.items():
        old = entries.get(name)
        if old is None:
            entries[name] = entry
            continue
        new = entry.tree
        if isinstance(new, Leaf) and new.kind == "null" and name not in _REPLACED:
            continue
        under = old.tree
        short = same_file and name == "gpus" and isinstance(under, Leaf)
        if name in _JOINED and not (short and old.layer.source.path == entry.layer.source.path):
            if isinstance(under, Branch) and isinstance(new, Branch):
                under = Branch(under.node, under.layer, _left(under, new))
            joined = Listing(entry.node, entry.layer, (under, new))
            entries[name] = Entry(entry.key, entry.layer, entry.node, joined)
        elif name in _MERGED:
            entries[name] = merge_entry(old, entry, (name,))
        else:
            entries[name] = entry
    return Branch(over.node, over.layer, entries, over.resets, over.overrides)


def conflict(one: Branch, other: Branch) -> bool:
    """Whether two services differ for certain: in the keys they have, or in a value that is known of both."""
    given = [{name: entry.tree for name, entry in tree.entries.items() if name != "extends"} for tree in (one, other)]
    left, right = ({name for name, tree in trees.items() if not _is_empty(tree)} for trees in given)
    if left != right:
        return True
    pairs = ((given[0][name], given[1][name]) for name in left)
    return any(
        isinstance(a, Leaf) and isinstance(b, Leaf) and a.text != b.text
        and not a.interpolated.unset and not b.interpolated.unset
        for a, b in pairs
    )  # fmt: skip


def same(one: Tree, other: Tree) -> bool:
    """Whether two values are written with the same texts, in the same form."""
    if isinstance(one, Branch) and isinstance(other, Branch):
        keys = one.entries.keys()
        return keys == other.entries.keys() and all(same(one.entries[k].tree, other.entries[k].tree) for k in keys)
    if isinstance(one, Listing) and isinstance(other, Listing):
        return len(one.items) == len(other.items) and all(map(same, one.items, other.items))
    return isinstance(one, Leaf) and isinstance(other, Leaf) and one.text == other.text


def differ(one: Tree, other: Tree) -> bool:
    """Whether two values differ for certain, whatever the variables in them are."""
    if isinstance(one, Branch) and isinstance(other, Branch):
        keys = one.entries.keys()
        return keys != other.entries.keys() or any(differ(one.entries[k].tree, other.entries[k].tree) for k in keys)
    if isinstance(one, Listing) and isinstance(other, Listing):
        return len(one.items) != len(other.items) or any(map(differ, one.items, other.items))
    leaves = [tree for tree in (one, other) if isinstance(tree, Leaf)]
    if any(leaf.interpolated.unset for leaf in leaves):
        return False
    return len({None if leaf.kind == "null" else leaf.text for leaf in leaves}) > 1 or len(leaves) < 2


_TEXTS = ("build", "dns", "dns_search", "env_file", "gpus", "label_file")
_LISTS = ("depends_on", "networks")
_OF_TEXTS = ("configs", "devices", "env_file", "ports", "secrets", "volumes")
_DEFAULTS = (("depends_on", "required"), ("env_file", "required"), ("ports", "mode"), ("ports", "protocol"))


def has_short_form(service: Branch) -> bool:
    """Whether a service is written in a form that Compose makes longer (compose-go transform/canonical.go)."""
    given = {name: entry.tree for name, entry in service.entries.items()}
    return (
        any(isinstance(given.get(key), Leaf) and not _is_empty(given[key]) for key in _TEXTS)
        or any(isinstance(given.get(key), Listing) and not _is_empty(given[key]) for key in _LISTS)
        or any(isinstance(item, Leaf) for key in _OF_TEXTS for item in items_of(given.get(key)))
        or any(
            isinstance(item, Branch) and default not in item.entries
            for key, default in _DEFAULTS
            for item in _parts_of(given.get(key))
        )
    )


def _parts_of(tree: Tree | None) -> Iterator[Tree]:
    """The items of a list, or the values of a mapping."""
    return (entry.tree for entry in tree.entries.values()) if isinstance(tree, Branch) else items_of(tree)


def _is_empty(tree: Tree) -> bool:
    if isinstance(tree, Leaf):
        return tree.kind == "null" or not tree.text
    return isinstance(tree, Removed) or not (tree.entries if isinstance(tree, Branch) else tree.items)


def with_context(service: Branch, directory: Layer) -> Branch:
    """A service whose `build` says the context that it has without one: the directory of a layer."""
    entry = service.entries.get("build")
    build = entry.tree if entry is not None else None
    if entry is None or not isinstance(build, Branch) or "context" in build.entries:
        return service
    here = Scalar(build.node.start, build.node.start, None, None, ".", "")
    context = Entry(entry.key, directory, here)
    longer = Branch(build.node, build.layer, {**build.entries, "context": context}, build.resets, build.overrides)
    entries = {**service.entries, "build": Entry(entry.key, entry.layer, entry.node, longer)}
    return Branch(service.node, service.layer, entries, service.resets, service.overrides)


def untagged(tree: Branch) -> Branch:
    """The same mapping without tags. They hold for the path they are written at, and it is put under another."""
    return _untagged(tree, {})


def _untagged(tree: Branch, done: dict[int, Branch]) -> Branch:
    known = done.get(id(tree))
    if known is None:
        entries = {
            name: Entry(entry.key, entry.layer, entry.node, _untagged(entry.tree, done))
            if isinstance(entry.tree, Branch)
            else entry
            for name, entry in tree.entries.items()
        }
        known = done[id(tree)] = Branch(tree.node, tree.layer, entries)
    return known


def _left(base: Branch, over: Branch) -> dict[str, Entry]:
    """What tags leave of a mapping that another is merged onto."""
    gone = over.resets | over.overrides
    return {name: entry for name, entry in base.entries.items() if name not in gone}


def merge_entry(old: Entry, new: Entry, path: tuple[str, ...]) -> Entry:
    """The value at a path of a service (or of what is defined beside them), with another put over it."""
    base, over = old.tree, new.tree
    if isinstance(over, Leaf) and over.kind == "null":
        return old
    if path == ("build",):
        base, over = _long_build(base), _long_build(over)
    if path[0] == "ulimits" and len(path) == 2:
        return new
    if path == ("build", "args"):
        return Entry(new.key, new.layer, new.node, Listing(new.node, new.layer, (base, over)))
    if isinstance(base, Branch) and isinstance(over, Branch):
        entries = _left(base, over)
        for name, entry in over.entries.items():
            before = entries.get(name)
            entries[name] = entry if before is None else merge_entry(before, entry, (*path, name))
        merged = Branch(over.node, over.layer, entries, over.resets, over.overrides)
        return Entry(new.key, new.layer, new.node, merged)
    if isinstance(base, Listing) and isinstance(over, Listing):
        return Entry(new.key, new.layer, new.node, Listing(over.node, over.layer, (base, over)))
    return Entry(new.key, new.layer, new.node, over)


def _long_build(tree: Tree) -> Tree:
    """``build: ./dir`` in its long form, ``build: {context: ./dir}``."""
    if isinstance(tree, Leaf):
        return Branch(tree.node, tree.layer, {"context": Entry(tree.node, tree.layer, tree.node, tree)})
    return tree

