"""`python -m workflow use` answers each line, and says which line it can't answer."""

import json
import os
from pathlib import Path

import pytest

from tests.trained.conftest import LANGUAGE, REVIEWS, TRANSLATION, plan
from workflow.__main__ import main
from workflow.planning.plan import Plan

__all__ = ["plan"]


def use(plan: Plan, key: str, file: Path, text: str, *options: str) -> None:
    """Give a text to a model."""
    file.write_bytes(text.encode())
    main(["use", key, "--scale", "demo", "--results", plan.results, "--input", str(file), *options])


def test_lines_are_answered_in_their_order(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(plan, REVIEWS, tmp_path / "lines", "A film ☃.\n\n  \r\nthe blorp film")
    said, warned = capsys.readouterr()
    first, *empty, last = said.splitlines()
    assert empty == ["", ""] and len(said.splitlines()) == 4
    for line in (first, last):
        label, *shares = line.split("\t")
        by_label = dict(share.split(" ") for share in shares)
        assert label == max(by_label, key=by_label.__getitem__)
        assert sum(map(float, by_label.values())) == pytest.approx(1, abs=2e-4)
    assert "line 1: read as <unk>:" in warned and "☃" in warned
    assert "line 4: read as <unk>: " in warned and "blorp" in warned


def test_log_probabilities_stand_beside_symbols(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(plan, LANGUAGE, tmp_path / "lines", "(1)\n")
    columns = [column.split(" ") for column in capsys.readouterr().out.strip().split("\t")]
    assert [symbol for symbol, _ in columns] == ["(", "1", ")"]
    assert all(float(found) < 0 for _, found in columns)


def test_json_has_what_is_asked_for(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(plan, LANGUAGE, tmp_path / "lines", "( 1 )\n", "--json")
    plain = json.loads(capsys.readouterr().out)
    assert [*plain] == ["tokens", "log_probabilities"]
    use(plan, TRANSLATION, tmp_path / "lines", "a man\n", "--attention", "--field", "--importance")
    found = json.loads(capsys.readouterr().out)
    S, T = len(found["tokens"]), len(found["target"])
    assert [*found["attention"]] == ["encoder", "decoder", "cross"]
    for name in ("field", "importance"):
        assert (len(found[name]), len(found[name][0])) == (T, S)
    layer, *_ = found["attention"]["cross"]
    assert (len(layer[0]), len(layer[0][0])) == (T, S) and isinstance(found["translation"], str)


@pytest.mark.parametrize(
    ("text", "said"),
    [("(1)\n(?)\n", 'line 2: "?" is no symbol of the data'), ("(" * 64, "line 1: 65 tokens are")],
)
def test_a_line_that_cannot_be_read_is_named(
    plan: Plan, tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        use(plan, LANGUAGE, tmp_path / "lines", text)
    assert f"error: {said}" in f"{ended.value}{capsys.readouterr().err}"


def test_a_missing_file_is_named(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        use(plan, LANGUAGE, tmp_path / "lines", "(1)", "--input", str(tmp_path / "none"))
    said = f"{ended.value}{capsys.readouterr().err}"
    assert f"INPUT={tmp_path / 'none'}: No such file or directory; name a file of lines" in said


def test_marks_of_utf_8_are_no_text_and_other_encodings_are_refused(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "lines"
    use(plan, LANGUAGE, lines, "\ufeff(1)\r\n\ufeff(1)")
    assert [line[:2] for line in capsys.readouterr().out.splitlines()] == ["( ", "( "]
    lines.write_bytes("(1)\n".encode("utf-16"))
    with pytest.raises(SystemExit) as ended:
        main(["use", LANGUAGE, "--scale", "demo", "--results", plan.results, "--input", str(lines)])
    said = f"{ended.value}{capsys.readouterr().err}"
    assert f"{lines}: this text is in UTF-16; save it as UTF-8" in said


def test_what_is_odd_about_a_line_is_said(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "lines"
    use(plan, REVIEWS, lines, "a film\n")
    assert not capsys.readouterr().err
    lines.write_bytes(b"a caf\xe9 film\na\tfilm\na \x1b[2Jfilm\n")
    main(["use", REVIEWS, "--scale", "demo", "--results", plan.results, "--input", str(lines)])
    said, warned = capsys.readouterr()
    assert len(said.splitlines()) == 3
    assert "line 1: 1 of its bytes are no UTF-8; save it as UTF-8\n" in warned
    assert "line 2: a tab is read as a space, as a line is one text; give one column" in warned
    assert "\x1b" not in warned and "line 3: read as <unk>: \\x1b" in warned


def test_a_closed_standard_input_is_named(plan: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    kept = os.dup(0)
    os.close(0)
    try:
        with pytest.raises(SystemExit) as ended:
            main(["use", LANGUAGE, "--scale", "demo", "--results", plan.results])
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    said = f"{ended.value}{capsys.readouterr().err}"
    assert "error: standard input: Bad file descriptor; name a file of lines (INPUT=)" in said


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (
            "stack_language/uniform_soft/seed-0",
            'RUN="stack_language/uniform_soft/seed-0" is not trained here at scale demo; make run '
            "SCALE=demo ONLY={folder}/measures/stack_language/uniform_soft/seed-0.json trains it",
        ),
        ("stack_language/uniform_soft/seed-99", "RUN: unknown run of scale demo"),
        ("stack_language/uniform_sof/seed-0", "RUN: unknown run of scale demo"),
        ("stack/uniform_soft/seed-0", "RUN: unknown run of scale demo"),
    ],
)
def test_a_run_that_would_be_trained_is_told_from_one_that_there_is_not(
    plan: Plan, tmp_path: Path, key: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        use(plan, key, tmp_path / "lines", "(1)")
    sentence = f"{ended.value}{capsys.readouterr().err}"
    assert f"error: {said.format(folder=plan.folder)}" in sentence
