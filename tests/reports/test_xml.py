"""JUnit and Checkstyle: XML that any parser takes, whatever a file or a service is called.

danger-plugin-lint-report is a reader of Checkstyle's reports that others use.

data/junit-10.xsd is the schema by which Jenkins' xUnit plugin reads JUnit reports, as the source distribution of pytest
has it; junitparser is a reader that others use. The elements, attributes and types of Checkstyle's reports are those of
config/checkstyle-report-1.0.0.xsd at 439ed4b of https://github.com/checkstyle/checkstyle.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from shmlint.reports import checkstyle, escape, junit
from tests.project import run
from tests.reports.hostile import NAMES, hostile
from tests.reports.test_text import CASES, MANY, TRAINER
from tests.table import table

FINE = "services:\n  x:\n    image: redis\n"


TEXT, NUMBER = r"(?s).+", r"[1-9]\d*"
CHECKSTYLE = {
    "checkstyle": {"version": TEXT},
    "file": {"name": TEXT},
    "error": {"line": NUMBER, "column": NUMBER, "severity": "error|warning|info", "message": TEXT, "source": TEXT},
}
"""The elements that are written, and a pattern for each attribute."""
PARENTS = {"checkstyle": {"file"}, "file": {"error"}, "error": set()}


def checked(text: str) -> str:
    """A JUnit report that is valid."""
    import xmlschema

    errors = list(xmlschema.XMLSchema(Path(__file__).parent / "data" / "junit-10.xsd").iter_errors(text))
    assert errors == []
    return text


def tree(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode("utf-8"))


@table("files", [files for files, _ in CASES.values()], ids=CASES)
def test_every_finding_is_there(tmp_path: Path, files: Mapping[str, str] | str) -> None:
    started = run(tmp_path, files)
    cases = tree(junit.render(started, started.findings))
    errors = [finding for finding in started.findings if finding.severity == "error"]
    assert cases.get("failures") == str(len(errors)) == str(len(cases.findall(".//failure")))
    assert len(cases.findall(".//system-out")) == len(started.findings) - len(errors)
    assert cases.get("tests") == str(len(cases.findall(".//testcase")))
    for suite in cases.findall("testsuite"):
        assert suite.get("tests") == str(len(suite.findall("testcase")))
        assert suite.get("failures") == str(len(suite.findall(".//failure")))
    for element in tree(checkstyle.render(started, started.findings)).iter():
        assert {child.tag for child in element} <= PARENTS[element.tag]
        assert set(element.keys()) == set(CHECKSTYLE[element.tag])
        assert all(re.fullmatch(CHECKSTYLE[element.tag][name], value) for name, value in element.items())
    marks = tree(checkstyle.render(started, started.findings)).findall("file/error")
    assert [error.get("source") for error in marks] == [f"shmlint.{finding.rule}" for finding in started.findings]


def test_other_programs_read_it(tmp_path: Path) -> None:
    import junitparser

    started = run(tmp_path, {"compose.yaml": MANY, "fine/compose.yaml": FINE})
    text = checked(junit.render(started, [*started.findings, *(hostile(started.findings[0], name) for name in NAMES)]))
    read = junitparser.JUnitXml.fromstring(text.encode("utf-8"))
    cases = [case for suite in read for case in suite]
    assert (read.tests, len(cases)) == (len(started.findings) + len(NAMES) + 1,) * 2
    failed = [case for case in cases for result in case.result if isinstance(result, junitparser.Failure)]
    assert len(failed) == read.failures == text.count("<failure ")


def test_junit(tmp_path: Path) -> None:
    started = run(tmp_path, {"compose.yaml": TRAINER, "fine/compose.yaml": FINE})
    found = tree(junit.render(started, started.findings))
    assert {suite.get("name"): suite.get("failures") for suite in found} == {
        "compose.yaml": "1", "fine/compose.yaml": "0",
    }  # fmt: skip
    (failure,) = found.findall(".//failure")
    assert failure.get("type") == "error" and "service `trainer` gets" in str(failure.get("message"))
    assert str(failure.text).startswith("NCCL: 8 ranks")
    notes = run(tmp_path, {"compose.yaml": TRAINER}, fail_on="note", severity=(("SHM101", "note"),))
    assert tree(junit.render(notes, notes.findings)).get("failures") == "1", "what makes the exit status 1"
    (case,) = found.findall("testsuite[@name='compose.yaml']/testcase")
    assert case.attrib == {"name": "SHM101 2:3", "classname": "compose.yaml"}


READER = """
const seen = [], danger = global.danger = {};
for (const level of ["message", "warn", "fail"]) global[level] = (...given) => seen.push([level, ...given]);
require("danger-plugin-lint-report").scan({fileMask: process.argv[1], reportSeverity: true})
  .then(() => console.log(JSON.stringify(seen)));
"""
"""What prints the comments that the npm package danger-plugin-lint-report makes of a Checkstyle report."""
LEVELS = {"error": "fail", "warning": "warn", "note": "message"}


@pytest.mark.report_readers
def test_another_program_makes_comments_of_a_checkstyle_report(tmp_path: Path) -> None:
    started = run(tmp_path, {"a/many.compose.yaml": MANY, "b/trainer.compose.yaml": TRAINER})
    report = tmp_path / "report.xml"
    report.write_text(checkstyle.render(started, started.findings), encoding="utf-8")
    done = subprocess.run(
        ["node", "-e", READER, str(report)], capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.stderr == "", "no element and no version that it does not know"
    found = sorted((level, path, line, text.partition("\n")[0]) for level, text, path, line in json.loads(done.stdout))
    assert found == sorted((LEVELS[f.severity], f.span.path, f.span.line, f.message) for f in started.findings)


def test_checkstyle(tmp_path: Path) -> None:
    started = run(tmp_path, MANY)
    found = tree(checkstyle.render(started, started.findings))
    assert [file.get("name") for file in found] == ["compose.yaml"]
    assert {error.get("severity") for error in found[0]} == {"error", "warning", "info"}
    places = [(error.get("line"), error.get("column")) for error in found[0]]
    assert places == [(str(f.span.begin.line), str(f.span.begin.column)) for f in started.findings]


@table("name", NAMES)
def test_any_name_is_well_formed(tmp_path: Path, name: str) -> None:
    started = run(tmp_path, TRAINER)
    finding = hostile(started.findings[0], name)
    message = escape(f"service `{name}` {name}")
    suite = tree(junit.render(started, [finding])).findall("testsuite")[-1]
    assert suite.get("name") == escape(name)
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.get("message") == message
    assert str(failure.text).startswith(f"why: {escape(name)}\n")
    file = tree(checkstyle.render(started, [finding]))[0]
    assert file.get("name") == escape(name) and str(file[0].get("message")).startswith(f"{message}\nwhy: ")
