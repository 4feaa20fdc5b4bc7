"""The first examples of every split of encoded data, as encoded data of the same vocabulary."""

import shutil
from pathlib import Path

import numpy as np

from model.batches.corpus import text_lines
from workflow.datasets.encoded.encoding import begin, digest, write_array
from workflow.datasets.io.checksums import SplitSize, read_manifest
from workflow.datasets.io.dataset_files import write_bytes, write_lines
from workflow.runtime.integrity import check_files, checksums_of, with_checksum

TOKENS = 100
"""Of a split that is one long text, so many tokens stand for an example."""


def write_first_examples(encoded: Path, examples: int, out: Path) -> None:
    """Write the first examples of every split of encoded data, and whatever is of no split.

    Raises Damaged where the data are not those that were written.
    """
    manifest = read_manifest(encoded)
    check_files(encoded, manifest["files"])
    begin(out)
    sizes: dict[str, SplitSize] = {}
    for split in manifest["splits"]:
        offsets = np.load(encoded / f"{split}.offsets.npy")
        if (whole := len(offsets) - 1) > 1:
            first = offsets[: examples + 1]
        else:
            first = np.minimum(offsets, examples * TOKENS)
        kept = {whole: len(first) - 1, int(offsets[-1]): int(first[-1])}
        for path in sorted(encoded.glob(f"{split}.*")):
            if path.name == f"{split}.offsets.npy":
                write_array(out / path.name, first)
            elif path.suffix == ".npy":
                array = np.load(path, mmap_mode="r")
                write_array(out / path.name, array[: kept[len(array)]])
            else:
                write_lines(out / path.name, text_lines(path)[: len(first) - 1])
        sizes[split] = {"examples": len(first) - 1, "tokens": int(first[-1])}
    for name in {*manifest["files"]} - {path.name for path in out.iterdir()}:
        shutil.copyfile(encoded / name, out / name)
    files = checksums_of(out, sorted(manifest["files"]))
    told = {**manifest, "files": files, "digest": digest(files), "splits": sizes}
    write_bytes(out / "manifest.json", with_checksum(told, indent=2, sort_keys=True))
