"""Reading files once, with texts in place of some of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from shmlint.files.cache import Key
from shmlint.files.read import MOST, Unreadable
from shmlint.files.workspace import Workspace

UPPER: Key[str] = Key("upper")


def upper(calls: list[str], *paths: str) -> Callable[[Workspace], str]:
    """A result that depends on some files."""

    def make(files: Workspace) -> str:
        calls.append(paths[0])
        return "".join(files.source(path).text.upper() if files.exists(path) else "-" for path in paths)

    return make


def test_a_result_is_made_again_only_where_a_file_it_depends_on_changes() -> None:
    base = Workspace({"a": "a", "b": "b", "c": "c"})
    calls: list[str] = []
    cases = [
        (base, "a", "AB", 1),
        (base, "a", "AB", 0),
        (base.over({"c": "x"}), "a", "AB", 0),
        (base.over({"b": "x"}), "a", "AX", 1),
        (base.over({"b": "x"}).over({"a": "y"}), "a", "YX", 1),
        (base, "a", "AB", 0),
    ]
    for row, (workspace, path, expected, made) in enumerate(cases):
        calls.clear()
        assert workspace.once(UPPER, path, upper(calls, path, "b")) == expected, row
        assert len(calls) == made, row


def test_an_overlay_shares_what_does_not_depend_on_it() -> None:
    base = Workspace({"a": "a", "b": "b"})
    calls: list[str] = []
    assert base.over({"b": "x"}).once(UPPER, "a", upper(calls, "a")) == "A"
    assert base.once(UPPER, "a", upper(calls, "a")) == "A"
    assert base.over({"b": "y"}).source("a") is base.source("a")
    assert len(calls) == 1


def test_a_file_that_appears_changes_what_asked_for_it() -> None:
    base = Workspace({"a": "a"})
    assert base.once(UPPER, "a", upper([], "a", "missing")) == "A-"
    assert base.over({"missing": "m"}).once(UPPER, "a", upper([], "a", "missing")) == "AM"


def test_asked_counts_cached_and_failed_results() -> None:
    base = Workspace({"a": "a"})
    base.once(UPPER, "a", upper([], "a", "./d/../b"))
    view = base.over({})
    assert view.asked == set()
    view.once(UPPER, "a", upper([], "a"))
    assert view.asked == {"a", "b"}, "from the cache"
    with pytest.raises(Unreadable):
        view.once(UPPER, "gone", lambda files: files.source("gone").text)
    assert view.asked == {"a", "b", "gone"}


def test_texts_are_decoded_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a").write_bytes(b"\xef\xbb\xbfx\r\ny")
    assert Workspace().source("./a").text == "\ufeffx\r\ny"
    cases = [
        (b"\xff\xfea\0", "UTF-16 text; save it as UTF-8"),
        (b"\xc3\xa4b\xff", "not UTF-8: byte 0xff"),
        (b"a" * (MOST + 1), "not read: larger than 8 MiB"),
    ]
    for content, message in cases:
        Path("a").write_bytes(content)
        with pytest.raises(Unreadable, match=message):
            Workspace().source("a")
    Path("a").write_bytes("torch\n\u00e4".encode("utf-16"))
    found = Workspace().peek_list("a")
    assert found is not None and found.text == "torch\n\u00e4"
    assert Workspace().peek("a") is None
    Path("a").write_bytes(b"\xffa")
    assert Workspace().peek_list("a") is None
    for path, message in [("none", "no such file"), (".", "is a directory, not a file"), ("a\0", "NUL character")]:
        with pytest.raises(Unreadable, match=message):
            Workspace().source(path)
    assert Workspace({"a": "given"}).names_in("") == ["a", "a"]
    assert Workspace({"none/b": ""}).names_in("none") == ["b"]


def test_what_may_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("repo/.git", "repo/d", "other"):
        (tmp_path / path).mkdir(parents=True)
    os.symlink(tmp_path / "other", tmp_path / "repo" / "link")
    monkeypatch.chdir(tmp_path)
    cases = [
        ("repo/d/x", "repo/y", True),
        ("other/x", "repo/y", False),
        ("repo/link/x", "repo/y", False),
        (str(tmp_path / "repo" / "x"), "repo/d/y", True),
        ("../x", "other/y", True),
        ("/etc/x", "other/y", False),
    ]
    for path, of, expected in cases:
        assert Workspace().inside(path, of) == expected, (path, of)
        assert Workspace(follow_outside=True).inside(path, of)


def test_the_directories_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They end at the top of a repository, outside of any at the current directory; nothing is above another one."""
    for path in ("repo/.git", "repo/d/e", "plain/d"):
        (tmp_path / path).mkdir(parents=True)
    cases = [
        (".", "repo/d/e/x", ["repo/d/e", "repo/d", "repo"]),
        ("repo/d", "e/x", ["e", "", ".."]),
        ("repo/d/e", "x", ["", "..", "../.."]),
        ("repo", str(tmp_path / "repo" / "d" / "x"), [str(tmp_path / "repo" / "d"), str(tmp_path / "repo")]),
        (".", "plain/d/x", ["plain/d", "plain", ""]),
        ("plain", "d/x", ["d", ""]),
        ("plain/d", "../x", [".."]),
        ("plain", str(tmp_path / "plain" / "d" / "x"), [str(tmp_path / "plain" / "d")]),
    ]
    for folder, path, expected in cases:
        monkeypatch.chdir(tmp_path / folder)
        assert Workspace().upwards(path) == expected, (folder, path)
        assert Workspace(top=str(tmp_path / folder)).upwards(path) == expected, (folder, path)
