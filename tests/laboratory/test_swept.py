"""A sweep of random edits, and what sweeps have found."""

import io
import tarfile
from typing import Any

import pytest

from tests.laboratory.swept import swept
from workflow.commands import merge
from workflow.runtime.errors import UserError
from workflow.runtime.integrity import with_checksum


def test_a_hundred_edits_are_accepted_or_a_sentence() -> None:
    log: list[str] = []
    assert swept(100, 0, log.append) == [], "\n".join(log)


@pytest.mark.parametrize("files", [None, [], "text", 7, {"a": None}, {"a": {}}])
def test_a_listing_that_is_none_is_refused(tmp_path: Any, files: object) -> None:
    with tarfile.open(tmp_path / "results.tar", "w") as packed:
        for name, content in (("/a", b"1"), ("results.json", with_checksum({"files": files}))):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))
    with pytest.raises(UserError, match="nothing was added"):
        merge.checked(tmp_path / "results.tar", tmp_path / "unpacked")
