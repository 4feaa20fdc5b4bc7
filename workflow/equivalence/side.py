"""One side of a proof: a process that runs the code of one tree of the project, old or new.

It is started by its path with a tree on `PYTHONPATH`, and imports the project from there. It reads
a request (JSON) a line on standard input, and answers each with a line.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import json
import math
import os
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

Json = dict[str, Any]
WatchedStatements = Mapping[str, list[list[int]]]
"""By file, relative to the tree: first and last line of each statement that is watched."""
SCALES = ("lite", "demo", "paper")
TIMED = {"updates": 4}
"""How often is done at most what an evaluator times, by its argument."""
CLOCKS = ("seconds", "tokens_per_second", "began", "spoken")
"""What a state holds of the clock."""
ULP = 2.0**-24
"""Relative size of the random change by which weights are shaken: a rounding of fp32."""


class Watch:
    """Notes which of the statements of interest are executed.

    Args:
        root: of the tree.
        statements: by file.
    """

    def __init__(self, root: Path, statements: WatchedStatements) -> None:
        self.statements = {
            str(root / file): {(first, last) for first, last in spans}
            for file, spans in statements.items()
        }
        self.names = {str(root / file): file for file in statements}
        self.executed: set[tuple[str, int, int]] = set()
        self._open: dict[CodeType, dict[int, list[tuple[int, int]]]] = {}

    def __enter__(self) -> Watch:
        if self.statements:
            sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, _: object) -> Any:
        code = frame.f_code
        spans = self.statements.get(code.co_filename)
        if not spans:
            return None
        if code not in self._open:
            own = {line for _, _, line in code.co_lines() if line}
            within: dict[int, list[tuple[int, int]]] = {}
            for first, last in spans:
                for line in own:
                    if first <= line <= last:
                        within.setdefault(line, []).append((first, last))
            self._open[code] = within
        if not self._open[code]:
            return None
        self._line(frame, "line", None)
        return self._line

    def _line(self, frame: FrameType, event: str, _: object) -> Any:
        waiting = self._open[frame.f_code]
        if event == "line" and (spans := waiting.pop(frame.f_lineno, None)):
            file = self.names[frame.f_code.co_filename]
            self.executed |= {(file, *span) for span in spans}
        return self._line if waiting else None


class ProofSide:
    """What a tree's code does with a spec, and keeps between requests.

    Args:
        root: the tree.
        work: a folder to write to.
        device: to compute on.
    """

    def __init__(self, root: Path, work: Path, device: str) -> None:
        self.root, self.work, self.device = root, work, device

    # Planning

    def listing(self, scales: list[str]) -> Json:
        """Every variant of some scales, with its spec and the raw hashes of its code.

        Both trees are asked by these names of planning: who changes one of them keeps the old one
        here, for trees of before.
        """
        configured = self._of("workflow.planning.configured:configured")
        identity = importlib.import_module("workflow.planning.identity")
        project = self._of("workflow.planning.code:Project")(self.root)
        found: Json = {}
        for scale in scales:
            settings: Json = {"experiments": "all", "results": str(self.work), "mechanisms": {}}
            settings |= dict.fromkeys(("seeds", "mirror", "overlay"))
            plan = configured(self.root, scale=scale, **settings)
            for name, experiment in plan.experiments.items():
                for variant in experiment.variants(scale):
                    run = plan.run(name, variant, plan.seeds(experiment, variant)[0])
                    asked = hasattr(run, "draft")  # of the run itself, before 2026-11-28
                    draft = run.draft(self.root) if asked else plan.draft(run)
                    roots = identity.run_roots(draft)
                    nodes = {"evaluators": run.settings.evaluators}
                    nodes["recorders"] = {"": run.settings.record} if run.settings.record else {}
                    entry: Json = {
                        "spec": draft,
                        "roots": roots,
                        "code": project.hash(roots),
                        "parents": {n: r.key for n, r in plan.parents(run).items()},
                        "further": run.settings.further_data,
                        "reads": {
                            n: [[r.experiment.name, r.variant], others]
                            for n, r, others in plan._reading(run)
                        },
                    }
                    for kind, by_name in nodes.items():
                        entry[kind] = {}
                        for part, node in by_name.items():
                            reach = identity.measuring_roots(node)
                            code = project.hash(reach)
                            entry[kind][part] = {"node": node, "roots": reach, "code": code}
                    found[f"{scale}/{name}/{variant}"] = entry
        return found

    def data(self, recipe: Json, to: str) -> None:
        """Make the data of a recipe."""
        load = self._of("workflow.datasets.kinds.recipe:load")
        sums = importlib.import_module("workflow.datasets.io.checksums")
        dataset, folder = load(recipe), Path(to)
        dataset.synthesise(folder / "raw")
        sums.write_checksums(folder / "raw")
        files = [folder / "raw" / name for name in dataset.raw]
        dataset.prepare(files, folder / "prepared")
        sums.write_checksums(folder / "prepared")
        dataset.encode(folder / "prepared", folder / "encoded")

    # Training

    def train(
        self,
        spec: Json,
        data: str,
        stops: list[int],
        parents: Mapping[str, str],
        to: str,
        statements: WatchedStatements,
        digests: list[int],
        states: list[int],
        begun: Mapping[str, str] | None = None,
    ) -> Json:
        """Train to the end, leaving at some updates and going on from the state that was saved.

        Args:
            stops: the updates after which training is left.
            to: a folder for the weights, those along training, and states.
            digests, states: the updates whose state is digested, and kept as `state-<update>.pt`.
            begun: of a training that another side has begun, its newest `state`, a file, and the
                folder of the weights that it `kept`.

        Returns:
            The `history`, `digests` of states by update and of the final weights, and the
            `executed` statements.
        """
        import torch
        from safetensors.torch import load_file, save_file

        numerics, keeper, watch = self._numerics(spec), _Keeper(), Watch(self.root, statements)
        weights = {name: load_file(path) for name, path in parents.items()}
        keeper.asked, keeper.stops = set(digests), list(stops)
        folder = Path(to)
        folder.mkdir(parents=True, exist_ok=True)
        keeper.files = {update: folder / f"state-{update}.pt" for update in states}
        if begun:
            keeper.state = torch.load(begun["state"], weights_only=True)
            files = Path(begun["kept"]).glob("step-*.safetensors")
            keeper.kept = {int(file.stem.partition("-")[2]): load_file(file) for file in files}
        with numerics, watch:
            trained = None
            while trained is None:
                with _interrupted():
                    trained = self._train(spec, self._of("Corpus")(Path(data)), keeper, weights)
                torch.manual_seed(0)
        save_file(trained.weights, folder / "weights.safetensors")
        for update, kept in keeper.kept.items():
            save_file(kept, folder / f"step-{update}.safetensors")
        found = {str(update): digest for update, digest in keeper.digests.items()}
        found["weights"] = digest_of(trained.weights)
        found["kept"] = digest_of(keeper.kept)
        history = trained.progress.rows
        return {"history": history, "digests": found, "executed": sorted(watch.executed)}

    def step(
        self,
        spec: Json,
        data: str,
        parents: Mapping[str, str],
        start: str | None,
        to: str,
        shake: int = 0,
        threads: int = 1,
        library: bool = True,
    ) -> None:
        """Make one update from a state (a file; None for a new run), and write the state after it.

        Args:
            shake: seed of a random change of the weights by a rounding, 0 for none.
            threads: of torch.
            library: whether oneDNN may be used.
        """
        import torch
        from safetensors.torch import load_file

        keeper = _Keeper()
        if start:
            keeper.state = torch.load(start, weights_only=True)
            if shake:
                shaken(keeper.state["model"], shake)
        keeper.stops = [keeper.state["progress"]["update"] + 1 if start else 1]
        weights = {name: load_file(path) for name, path in parents.items()}
        once = {**spec, "training": {**spec["training"], "threads": threads}}
        first_shake = 0 if start else shake
        with self._numerics(once, library, threads), self._built_with(first_shake), _interrupted():
            self._train(once, self._of("Corpus")(Path(data)), keeper, weights)
        torch.save(keeper.state, to)

    @contextlib.contextmanager
    def _built_with(self, shake: int) -> Iterator[None]:
        """Have models built whose weights are changed by a rounding, where `shake` is not 0."""
        loop = self._loop()
        original = loop.build_model

        def build_model(*arguments: Any) -> Any:
            model = original(*arguments)
            if shake:
                shaken({name: one.data for name, one in model.named_parameters()}, shake)
            return model

        loop.build_model = build_model
        try:
            yield
        finally:
            loop.build_model = original

    def _train(self, spec: Json, corpus: Any, keeper: _Keeper, parents: Any) -> Any:
        import torch

        train = self._of(self._train_path())
        device = torch.device(self.device)
        return train(spec, corpus, keeper, device, parents, lambda line: None)

    def _loop(self) -> Any:
        """The module that trains."""
        return importlib.import_module(self._train_path().partition(":")[0])

    def _train_path(self) -> str:
        return next(path for path in self._roots("TRAINING") if path.endswith(":train"))

    # Measuring

    def record(
        self,
        spec: Json,
        data: str,
        folder: str,
        node: Json,
        steps: list[int],
        to: str,
        statements: WatchedStatements,
        **machine: Any,
    ) -> Json:
        """Record the weights along a training, and write the record."""
        import torch
        from safetensors.torch import load_file

        build, watch = self._of("model.build:build"), Watch(self.root, statements)
        with self._numerics(spec, machine.get("library", True), machine.get("threads", 1)), watch:
            subject = self._subject(spec, data, f"{folder}/weights.safetensors", machine)
            build_model = self._loop().build_model

            def read(path: str) -> Any:
                weights = load_file(path)
                return zeroed(weights, machine["tied"]) if "tied" in machine else weights

            checkpoints: dict[int, Callable[[], Any]] = {
                step: functools.partial(read, f"{folder}/step-{step}.safetensors") for step in steps
            }
            if steps and not spec["training"].get("start_from"):
                checkpoints[0] = lambda: build_model(spec, subject.corpus).state_dict()
            if not steps:
                checkpoints[1] = lambda: read(f"{folder}/weights.safetensors")
            torch.manual_seed(0)
            record = build(node)(subject, checkpoints)
            content = record.content()
        Path(to).write_bytes(content)
        import numpy as np

        with np.load(to) as file:
            arrays = {name: file[name].tolist() for name in file.files}
        return {"result": {"scalars": {}, "arrays": arrays}, "executed": sorted(watch.executed)}

    def evaluate(
        self,
        spec: Json,
        data: str,
        folder: str,
        history: list[Json],
        node: Json,
        further: Mapping[str, str],
        records: Mapping[str, str | list[str]],
        statements: WatchedStatements,
        **machine: Any,
    ) -> Json:
        """Run an evaluator on a trained model.

        Returns:
            `result` with its scalars and arrays, and the `executed` statements.
        """
        import torch

        build, record = self._of("model.build:build"), self._of("Record")
        watch = Watch(self.root, statements)
        with self._numerics(spec, machine.get("library", True), machine.get("threads", 1)), watch:
            subject = self._subject(spec, data, f"{folder}/weights.safetensors", machine)
            arguments = {name: self._of("Corpus")(Path(path)) for name, path in further.items()}
            for name, files in records.items():
                if isinstance(files, list):
                    arguments[name] = [record.read(Path(file)) for file in files]
                else:
                    arguments[name] = record.read(Path(files))
            torch.manual_seed(0)
            node = {**few(self._of(node["path"])), **node, **arguments}
            evaluator = build(node, history=history, spec=spec)
            scalars, arrays = evaluator(subject)
        return {
            "result": plain({"scalars": scalars, "arrays": arrays}),
            "executed": sorted(watch.executed),
        }

    def _subject(self, spec: Json, data: str, weights: str, machine: Json) -> Any:
        import torch
        from safetensors.torch import load_file

        loop = self._loop()
        corpus = self._of("Corpus")(Path(data))
        model = loop.build_model(spec, corpus)
        values = load_file(weights)
        if machine.get("shake"):
            shaken(values, machine["shake"])
        if "tied" in machine:
            values = zeroed(values, machine["tied"])
        model.load_state_dict(values)
        device = torch.device(self.device)
        return self._of("Subject")(model.to(device).eval(), corpus, device, spec["seed"])

    # The tree

    def _roots(self, name: str) -> tuple[str, ...]:
        identity = importlib.import_module("workflow.planning.identity")
        return tuple(getattr(identity, name))

    def _of(self, path: str) -> Any:
        """What a path names, or the last part of one of the roots of training and measuring."""
        if ":" not in path:
            roots = (*self._roots("TRAINING"), *self._roots("MEASURING"))
            path = next(root for root in roots if root.endswith(f":{path}"))
        module, _, name = path.partition(":")
        return getattr(importlib.import_module(module), name)

    @contextlib.contextmanager
    def _numerics(self, spec: Json, library: bool = True, threads: int = 1) -> Iterator[None]:
        """Set torch up as a spec says; bf16 is used whether the CPU is fast at it or not."""
        import torch

        optimization: Any = importlib.import_module("model.training.optimization")
        engine: Any = torch.backends.mkldnn
        functions: Any = torch._VF
        half = spec["training"]["precision"] == "bf16"
        original = optimization.cpu_has
        native = original("avx512_bf16") or original("amx_bf16")
        optimization.cpu_has = lambda flag: (half and flag == "avx512_bf16") or original(flag)
        random.seed(0)
        before, lstm = engine.enabled, functions.lstm
        try:
            on_gpu = [torch.device(self.device)] if self.device != "cpu" else []
            optimization.set_numerics({**spec["training"], "threads": threads}, *on_gpu)
            engine.enabled = library
            if half and not native:
                functions.lstm = single_lstm(lstm)
            with single_products() if half and not native else contextlib.nullcontext():
                yield
        finally:
            engine.enabled = before
            functions.lstm = lstm
            optimization.cpu_has = original


class _Keeper:
    """Keeps what the loop saves; it has the methods of a `Checkpointer`."""

    def __init__(self) -> None:
        self.state: Any = None
        self.stops: list[int] = []
        self.asked: set[int] = set()
        self.files: Mapping[int, Path] = {}
        self.digests: dict[int, str] = {}
        self.kept: dict[int, Any] = {}
        self.update = 0

    def load(self) -> Any:
        if self.state is not None:
            self.update = self.state["progress"]["update"]
        return self.state

    def save(self, state: Any) -> None:
        import copy

        import torch

        if self.update in self.asked:
            self.digests[self.update] = digest_of(state)
        if self.update in self.files:
            torch.save(state, self.files[self.update])
        if self.update in self.stops:
            self.state = copy.deepcopy(state)

    def due(self) -> bool:
        return self.update in self.asked or self.update in self.files

    def stopping(self) -> bool:
        self.update += 1
        return self.update in self.stops

    def keep(self, update: int, weights: Any) -> None:
        self.kept[update] = weights

    def weights_of(self, update: int) -> Any:
        return self.kept[update]

    def drop(self, update: int) -> None:
        pass

    def record(self, rows: Any) -> None:
        pass


@contextlib.contextmanager
def _interrupted() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "Interrupted":
            raise


def single_lstm(lstm: Callable[..., Any]) -> Callable[..., Any]:
    """An LSTM that computes in fp32 inside autocast, as oneDNN has none in bf16 on some CPUs."""
    import torch

    def computed(values: Any, *others: Any) -> Any:
        if not torch.is_autocast_enabled("cpu"):
            return lstm(values, *others)
        with torch.autocast("cpu", enabled=False):
            return lstm(values.float(), *others)

    return computed


@contextlib.contextmanager
def single_products() -> Iterator[None]:
    """Have products of bf16 matrices computed in fp32 and rounded, which such CPUs do faster."""
    import torch

    aten = torch.library.Library("aten", "IMPL")
    kernels = {
        name: torch.library.get_kernel(f"aten::{name}", "CPU")
        for each in ("mm", "bmm", "addmm", "baddbmm")
        for name in (each, f"{each}.out")
    }

    def single(name: str) -> Callable[..., Any]:
        in_place = name.endswith(".out")
        plain = kernels[name.removesuffix(".out")]

        def computed(keys: Any, *given: Any, **named: Any) -> Any:
            if given[0].dtype != torch.bfloat16:
                return kernels[name].call_boxed(keys, *given, **named)
            out = named.pop("out") if in_place else None
            wide = (one.float() if isinstance(one, torch.Tensor) else one for one in given)
            product = plain.call_boxed(keys, *wide, **named).bfloat16()
            return product if out is None else out.copy_(product)

        return computed

    try:
        with warnings.catch_warnings(action="ignore"):
            for name in kernels:
                aten.impl(name, single(name), "CPU", with_keyset=True, allow_override=True)
        yield
    finally:
        aten._destroy()


def few(part: Callable[..., Any]) -> Json:
    """Return the arguments by which an evaluator times little, where it is not told how often."""
    known = inspect.signature(part).parameters
    return {name: times for name, times in TIMED.items() if name in known}


def shaken(weights: Any, seed: int) -> None:
    """Change weights at random by a rounding, in place."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    for name in sorted(weights):
        value = weights[name]
        if value.is_floating_point():
            signs = torch.randint(0, 2, value.shape, generator=generator).to(value) * 2 - 1
            value.mul_(1 + ULP * signs)


def zeroed(weights: Mapping[str, Tensor], named: str) -> dict[str, Tensor]:
    """Weights of which those are 0 whose name contains a text; what is not floating stays."""
    return {
        name: value.new_zeros(value.shape) if named in name and value.is_floating_point() else value
        for name, value in weights.items()
    }


def digest_of(value: Any) -> str:
    """A digest of all numbers of a state, the clock left out."""
    import hashlib

    total = hashlib.blake2b(digest_size=16)
    for name, leaf in leaves(value):
        total.update(name.encode())
        total.update(leaf_bytes(leaf))
    return total.hexdigest()


def leaf_bytes(leaf: Any) -> Any:
    """The bytes of a tensor, or the text of another value."""
    import torch

    if isinstance(leaf, torch.Tensor):
        return leaf.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return repr(leaf).encode()


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every number, text and tensor of nested values, with its place; the clock left out."""
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            if key not in CLOCKS:
                yield from leaves(value[key], f"{name}/{key}")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from leaves(item, f"{name}/{place}")
    else:
        yield name, value


def plain(value: Any) -> Any:
    """A value as JSON can hold it; NaN and infinities as texts."""
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def main() -> None:
    """Answer requests until the input ends."""
    root, work, device = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the code of a tree prints is no answer
    side = ProofSide(root, work, device)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": getattr(side, request.pop("do"))(**request)}
        except Exception as error:
            text = "".join(traceback.format_exception(error))
            answer = {"error": f"{type(error).__name__}: {error}", "traceback": text}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
