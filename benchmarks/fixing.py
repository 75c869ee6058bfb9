"""The material in, the lines of a section out: what fixes cost, and in proportion to what."""

from __future__ import annotations

import sys

import material
from measure import exponent, worker
from parts import Plan

SETS = (20, 40, 80, 160, 300)


def fixing(plan: Plan) -> list[str]:
    """The check with and without looking for fixes, on ever more of the model files, and making the fixes."""
    table = [
        (
            "| files | functions | of them with findings | check s | with fixes s | looking for fixes s "
            "| ms per function with findings | fixes found | `--fix --unsafe-fixes` s | made |"
        ),
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    points: list[tuple[float, float]] = []
    for size in [size for size in SETS if size <= plan.files]:
        files = material.models(plan.transformers, size)
        print(f"fixes in {size} files", file=sys.stderr, flush=True)
        told = worker("fix", files)
        extra = max(told["looked"] - told["cpu"], 1e-9)
        points.append((told["places"], extra))
        table.append(
            f"| {len(files)} | {told['functions']:,} | {told['places']:,} | {told['cpu']:.2f} | {told['looked']:.2f} "
            f"| {extra:.2f} | {1000 * extra / max(told['places'], 1):.1f} | {told['fixes']:,} | {told['fixed']:.2f} "
            f"| {told['made']:,} |"
        )
    slope = f"{exponent(points):.2f}" if len(points) > 1 else "not known from one size"
    return [
        "`transformers/models/*/modeling_*.py`, the first by name. Processor time in process, one core, modules",
        "imported and rules compiled. *Looking for fixes* is the check that proposes a fix for each finding, less the",
        "check that does not; each is the quicker of two. Making the fixes checks changed files again until nothing is",
        "left to do.",
        "",
        *table,
        "",
        f"What looking costs grows as the functions with findings to the power of **{slope}**: a function without",
        "findings is not parsed a second time.",
    ]
