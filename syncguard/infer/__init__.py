"""Core in, syncs out: the files of a project are interpreted without being run. `project` is the door."""
