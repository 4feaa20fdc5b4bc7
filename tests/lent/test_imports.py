"""What modules import is found by reading them: whole packages, names, and imports within."""

from tests.planning.test_code import ROOT, write
from workflow.lent import imports

TRAIN = "workflow.scripts.train"


def test_imports_are_followed_wherever_they_stand(tmp_path):
    write(
        tmp_path,
        start="""
            from typing import TYPE_CHECKING
            import json, numpy.linalg
            from pack import member
            if TYPE_CHECKING:
                from pack.types import Only
            def f():
                from pack.late import g
        """,
        pack__member="import pack.deep",
        pack__deep="X = 1",
        pack__late="def g(): import start",
        pack__types="class Only: pass",
        beside="",
    )
    (tmp_path / "pack/__init__.py").touch()
    found = {str(path.relative_to(tmp_path)) for path in imports.files(["start"], tmp_path)}
    assert found == {
        "start.py",
        "pack/__init__.py",
        "pack/member.py",
        "pack/deep.py",
        "pack/late.py",
    }
    assert {"json", "numpy.linalg"} <= {*imports.imported("start", tmp_path)}


def test_what_trains_imports_the_loop_and_nothing_that_reports():
    found = {str(path.relative_to(ROOT)) for path in imports.files([TRAIN], ROOT)}
    assert "model/training/loop.py" in found
    assert not [name for name in found if "papers" in name or "reporting" in name]
