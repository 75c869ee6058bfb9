"""Definitions in, routines, classes and instances out; what is assigned to attributes is learnt."""

from __future__ import annotations

from collections.abc import Sequence

from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.contents import any_on_device, holds_object, taken_along, without
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Call,
    ClassOf,
    Host,
    Instance,
    Tensor,
    Union,
    Unknown,
    Value,
    options,
)
from syncguard.infer.functions.annotations import promised
from syncguard.infer.functions.hosts import compiler, host_reason, prepares
from syncguard.infer.functions.on_cpu import on_cpu
from syncguard.infer.functions.outcomes import Outcomes
from syncguard.infer.functions.placing import on_host
from syncguard.infer.routine import Env, Frame, Routine
from syncguard.infer.statements.declaring import ask_defaults
from syncguard.infer.statements.execute import run
from syncguard.read import core
from syncguard.read.tags import ATTR, BIND, FUNCTION, MODULE, NAME


class Definitions(Outcomes):
    """The part of the world that defines: functions, classes, and what their instances hold."""

    def storing(self, info: ClassInfo, name: str) -> Sequence[Routine]:
        raise NotImplementedError

    def hosted(self, routine: Routine) -> str:
        """Why a routine's tensors are on the host; '' where nothing says so."""
        return on_cpu(routine, self) or host_reason(routine, self)

    def routine(self, node: core.Function, frame: Frame, owner: ClassInfo | None) -> Routine:
        """The routine of a def. In the file that is checked it is the same one each time that the def is run; in a
        function of another file, which is run for each caller, each run makes its own, as it is in Python."""
        home = frame.home
        closure: tuple[Env, ...] = (
            () if frame.env is home.env or type(frame.routine.node) is MODULE else (frame.env, *frame.outer)
        )
        known = home.made.get(id(node))
        if known is None:
            known = Routine(node, home, owner or (frame.routine.owner if closure else None), node.qualname)
            known.host = self.hosted(known) or (frame.routine.host if closure else "")
            known.kernel = bool(compiler(known, self)) or (frame.routine.kernel and bool(closure))
            home.made[id(node)] = known
            home.routines.append(known)
        if not closure:
            return known
        if home.own:
            known.closure = closure
            return known
        found = frame.nested.get(id(node))
        if found is None:
            found = frame.nested[id(node)] = known.made_anew()
        found.closure = closure
        return found

    def define(self, node: core.Class, frame: Frame) -> Value:
        """Run a class statement."""
        from syncguard.infer.expressions.evaluate import value_of

        known = frame.home.infos.get(id(node))
        if known is not None:
            return ClassOf(known)
        # Of a base that is one of several, as where an import may fail, each may be the one.
        bases = [option for base in node.bases for option in options(value_of(base, frame))]
        for _, keyword in node.keywords:
            value_of(keyword, frame)
        info = ClassInfo(node, frame.home, bases, frame.world)
        for base in info.mro:
            if not base.home.own:
                frame.routine.uses[base.home.path, ""] = None
        frame.home.infos[id(node)] = info
        frame.home.classes.append(info)
        inner = Frame(frame.world, frame.routine, info.members)
        inner.outer = (frame.env, *frame.outer)
        inner.context = frame.context
        for statement in node.body:
            if type(statement) is FUNCTION:
                routine = self.routine(statement, inner, info)
                routine.owner = info
                if not (
                    statement.name in info.members
                    and any(type(d) is ATTR and d.name in ("setter", "deleter") for d in statement.decorators)
                ):
                    info.members[statement.name] = Call(routine)
                ask_defaults(statement, inner)
                for decorator in statement.decorators:
                    value_of(decorator, inner)
            else:
                run((statement,), inner)
                if type(statement) is BIND:
                    self.declare(statement, info, inner)
        info.settle()
        if info.promises and prepares(info, self):
            info.promises = {name: on_host(held, frame.why("placed", node.at)) for name, held in info.promises.items()}
        for routine in (*frame.home.routines, *inner.nested.values()):
            if routine.owner is info:
                routine.host = self.hosted(routine)
        return ClassOf(info)

    def resets(self, info: ClassInfo) -> bool:
        """Whether a method of a class says where factories build: what others make may be anywhere."""
        if info.resets is None:
            setters = self.places.tables["names"]["default_setters"]
            methods = [part for part in info.node.body if type(part) is FUNCTION]
            info.resets = any(not asked.isdisjoint(setters) for method in methods for asked in method.uses.values())
        return info.resets

    def declare(self, node: core.Bind, info: ClassInfo, frame: Frame) -> None:
        """`x: Tensor = None` in the body of a class says what its instances will hold."""
        target = node.targets[0]
        if node.annotation is not None and type(target) is NAME and info.members.get(target.id) is NONE:
            declared = without(promised(node.annotation, frame, self.place(frame.routine)), lambda o: o is NONE)
            # Of several kinds we would know too little; a number may well be a tensor that the code asks for.
            if type(declared) not in (Unknown, Union, Host):
                info.promises[target.id] = declared

    def copied(self, instance: Value, keywords: dict[str, Value], frame: Frame) -> Value:
        """A copy of an instance with other values in some of its fields."""
        if type(instance) is Instance and instance.info is not None:
            for name, value in keywords.items():
                if value is not UNKNOWN and name != "**":
                    self.learn(instance.info, name, value, frame)
        return instance

    def learn(self, info: ClassInfo, name: str, value: Value, frame: Frame) -> None:
        """An attribute was assigned; what only this caller assigns is nothing that all who import the class may see,
        and of an interface count the methods that are run whenever the attribute is asked for."""
        if info.home.own:
            if frame.home.own or name not in info.handed:
                self.look_again(info.learn(name, value))
        elif frame.home.own:
            self.look_again(info.lend(name, value))
            self.anew.add((info, name))
        elif self.teaches and frame.routine in self.storing(info, name):
            info.learn(name, value)
        elif any_on_device([value]) or holds_object(value):
            self.keeps.append((info, name, value))

    def register(
        self, info: ClassInfo, name: str, args: list[Value], keywords: dict[str, Value], at: core.At, frame: Frame
    ) -> Value:
        """register_buffer and its kin: the attribute is a tensor or None, and moves with the module."""
        given = [keywords[name] for name in ("tensor", "param") if name in keywords]
        value = args[1] if len(args) > 1 else given[0] if given else UNKNOWN
        if value is NONE:
            moved: list[Value] = [NONE]
        else:
            tensors = [option for option in options(value) if type(option) is Tensor]
            moved = [taken_along(tensor) for tensor in tensors]
            moved = moved or [Tensor(sure=False, why=frame.why("registered", at))]
        self.learn(info, name, moved[0] if len(moved) == 1 else Union(tuple(moved)), frame)
        return NONE
