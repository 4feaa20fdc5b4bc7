"""Property tests judge what is computed, never how fast: the machine may be busy.

A property is tried on 50 examples; where one is dear or rare, the test says another number.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "any machine",
    settings(),
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")
