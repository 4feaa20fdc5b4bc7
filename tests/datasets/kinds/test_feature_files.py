"""Where a person put features of images."""

import pytest

from workflow.datasets.kinds.feature_files import locate, places
from workflow.runtime.errors import DataError


@pytest.mark.parametrize("number", [0, 1], ids=["folder", "file"])
def test_a_loop_of_links_is_named(tmp_path, number):
    place = places(tmp_path, "coco")[number]
    place.parent.mkdir()
    assert locate(tmp_path, "coco") is None
    place.symlink_to(place)
    with pytest.raises(DataError, match=f"^{place}: this link leads back to itself"):
        locate(tmp_path, "coco")
