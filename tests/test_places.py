"""Names against the patterns of places.toml: the same as fnmatch says, only sooner."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from syncguard import pack
from syncguard.pack.places import matches

LETTERS = "ab._*?["
NAMES = st.text("ab._", max_size=5)


@given(st.lists(st.text(LETTERS, max_size=5), max_size=4), NAMES)
def test_a_pattern_matches_what_a_shell_would(patterns: list[str], name: str) -> None:
    assert matches(tuple(patterns), name) == any(fnmatchcase(name, pattern) for pattern in patterns)


def test_every_list_matches_its_own_names() -> None:
    for tables in pack.load().places.tables.values():
        for patterns in tables.values():
            for pattern in patterns:
                name = pattern.replace("*", "x")
                assert matches(patterns, name) == any(fnmatchcase(name, one) for one in patterns)
                assert fnmatchcase(name, pattern) <= matches(patterns, name)
