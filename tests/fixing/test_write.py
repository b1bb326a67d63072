"""Writing: what belongs together whole or not at all, and never what may not be written."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shmlint.fixing import fix, write
from shmlint.run import Run
from tests.fixing.test_fix import FIXED, LACKING, read


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def repair(path: str = "compose.yaml") -> list[str]:
    run = read(None, path)
    return list(write.write(run, fix.fix(run).texts))


def only(directory: Path, *names: str) -> None:
    """Nothing but these files is there: no temporary one was left."""
    assert sorted(entry.name for entry in directory.iterdir()) == sorted(names)


def test_writes_bytes_as_they_are(tmp_path: Path) -> None:
    text = "\ufeff" + LACKING.replace("\n", "\r\n").strip() + " # \u00e9"
    Path("compose.yaml").write_bytes(text.encode())
    assert repair() == ["compose.yaml"]
    wanted = text.replace("gpus: all\r\n", "gpus: all\r\n    shm_size: 8gb\r\n")
    assert Path("compose.yaml").read_bytes() == wanted.encode()
    only(tmp_path, "compose.yaml")
    assert repair() == []


@pytest.mark.needs("posix")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_keeps_the_mode(mode: int) -> None:
    Path("compose.yaml").write_text(LACKING)
    os.chmod("compose.yaml", mode)
    repair()
    assert stat.S_IMODE(os.stat("compose.yaml").st_mode) == mode


@pytest.mark.needs("root")
def test_keeps_the_owner() -> None:
    Path("compose.yaml").write_text(LACKING)
    os.chown("compose.yaml", 12345, 23456)
    repair()
    assert (os.stat("compose.yaml").st_uid, os.stat("compose.yaml").st_gid) == (12345, 23456)


@pytest.mark.needs("links")
def test_follows_a_symbolic_link_and_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "it.yaml"
    target.write_text(LACKING, newline="")
    os.symlink(Path("real", "it.yaml"), "compose.yaml")
    repair()
    assert Path("compose.yaml").is_symlink()
    assert target.read_bytes() == FIXED.encode()
    only(tmp_path, "compose.yaml", "real")
    only(tmp_path / "real", "it.yaml")


@pytest.mark.needs("links")
def test_a_file_with_two_names_stays_one_file(tmp_path: Path) -> None:
    Path("compose.yaml").write_text(LACKING, newline="")
    os.chmod("compose.yaml", 0o640)
    os.link("compose.yaml", "other.yaml")
    repair()
    assert Path("other.yaml").read_bytes() == FIXED.encode()
    assert os.path.samefile("compose.yaml", "other.yaml")
    assert stat.S_IMODE(os.stat("compose.yaml").st_mode) == 0o640
    only(tmp_path, "compose.yaml", "other.yaml")


@pytest.mark.needs("links")
def test_both_names_of_a_file_are_written(tmp_path: Path) -> None:
    Path("compose.yaml").write_text(LACKING, newline="")
    os.link("compose.yaml", "other.yaml")
    run = read(None, "compose.yaml", "other.yaml")
    for path in ("compose.yaml", "other.yaml"):
        assert write.write(run, {path: FIXED}) == [path]
    assert Path("other.yaml").read_bytes() == FIXED.encode()
    Path("compose.yaml").write_text(LACKING, newline="")
    with pytest.raises(write.NotWritten, match=r"same file as compose\.yaml"):
        write.write(run, {"compose.yaml": FIXED, "other.yaml": FIXED + "#"})
    assert Path("other.yaml").read_bytes() == LACKING.encode()
    only(tmp_path, "compose.yaml", "other.yaml")


@pytest.mark.needs("links")
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("alone", [True, False])
def test_a_write_in_place_that_fails_is_taken_back(
    error: BaseException, alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["z.yaml"] if alone else ["a.yaml", "z.yaml"]
    for name in names:
        Path(name).write_text(LACKING, newline="")
    os.link("z.yaml", "link.yaml")
    run = read(None, *names)
    calls: list[object] = []
    honest = write.shutil.copyfileobj

    def in_part(new: Any, old: Any) -> None:
        calls.append(new)
        if len(calls) == 1:
            old.write(new.read()[:-3])
            old.flush()
            raise error
        honest(new, old)

    monkeypatch.setattr(write.shutil, "copyfileobj", in_part)
    with pytest.raises(write.NotWritten if isinstance(error, OSError) else KeyboardInterrupt):
        write.write(run, dict.fromkeys(names, FIXED))
    assert {Path(name).read_text() for name in (*names, "link.yaml")} == {LACKING}
    only(tmp_path, *names, "link.yaml")


@pytest.mark.needs("links")
def test_the_old_text_is_kept_where_it_cannot_be_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("compose.yaml").write_text(LACKING, newline="")
    os.link("compose.yaml", "other.yaml")

    def fails(new: Any, old: Any) -> None:
        old.write(b"half")
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(write.shutil, "copyfileobj", fails)
    with pytest.raises(write.NotWritten, match=r"could not be put back: .*; its old text is in \.shmlint-") as caught:
        repair()
    assert Path(caught.value.kept).read_text() == LACKING
    only(tmp_path, "compose.yaml", "other.yaml", os.path.basename(caught.value.kept))


@pytest.mark.needs("root")
def test_a_file_whose_owner_cannot_be_kept_is_written_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    Path("compose.yaml").write_text(LACKING, newline="")
    os.chown("compose.yaml", 12345, 23456)
    monkeypatch.setattr(os, "chown", fails)
    repair()
    assert Path("compose.yaml").read_bytes() == FIXED.encode()
    assert (os.stat("compose.yaml").st_uid, os.stat("compose.yaml").st_gid) == (12345, 23456)


@pytest.mark.needs("attributes")
def test_keeps_extended_attributes() -> None:
    Path("compose.yaml").write_text(LACKING, newline="")
    os.setxattr("compose.yaml", "user.note", b"mine")
    repair()
    assert os.getxattr("compose.yaml", "user.note") == b"mine"


def refused(monkeypatch: pytest.MonkeyPatch, where: str, error: OSError) -> write.NotWritten:
    """The error that comes of one of the calls that write failing; the file must be as it was."""
    def fails(*args: Any, **keywords: Any) -> None:
        raise error

    Path("compose.yaml").write_text(LACKING, newline="")
    with monkeypatch.context() as patch:
        patch.setattr(where, fails)
        with pytest.raises(write.NotWritten) as caught:
            repair()
    assert Path("compose.yaml").read_bytes() == LACKING.encode()
    only(Path.cwd(), "compose.yaml")
    return caught.value


@pytest.mark.parametrize("where", ["tempfile.mkstemp", "os.fsync", "os.chmod", "os.replace"])
def test_a_write_that_fails_leaves_the_file_and_nothing_else(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = refused(monkeypatch, where, PermissionError(13, "Permission denied"))
    assert error.path == "compose.yaml"
    assert error.message == "cannot be written: Permission denied"


def test_an_owner_that_cannot_be_kept_is_no_reason_not_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", fails, raising=False)
    Path("compose.yaml").write_text(LACKING, newline="")
    repair()
    assert Path("compose.yaml").read_bytes() == FIXED.encode()


@pytest.fixture
def readable(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, which anybody may read; not below pytest's, which only its user may."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        monkeypatch.chdir(folder)
        yield Path(folder)
        monkeypatch.undo()


@pytest.mark.needs("rights")
def test_a_directory_that_cannot_be_written_to(readable: Path) -> None:
    Path("compose.yaml").write_text(LACKING, newline="")
    run = read(None, "compose.yaml")
    texts = fix.fix(run).texts
    readable.chmod(0o555)
    user = os.geteuid()
    os.seteuid(user or 65534)  # root may write everywhere; nobody may not
    try:
        with pytest.raises(write.NotWritten, match="Permission denied"):
            list(write.write(run, texts))
    finally:
        os.seteuid(user)
        readable.chmod(0o755)
    assert Path("compose.yaml").read_bytes() == LACKING.encode()
    only(readable, "compose.yaml")


@pytest.mark.parametrize("now", [LACKING + "# more\n", LACKING.replace("\n", "\r\n"), None])
def test_a_file_that_changed_since_it_was_read_is_left(now: str | None, tmp_path: Path) -> None:
    Path("compose.yaml").write_text(LACKING, newline="")
    run = read(None, "compose.yaml")
    outcome = fix.fix(run)
    if now is None:
        Path("compose.yaml").unlink()
    else:
        Path("compose.yaml").write_bytes(now.encode())
    with pytest.raises(write.NotWritten, match="changed during" if now else "cannot be written"):
        list(write.write(run, outcome.texts))
    if now is None:
        only(tmp_path)
    else:
        assert Path("compose.yaml").read_bytes() == now.encode()
        only(tmp_path, "compose.yaml")


@pytest.mark.needs("posix")
def test_a_read_only_file_is_left() -> None:
    Path("compose.yaml").write_text(LACKING, newline="")
    os.chmod("compose.yaml", 0o444)
    with pytest.raises(write.NotWritten, match="read-only"):
        repair()
    assert Path("compose.yaml").read_bytes() == LACKING.encode()
    assert stat.S_IMODE(os.stat("compose.yaml").st_mode) == 0o444


PATHS = ("a.yaml", "b/b.yaml", "c.yaml")


@pytest.fixture
def several(tmp_path: Path) -> Run:
    """A run over three files, one of them in another directory."""
    (tmp_path / "b").mkdir()
    for path in PATHS:
        Path(path).write_text(LACKING, newline="")
    return read(None, *PATHS)


@pytest.mark.parametrize("failing", range(3))
@pytest.mark.parametrize("where", ["tempfile.mkstemp", "os.fsync", "os.replace"])
def test_files_that_belong_together_are_written_all_or_none(
    where: str, failing: int, several: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _, name = where.partition(".")
    honest = getattr({"os": os, "tempfile": write.tempfile}[module], name)
    calls: list[object] = []

    def sometimes(*args: Any, **keywords: Any) -> Any:
        calls.append(args)
        if len(calls) == failing + 1:
            raise OSError(28, "No space left on device")
        return honest(*args, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(where, sometimes)
        with pytest.raises(write.NotWritten, match="No space left"):
            write.write(several, dict.fromkeys(PATHS, FIXED))
    assert [Path(path).read_text() for path in PATHS] == [LACKING] * 3
    only(Path(), "a.yaml", "b", "c.yaml")
    only(Path("b"), "b.yaml")
    assert write.write(several, dict.fromkeys(PATHS, FIXED)) == [*PATHS]
    assert [Path(path).read_text() for path in PATHS] == [FIXED] * 3
    only(Path("b"), "b.yaml")


def test_what_cannot_be_put_back_is_said(several: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = os.replace
    calls: list[str] = []

    def at_first(source: str, target: str) -> None:
        calls.append(target)
        if len(calls) > 1:
            raise OSError(5, "Input/output error")
        honest(source, target)

    monkeypatch.setattr(os, "replace", at_first)
    with pytest.raises(write.NotWritten, match="is changed and could not be put back") as caught:
        write.write(several, dict.fromkeys(PATHS, FIXED))
    assert caught.value.path == "a.yaml"


def test_a_read_only_file_keeps_those_that_belong_to_it(several: Run) -> None:
    os.chmod("c.yaml", 0o444)
    with pytest.raises(write.NotWritten, match="read-only"):
        write.write(several, dict.fromkeys(PATHS, FIXED))
    assert Path("a.yaml").read_text() == LACKING


def test_files_belong_together_where_a_change_has_edits_in_both() -> None:
    texts = dict.fromkeys("abcde", "")
    groups = write.together(texts, map(frozenset, ("ab", "c", "bd", "xe")))
    assert ["".join(group) for group in groups] == ["abd", "c", "e"]
