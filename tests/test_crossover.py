"""`syncguard crossover`: what it measures, what it says, and that it measures nothing where there is no GPU."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")

from syncguard.cli.main import group  # noqa: E402
from syncguard.observe.crossover import Crossover, Point, Unmeasurable, function_of, made, moved, point  # noqa: E402
from syncguard.show.crossover import crossover as shown  # noqa: E402
from syncguard.show.look import Look  # noqa: E402


def points(*pairs: tuple[float, float]) -> tuple[Point, ...]:
    return tuple(Point(16 * 2**n, host, host / 2, there) for n, (host, there) in enumerate(pairs))


@pytest.mark.parametrize(
    ("pairs", "at"),
    [
        ([(1, 2), (2, 2.5), (4, 3), (8, 4)], 64),
        ([(2, 1), (4, 2)], 16),
        ([(1, 2), (2, 4)], 0),
        ([(1, 2), (3, 2), (3, 4), (9, 5)], 128),  # faster once is not faster for good
    ],
)
def test_the_crossover_is_where_the_device_stays_faster(pairs, at):
    assert Crossover("f", "d", points(*pairs)).at == at


def test_both_sides_are_timed_on_the_same_values():
    seen = []

    def call(x):
        seen.append((tuple(x.shape), float(x.sum())))
        return x.sort()

    found = point(call, made(8, "n,2", "float64"), 8, "call", device="cpu")
    assert found.size == 8
    assert min(found.host_ms, found.device_ms) > 0
    assert len(set(seen)) == 1
    assert seen[0][0] == (8, 2)


def test_results_are_moved_whole():
    first, (second, number) = moved((torch.ones(2), [torch.ones(1), 3]), "cpu")
    assert (first.device.type, second.device.type, number) == ("cpu", "cpu", 3)


def test_functions_are_found_by_name():
    assert function_of("torch.linalg.qr") is torch.linalg.qr
    assert function_of("torch.nn.functional.gelu") is torch.nn.functional.gelu


@pytest.mark.parametrize(
    ("name", "said"),
    [("torch.linalg.qrr", "`qrr` is not in"), ("nowhere.f", "No module"), ("torch.float32", "not a function")],
)
def test_what_is_no_function_is_said(name, said):
    with pytest.raises(Unmeasurable, match=said):
        function_of(name)


def test_a_function_that_takes_no_such_tensor_is_said():
    with pytest.raises(Unmeasurable, match=r"cholesky with \(2, 3\)"):
        point(torch.linalg.cholesky, torch.ones(2, 3), 2, "torch.linalg.cholesky", device="cpu")


@pytest.mark.parametrize(
    ("at", "sentence"),
    [(64, "from size 64 on"), (16, "no reason to go to the host"), (0, "at no size here")],
)
def test_the_plot_has_a_line_for_each_size_and_says_the_crossover(at, sentence):
    data = [(p.size, p.host_ms, p.copies_ms, p.device_ms) for p in points((1, 20), (10, 20), (400, 40))]
    lines = [*shown("torch.linalg.qr", "GPU", data, at, Look())]
    assert sentence in lines[-1]
    rows = lines[2:-1]
    assert [row.split()[0] for row in rows] == ["16", "32", "64"]
    assert all({"h", "d"} <= set(row) for row in rows)
    assert rows[0].rindex("h") < rows[0].rindex("d")
    assert rows[2].rindex("h") > rows[2].rindex("d")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so_and_measures_nothing():
    done = CliRunner().invoke(group, ["crossover", "torch.linalg.qr"])
    assert done.exit_code == 1
    assert (
        done.output == "Error: there is no GPU that torch can use here, and a crossover is measured or it is nothing\n"
    )


def test_simulate_says_that_it_cannot_measure():
    done = CliRunner().invoke(group, ["crossover", "torch.linalg.qr", "--simulate", "--sizes", "8,16"])
    assert done.exit_code == 0
    assert "Nothing was measured" in done.output


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["torch.linalg.qr", "--sizes", "a"], "no list of numbers"),
        (["torch.linalg.qr", "--sizes", "0"], "at least 1"),
        (["torch.linalg.qr", "--simulate", "--shape", "n,m"], "no shape"),
        (["torch.nope", "--simulate"], "is not in torch"),
        (["nowhere.qr", "--simulate"], "No module named 'nowhere'"),
        (["torch.linalg.qr", "--sizes", "-4"], "at least 1"),
        (["torch.linalg.qr", "--sizes", ""], "no list of numbers"),
        (["torch.linalg.qr", "--sizes", "1.5"], "no list of numbers"),
        (["torch.linalg.qr", "--sizes", "16,100000000", "--simulate"], "size 100000000 is too large"),
        (["torch.linalg.qr", "--shape", "n,-2", "--simulate"], "a side is not negative"),
        (["torch.linalg.solve", "--simulate"], "torch.linalg.solve with (16, 16): TypeError: linalg_solve() missing"),
        (["torch.linalg.cholesky", "--simulate", "--shape", "n,3"], "must be batches of square matrices"),
    ],
)
def test_bad_input_is_one_line(args, said):
    done = CliRunner().invoke(group, ["crossover", *args])
    assert done.exit_code != 0
    assert said in done.output
    assert "Traceback" not in done.output
    assert len([line for line in done.output.splitlines() if line.startswith("Error")]) == 1
