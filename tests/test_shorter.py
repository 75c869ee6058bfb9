from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import pack
from syncguard.pack.pages import examples
from syncguard.show.shorter import shorter

PAGE = """What it is.

## Caught
Words.
### one
```python
## no title
### nor this
```

### two
```python
x
```

### three
text
## Limits
- a limit
"""


def test_the_first_example_of_each_section_stays_and_the_others_are_named():
    assert shorter(PAGE) == (
        "What it is.\n\n## Caught\nWords.\n### one\n```python\n## no title\n### nor this\n```\n\n"
        "And 2 more: two; three.\n\n## Limits\n- a limit\n"
    )


def test_a_page_without_examples_is_as_it_is():
    assert shorter("a\n## b\nc") == "a\n## b\nc"


@pytest.mark.parametrize("rule", [rule for rule in pack.load().rules if rule.path], ids=lambda rule: rule.name)
def test_every_page_keeps_one_example_of_each_section(rule):
    page = Path(rule.path).read_text("utf-8")
    sections = [one.section for one in examples(page)]
    assert [one.section for one in examples(shorter(page))] == list(dict.fromkeys(sections))


def test_explain_shows_the_whole_page_when_asked(ran):
    short, whole = (ran("explain", "SG201", *more)[1] for more in ((), ("--all",)))
    assert short.endswith("\n`syncguard explain SG201 --all` shows every example.\n")
    assert "### conditions" in whole
    assert "### conditions" not in short
    assert "conditions; " in short
    assert "shows every example" not in whole
