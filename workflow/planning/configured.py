"""The plan that `config.yaml`, a user's own files of changes and a command line ask for."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack, cast

from workflow.datasets.io.dataset_files import SPLITS
from workflow.definitions.configuration import CommandSettings, Configuration
from workflow.definitions.loader import lines, load_yaml, read_yaml
from workflow.definitions.values import Yaml
from workflow.planning.plan import Plan
from workflow.runtime.errors import InputError, nearest

PREFIX = "SACCADE_"
VARIABLES = {
    *("COMMIT", "DEVICE", "FORKS", "INVOCATION", "KEEP_CHECKPOINTS", "MIRROR", "STORE"),
    *("BENCH", "ENDURANCE", "PACE"),  # of the tests
}
"""What the project reads from the environment after the prefix, and sets there itself."""
MADE = ("SCALE", "RESULTS", "DEVICE", "MIRROR", "ONLY", "OVERLAY", "PARALLEL", "JOBS", "PROFILE")
"""Variables of `make` that a person may mean."""


def configured(root: Path, files: Iterable[Path] = (), **settings: Unpack[CommandSettings]) -> Plan:
    """Return the plan of the configuration.

    Args:
        root: the project's folder.
        files: of changes to `config.yaml`, laid over it key by key; later ones count.
        settings: what counts whatever the files say; the scale may be that of an overlay,
            `<scale>+<name>`, which a file has to bring.

    Raises:
        InputError: a file can't be used, or the plan can't be made.
    """
    files = list(files)
    if "scale" in settings:
        settings["scale"] = settings["scale"].partition("+")[0]
    with file_named(root, files, settings):
        return Plan(configuration(root, files, settings), root)


def configuration(root: Path, files: Iterable[Path], settings: CommandSettings) -> dict[str, Yaml]:
    """Return what `config.yaml`, the files of changes and the command line's settings say together.

    Snakemake reads the same files by rules of its own: `010` is 8 there, a key that stands twice
    counts once, and `__use_yte__` runs what is in the file. So nothing else reads them for a plan.
    """
    files = list(files)
    folders = [root, *(file.parent for file in files), Path()]
    config: dict[str, Yaml] = {}
    layers = (*read_files(root, files), settings)
    for layer, folder in zip(layers, folders, strict=True):
        config = laid_over(config, located(layer, folder))
    return config


def located(value: Any, folder: Path, key: str = "") -> Any:
    """Return what a file says, the files that `data:` of it names being found from its folder."""
    if not isinstance(value, Mapping):
        return value
    layer = {name: located(item, folder, name) for name, item in value.items()}
    if key == "data":
        for split in {*SPLITS} & {*value}:
            layer[split] = _absolute(value[split], folder)
    return layer


def _absolute(value: Any, folder: Path) -> Any:
    """Return the path of a file, or of each of several; numbers are sizes."""
    if isinstance(value, list):
        return [_absolute(path, folder) for path in value]
    if not isinstance(value, str) or value.isdecimal():
        return value
    return os.path.abspath(folder / os.path.expanduser(value))


@contextmanager
def file_named(root: Path, changes: Iterable[Path], settings: Iterable[str]) -> Iterator[None]:
    """Have a mistake in the configuration name the file that sets the key, of several the last.

    Args:
        root: the project's folder.
        changes: files of changes to `config.yaml`.
        settings: keys that count whatever the files say; a mistake in them names no file.
    """
    try:
        yield
    except InputError as error:
        where, _, sentence = str(error).partition(": ")
        if where not in ("config", "overlay"):
            raise
        text = str(error) if where == "overlay" else sentence
        unknown = re.match(r'unknown key "(.*?)" \(known: ', text)
        keys = [unknown[1]] if unknown else re.findall(r"\w+", text)
        files = [*reversed([*changes]), root / "config.yaml"]
        if keys[0] in {*settings}:
            raise
        file, places = max(((file, lines(file, keys)) for file in files), key=lambda of: len(of[1]))
        if len(places) == 1:
            raise
        name = file.name if file == files[-1] else file
        raise InputError(f"{name}{places[-1]}: {text}") from None


def read_files(root: Path, changes: Iterable[Path] = ()) -> list[dict[str, Yaml]]:
    """Return what `config.yaml` says, and each file of changes to it.

    Raises InputError when one can't be read, when two have overlays of different names (what both
    change would stand under the last name), or for a variable of the environment like the
    project's own that it does not read.
    """
    check_environment(os.environ)
    files = [root / "config.yaml", *changes]
    for file in files:  # a pipe or a device would be waited for, and each is read more than once
        if os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file)):
            raise InputError(f"{file}: cannot be read (it is no regular file); write one")
    stated = cast(dict[str, Yaml], load_yaml(files[0], Configuration))
    layers = [stated, *map(read_yaml, files[1:])]
    overlays: dict[str, Path] = {}
    for file, layer in zip(files, layers, strict=True):
        overlay = layer.get("overlay")
        if isinstance(overlay, Mapping) and "name" in overlay:
            overlays.setdefault(str(overlay["name"]), file)
    if len(overlays) > 1:
        (first, other), (second, file), *_ = overlays.items()
        raise InputError(
            f'{file}: overlay.name: "{second}", where {other} has the overlay "{first}"; write '
            f"both into one file, or give both one name"
        )
    return layers


def check_environment(variables: Iterable[str]) -> None:
    """Raise InputError for a variable that begins as those of the project, and is none."""
    for name in sorted(name for name in variables if name.startswith(PREFIX)):
        own = name.removeprefix(PREFIX)
        if own not in VARIABLES:
            raise InputError(
                f"environment: nothing reads {name}; settings are variables of make, such as "
                f"SCALE=lite, or keys of config.yaml{nearest(own, MADE)}"
            )


def laid_over(config: Any, changes: Mapping[str, Yaml]) -> dict[str, Yaml]:
    """Return a configuration with changes laid over it as Snakemake does.

    Mappings are joined key by key, and anything else is replaced; neither argument is altered.
    """
    joined = dict(config) if isinstance(config, Mapping) else {}
    for key, value in changes.items():
        joined[key] = laid_over(joined.get(key), value) if isinstance(value, Mapping) else value
    return joined
