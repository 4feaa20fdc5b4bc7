"""Code that counts as other code: what is listed is there, and only as it was when it was seen."""

from pathlib import Path

import pytest

from workflow.planning.closure import EQUIVALENT, code_hash, equivalents, module_digest
from workflow.planning.errors import InputError

ROOT = Path(__file__).resolve().parents[2]


def listed(root, *rows):
    (root / "model").mkdir(exist_ok=True)
    lines = ["module\tdigest\tcounts_as\tseen", *("\t".join(row) for row in rows)]
    (root / EQUIVALENT).write_text("\n".join(lines) + "\n")


def test_a_listed_file_counts_as_the_other_and_only_while_it_stays_so(tmp_path):
    (tmp_path / "module.py").write_text("a = 1\n")
    before, old = code_hash(["module"], tmp_path), module_digest("module", tmp_path)
    (tmp_path / "module.py").write_text("a = 2 - 1\n")
    assert code_hash(["module"], tmp_path) != before
    listed(tmp_path, ("module", module_digest("module", tmp_path), old, "counted"))
    assert code_hash(["module"], tmp_path) == before
    (tmp_path / "module.py").write_text("a = 3 - 1\n")
    assert code_hash(["module"], tmp_path) != before


def test_a_part_that_was_split_off_counts_as_nothing(tmp_path):
    (tmp_path / "module.py").write_text("a = 1\n")
    before, old = code_hash(["module"], tmp_path), module_digest("module", tmp_path)
    (tmp_path / "module.py").write_text("from part import a\n")
    (tmp_path / "part.py").write_text("a = 1\n")
    rows = [("module", module_digest("module", tmp_path), old, "counted")]
    listed(tmp_path, *rows)
    assert code_hash(["module"], tmp_path) != before
    listed(tmp_path, *rows, ("part", module_digest("part", tmp_path), "-", "counted"))
    assert code_hash(["module"], tmp_path) == before


def test_a_damaged_list_is_told(tmp_path):
    listed(tmp_path, ("module", "0"))
    with pytest.raises(InputError, match="does not have four fields"):
        code_hash([], tmp_path)


def test_the_projects_list_is_of_files_as_they_are():
    """Edit a listed file, and its line goes, unless the results were compared again."""
    for module, digest in equivalents(ROOT):
        now = module_digest(module, ROOT)
        assert digest == now, f"{EQUIVALENT}: {module} has the digest {now} now"
