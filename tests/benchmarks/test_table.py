"""The page of the benchmarks' results."""

from benchmarks.table import page

MACHINE = {"cpu": "A", "family": "1", "model": "2", "cores": 3, "torch": "4", "python": "5"}


def row(times, tokens=1234.5):
    return {
        "tokens_per_cpu_second": tokens,
        "relative_cpu_time": sorted(times)[1],
        "relative_cpu_time_of_rounds": times,
    }


def test_ours_counts_in_multiples_of_torch_and_a_mechanism_of_softmax():
    ours = {"ours": row([1, 1, 1]), "torch, default": row([2, 4, 3]), "torch, fast": row([1, 2, 1])}
    mechanisms = {"softmax": row([1, 1, 1]), "top-k": row([1.25, 2, 1])}
    shared = {"shape": "small", "machine": MACHINE}
    text = page(
        {
            "b": shared | {"task": "decode", "beam": 4, "contenders": ours},
            "a": shared | {"task": "train", "contenders": ours},
            "m": shared | {"task": "mechanisms", "contenders": mechanisms},
        }
    )
    numbers = "1,234 | 3.00 (2.00 to 4.00) | 1.00 (1.00 to 2.00) |"
    assert f"| small | training | {numbers}\n| small | search, beam 4 | {numbers}\n" in text
    assert "| small | top-k | 0.80 (0.50 to 1.00) |\n" in text
    assert text.endswith("\n\nMeasured on A (family 1, model 2, 3 cores), torch 4, Python 5.\n")
