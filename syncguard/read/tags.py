"""The kinds of core, to ask a piece for its own: compiled code has them at hand, `core.Name` is looked up twice."""

from __future__ import annotations

from typing import Final

from syncguard.read import core

CONST: Final = core.Const
NAME: Final = core.Name
ATTR: Final = core.Attr
INDEX: Final = core.Index
SLICE: Final = core.Slice
CALL: Final = core.Call
DO: Final = core.Do
EITHER: Final = core.Either
CHOOSE: Final = core.Choose
SEQ: Final = core.Seq
MAP: Final = core.Map
COMP: Final = core.Comp
LET: Final = core.Let
BIND: Final = core.Bind
UPDATE: Final = core.Update
RUN: Final = core.Run
IF: Final = core.If
LOOP: Final = core.Loop
TRY: Final = core.Try
WITH: Final = core.With
LEAVE: Final = core.Leave
CHECK: Final = core.Check
BRING: Final = core.Bring
PARAM: Final = core.Param
FUNCTION: Final = core.Function
CLASS: Final = core.Class
MODULE: Final = core.Module
