"""What tests share: a command line, a browser; and what one sets for the whole process, the next does not see."""

from __future__ import annotations

import compileall
import gc
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from syncguard.read.project import forget

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage""".split()


# Each worker has a core, and so has each program that a test starts: threads that wait for one another take its time.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config):
    """Hundreds of tests start a Python; where none may keep what it compiled, each would compile us again. Some of them
    are sent Ctrl-C, which all that a shell runs in the background would ignore."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(__file__).parent.parent / "syncguard", quiet=2)


def pytest_collection_finish():
    """What is there by now stays: no collection need walk all of torch."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Each worker goes through one half of the files, so that what a file's tests share is made once."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The folder of a project with a package `p`, where no earlier import is remembered."""
    monkeypatch.chdir(tmp_path)
    forget()
    Path("pyproject.toml").write_text("[project]\nname = 'p'\n")
    Path("p").mkdir()
    yield tmp_path
    forget()


@pytest.fixture(autouse=True)
def default_validation():
    """Programs of the pages switch off the validation of distributions for good."""
    yield
    if "torch.distributions" in sys.modules:
        sys.modules["torch.distributions"].Distribution.set_default_validate_args(__debug__)


@pytest.fixture
def ran(capsys):
    """Runs a command line: exit code, standard output, standard error."""
    from syncguard.cli.main import run

    def ran(*args: str) -> tuple[int, str, str]:
        code = run([*args])
        out, err = capsys.readouterr()
        return code, out, err

    return ran


@pytest.fixture
def simulation():
    """A simulated device, with what it told under `told`."""
    from syncguard import pack
    from syncguard.observe.simulate import Simulation

    told = []
    made = Simulation(pack.load(), told.append)
    made.told = told
    with made:
        yield made


@pytest.fixture
def seen(simulation):
    """What a simulated device told, inside it."""
    return simulation.told


@pytest.fixture(scope="module")
def browser(request, tmp_path_factory):
    """A Chromium, with the module's own BROWSER_FLAGS, that tells what it logs and fetches."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="the browser test needs selenium")
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not chromium or not driver:  # Debian: chromium, chromium-driver
        pytest.skip("the browser test needs Chromium and ChromeDriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, *getattr(request.module, "BROWSER_FLAGS", ())):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    env = os.environ | {"TMPDIR": str(tmp_path_factory.mktemp("browser"))}  # it leaves a folder there
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver, env=env))
    yield started
    started.quit()
