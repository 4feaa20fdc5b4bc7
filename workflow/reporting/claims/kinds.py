"""What kind of claim is decided: on the paper's setting, on shorter training, on other data."""

from collections.abc import Mapping
from typing import Any

from workflow.planning.departures import Departure, Departures

BY_DEPARTURE: dict[Departure, str] = {
    "none": "the paper's setting",
    "shorter": "the paper's data, shorter training",
    "other data": "smaller or other data",
    "absent": "data absent",
}
READING = "another reading"
KINDS = (*list(BY_DEPARTURE.values())[:-1], READING, BY_DEPARTURE["absent"])
"""In the order in which they are counted."""


def kind_of(claim: Mapping[str, Any], departures: Departures) -> str:
    """Return the kind of a claim, one of `KINDS`: what the scales tell, else what it states."""
    variants = [claim[side]["variant"] for side in ("left", "right") if "variant" in claim[side]]
    found = departures.of(claim["experiment"], variants)
    stated = str(claim.get("kind", ""))
    return stated if stated and found != "absent" else BY_DEPARTURE[found]
