# SPDX-License-Identifier: Apache-2.0
"""Common parts of all kinds of campaigns: tasks, plans, and errors."""
import dataclasses
import shlex


class Cannot(Exception):
    """The campaign cannot be run, or cannot go on. The text says what, where and what to do."""


class Usage(Exception):
    """A mistake on the command line. The text is a message for the user."""


class Wrong(Exception):
    """A task's output is not a result. The text says why."""


@dataclasses.dataclass(frozen=True)
class Task:
    """One command on the archive. The result depends on nothing but these fields and the archive's files."""
    name: str               # The key of its result. No two tasks of a campaign have one name.
    argv: tuple             # The first word is a file of the tree, unless there is a root. {scratch}: an empty folder;
                            # {tree}: the tree; {jobs}: 1, the processes that it may begin.
    weight: float = 1       # The share of the campaign's work, in the plan's unit.
    good: tuple = (0,)      # Exit statuses with which the output is a result; empty: any.
    env: tuple = ()         # (name, value) of variables that are set for it.
    collect: tuple = ()     # Patterns of files that are sent back: in the scratch folder, or in the tree at the root.
    root: str = ""          # The tree is unpacked anew for the task, and is seen at this path; empty: it is shared.
    again: tuple = ()       # The command that repeats it in the source tree; empty: argv.

    def repeat(self):
        """Returns the command that repeats the task, typed in the source tree."""
        words = [w.replace("{scratch}", "build/verify").replace("{jobs}", "1") for w in self.again or self.argv]
        return shlex.join([*(["env"] if self.env else []), *(f"{n}={v}" for n, v in self.env), *words])


@dataclasses.dataclass
class Plan:
    """A campaign. parameters: all that distinguishes it from others of its kind, for its folder's name. files: paths of
    the archive, by their place in it. read(task, Output) -> dict: the result; raises Wrong. total(results) -> Total, of
    the results by task name."""
    kind: str
    parameters: dict
    tasks: list
    files: dict
    unit: str
    read: object
    total: object
    probes: tuple = ()      # Commands that must end with status 0 on a worker before it gets tasks.
    kept: object = None     # kept(task, result, files): called after a result has been written.
    found: object = None    # found(result) -> int: how many differences a result has, for stop_after.
    stop_after: int = 0     # No task is begun after so many differences; 0: all are.
    shared: bool = True     # The tasks of a machine share one unpacked tree: none has a root.
    page: object = None     # page(results) -> HTML: a page of the kind's own, or None.
    coverage: bool = False  # Files coverage/* of a task are counts of coverage.


@dataclasses.dataclass(frozen=True)
class Output:
    """What a task's command left. status: the exit status; seconds: of the wall clock."""
    status: int
    out: str
    err: str
    files: dict
    seconds: float


@dataclasses.dataclass
class Total:
    """The sum of a campaign. lines: sentences for the terminal; tables: (title, head, rows) for the page; status: the
    exit status if all tasks have a result."""
    lines: list
    tables: list
    status: int = 0
