"""The recipes, one a module, named by the change; `recipe.py` says how to write one."""
