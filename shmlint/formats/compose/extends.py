"""The services of a document, with what they extend."""

from __future__ import annotations

import os
from collections.abc import Sequence

from shmlint.files.boundary import OUTSIDE
from shmlint.files.cache import Key
from shmlint.files.read import Unreadable
from shmlint.files.workspace import Workspace
from shmlint.formats.compose.project import Body, Project, Service, without_tags
from shmlint.formats.compose.tree import Branch, Layer, Leaf, Tree, merge_service
from shmlint.model.source import Problem
from shmlint.syntax.yaml import Scalar
from shmlint.syntax.yaml_read import read_documents

Roots = Sequence[tuple[Layer, Branch]]

_MAX_CHAIN = 100
"""Services that extend one another, counted; more is nothing that anyone wrote by hand."""


class Local:
    """The services of one document, or of all documents of an extended file, with ``extends`` followed.

    ``directory`` is what the files it extends are named from: the project's for a file of the
    project, wherever that lies; the file's own for one that is extended.
    """

    def __init__(
        self,
        path: str,
        roots: Roots,
        directory: str,
        project: Project,
        workspace: Workspace,
    ) -> None:
        self.path = path
        self.layer = roots[0][0]
        self.directory = directory
        self.project = project
        self.workspace = workspace
        self.services = [s for _, root in roots if isinstance(s := root.get("services"), Branch)]
        self.transformed = False
        """Whether a service of another file extends one of these: Compose then gives all of them their long forms."""
        self._variables = ""
        """Stands for the variables of its layer, once they were asked for."""
        self._done: dict[str, Service | None] = {}
        self._others: dict[str, Local | str] = {}

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for services in self.services for name in services.entries))

    def _written(self, name: str) -> Service | None:
        """A service as its documents write it; None where there is no such mapping."""
        service = None
        for services in self.services:
            entry = services.entries.get(name)
            if entry is None or not isinstance(entry.key.resolved, Scalar):
                continue
            tree = entry.tree
            if isinstance(tree, Leaf) and tree.kind == "null":
                tree = Branch(entry.node, entry.layer, {})
            if not isinstance(tree, Branch):
                return None
            body = Body(entry.key.resolved, entry.node, entry.layer, own=True)
            if service is not None and name not in services.overrides:
                service = Service(name, merge_service(service.tree, tree), [*service.bodies, body])
            else:
                service = Service(name, tree, [body])
        return service

    def service(self, name: str, trail: tuple[tuple[str, str], ...]) -> Service | None:
        """A service with everything it extends; None where there is no such mapping."""
        if name in self._done:
            return self._done[name]
        service = self._written(name)
        if service is None:
            return None
        tree = service.tree
        extends = tree.get("extends")
        if extends is not None:
            service = self._extended(service, extends, (*trail, (self.path, name)))
        self._done[name] = service
        return service

    def _extended(self, service: Service, extends: Tree, trail: tuple[tuple[str, str], ...]) -> Service:
        named, file = self._names(service, extends)
        if named is None:
            return service
        where: Local = self
        if file is not None:
            if file.interpolated.unset:
                service.unknown = "it extends a file that a variable names"
                return service
            found = self._others.get(file.text)
            if found is None:
                found = self._others[file.text] = self._other(file)
            if isinstance(found, str):
                service.unknown = found
                return service
            where = found
            self.project.extended.setdefault(where.path, set()).add(named.text)
        if (where.path, named.text) in trail:
            names = [name for _, name in (*trail, (where.path, named.text))]
            chain = " → ".join(names if len(names) < 8 else [*names[:4], "…", *names[-3:]])
            self.project.problems.append(Problem(named.span, f"`extends` is circular: {chain}", facts=tuple(names)))
            return service
        base = where.service(named.text, trail) if len(trail) < _MAX_CHAIN else None
        # A base that was read before brings its own chain along.
        if len(trail) >= _MAX_CHAIN or (base is not None and len(base.bodies) >= _MAX_CHAIN):
            message = f"`extends` goes through more than {_MAX_CHAIN} services"
            if not any(problem.kind == "limit" for problem in self.project.problems):
                self.project.problems.append(Problem(named.span, message, "limit"))
            service.unknown = message
            return service
        if base is None:
            if named.text not in where.names():
                message = f"`extends` names `{named.text}`, which is not a service of {where.path}"
                self.project.problems.append(Problem(named.span, message, facts=(where.path, named.text)))
            return service
        return Service(
            service.name,
            merge_service(without_tags(base), service.tree, same_file=where is self and not self.transformed),
            [*service.bodies, *(b._replace(own=False) if b.own else b for b in base.bodies)],
            base.unknown,
        )

    def _names(self, service: Service, extends: Tree) -> tuple[Leaf | None, Leaf | None]:
        """The service that one extends, and its file where that is another."""
        if not isinstance(extends, Branch):
            return (extends if isinstance(extends, Leaf) else None), None
        if "service" not in extends.entries:
            message = "`extends` needs `service`; Compose refuses the file"
            self.project.problems.append(Problem(extends.span, message, facts=("extends", service.name)))
        return extends.leaf("service"), extends.leaf("file")

    def _other(self, file: Leaf) -> Local | str:
        """The file that ``extends`` names, or why it cannot be read."""
        if file.text.startswith(("http://", "https://", "git@", "github.com/", "oci://")):
            return "it extends a file from the network, which is not fetched"
        path = self.workspace.direct(os.path.join(self.directory, file.text))
        if not self.workspace.inside(path, self.path):
            return f"it extends {path}, which lies {OUTSIDE}"
        if not self.workspace.exists(path):
            return f"it extends {path}, which does not exist"
        try:
            documents = read_documents(path, self.workspace)
        except Unreadable as error:
            return f"it extends {path}, which cannot be read: {error.message}"
        if not documents:
            return f"it extends {path}, which is empty"
        roots = self._roots(path)
        if not roots:
            return f"it extends {path}, which is not a compose file"
        found = Local(path, roots, os.path.dirname(path), self.project, self.workspace)
        found.transformed = True
        found._variables = self._variables
        return found

    def _roots(self, path: str) -> Roots:
        """What the documents of another file have at the top; made once for a run, where many files extend one."""
        variables, outer = self.layer.variables, self.layer.outer

        def make(files: Workspace) -> Roots:
            documents, directory = read_documents(path, files), os.path.dirname(path)
            layers = [Layer(document.source, variables, directory, outer) for document in documents]
            trees = [(layer, layer.tree(document.root)) for layer, document in zip(layers, documents, strict=True)]
            return [(layer, tree) for layer, tree in trees if isinstance(tree, Branch)]

        if not self._variables:
            written = repr((sorted(variables.items()), sorted(outer.items())))
            self._variables = written.encode("utf-8", "surrogatepass").hex()  # a path would be made normal
        known = self.workspace.once(_ROOTS, f"{self._variables}\n{path}", make)
        # A layer notes what a tag is about where it comes across one.
        return make(self.workspace) if any(layer.tagged for layer, _ in known) else known


_ROOTS: Key[Roots] = Key("compose files that are extended")
