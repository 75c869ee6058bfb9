"""A name and its uses in, the loader, or the loaders, that it stands for out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import Instance, Seq, Table, Value
from syncguard.pack.places import Places

KEYED: Final = frozenset(("items", "keys", "values", "get"))  # what a dict is asked for


def loaders_of(name: str, uses: frozenset[str], loader: Instance, places: Places) -> Value | None:
    """A loader, or several of them: `dataloaders[phase]`."""
    if places.is_("names", "several_loaders", name):
        return Table({}, loader) if uses & KEYED else Seq("list", None, loader)
    return loader if places.is_("names", "loaders", name) else None
