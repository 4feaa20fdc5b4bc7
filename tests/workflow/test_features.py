"""Features of images that a person replaces or removes: what runs again, by the real Snakemake."""

import os
import shutil

import numpy as np
import yaml

from workflow.datasets.kinds.captioned_images import FEATURES
from workflow.datasets.kinds.recipe import complete
from workflow.planning.identity import data_folder

INDEX = f"results/data/features/coco/{FEATURES}"
DATA = {"dataset": "coco", "regions": 3}


def test_replaced_features_are_encoded_again_and_removed_ones_are_not_missed(fresh):
    papers = fresh.root / "workflow/papers/toy/experiments.yaml"
    listed = yaml.safe_load(papers.read_text())
    listed["experiments"]["toy_pictures"] = listed["experiments"]["toy_language"] | {"data": DATA}
    papers.write_text(yaml.safe_dump(listed))
    features = fresh.root / "results/data/manual/coco/features"
    features.mkdir(parents=True)
    np.save(features / "11.npy", np.zeros((2, 4)))
    fresh.snakemake(INDEX)
    data = fresh.root / "results/data" / data_folder(complete(DATA))
    archive = fresh.root / "results/data/sources/coco/caption_datasets.zip"
    archive.parent.mkdir(parents=True)
    for file in (archive, archive.with_name(f"{archive.name}.origin.json")):
        file.write_text("as if fetched")
    for folder in (data / "prepared", data / "encoded"):
        folder.mkdir(parents=True)
    encoded = str((data / "encoded").relative_to(fresh.root))
    assert fresh.plan(encoded).jobs == []

    np.save(features / "11.npy", np.ones((2, 4)))
    os.utime(features / "11.npy", ns=(0, (features / "11.npy").stat().st_mtime_ns + 10**9))
    assert fresh.plan(encoded).jobs == ["encode", "index_features", "prepare"]

    shutil.rmtree(features)
    assert fresh.plan(encoded).jobs == []
