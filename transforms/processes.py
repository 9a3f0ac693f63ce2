"""Which process is which: ids come again, after a restart and in containers, so an id alone names no process."""

import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_ENDED = "ZX"
"""States of a process that has ended and whose parent has not asked for it yet (proc_pid_stat(5))."""


def identity(pid: int) -> str | None:
    """What tells a process of this host from all others that have, had or will have its id; null where it is dead.

    Empty where the process lives and the system does not say more of it.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:  # another user's
        pass
    try:
        # The name in brackets may hold anything; behind it stand the state and, as the 20th, the start in clock ticks.
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = _BOOT.read_text().strip()
    except OSError:
        return ""
    return None if state in _ENDED else f"{boot}/{fields[18]}"
