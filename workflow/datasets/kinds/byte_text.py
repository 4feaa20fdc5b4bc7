"""One long text a split, whose tokens are its bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workflow.datasets.io.dataset_files import SPLITS, Statistics, write_bytes
from workflow.datasets.kinds.dataset import Dataset
from workflow.runtime.errors import DataError


@dataclass(frozen=True)
class ByteText(Dataset):
    """A text a split."""

    form = "bin"

    @property
    def statistics(self) -> Statistics:
        """What the manifest says beside the number of symbols."""
        return {}

    def encode(self, prepared: Path, out: Path) -> None:
        """Write the text of every split as one example.

        The vocabulary is the bytes that any split has, in their order; all of it is known, as each
        byte of a text is predicted.

        Raises DataError for a split that is missing or empty.
        """
        import numpy as np

        from workflow.datasets.encoded.encoding import RESERVED, EncodedSplit, write_encoded

        texts = {
            split: np.frombuffer(_read(prepared / f"{split}.bin"), np.uint8) for split in SPLITS
        }
        present = np.unique(np.concatenate([np.unique(text) for text in texts.values()]))
        numbers = np.zeros(256, np.int16)
        numbers[present] = np.arange(len(RESERVED), len(RESERVED) + len(present))
        splits = {
            split: EncodedSplit(numbers[text], np.array([len(text)]))
            for split, text in texts.items()
        }
        symbols = [symbol(byte) for byte in present.tolist()]
        write_encoded(self, out, symbols, splits, {"symbols": len(symbols), **self.statistics})


def write_prepared(out: Path, texts: Mapping[str, bytes]) -> None:
    """Write the text of every split."""
    for split in SPLITS:
        write_bytes(out / f"{split}.bin", texts[split])


def symbol(byte: int) -> str:
    """Return how a byte is written in a vocabulary: itself if it is visible, else its number."""
    return chr(byte) if 33 <= byte <= 126 else f"<0x{byte:02X}>"


def _read(path: Path) -> bytes:
    """Return the text of a split."""
    if not path.is_file() or not path.stat().st_size:
        raise DataError(f"{path}: this text is missing or empty; delete the folder and prepare it.")
    return path.read_bytes()
