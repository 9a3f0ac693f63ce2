"""Python imports this first where its folder is on PYTHONPATH: a process that dies, or stops, at a point it was told.

``THINKLEDGER_DIE_AT`` is ``EVENT GLOB COUNT [SIGNAL]``: an audit event of Python (``open``, ``os.rename``,
``os.remove``, ``shutil.rmtree``), a pattern of the path that it concerns (what is renamed: its new name), which such
event, and the signal, SIGKILL unless given. The event itself does not come about. The signal goes to the whole process
group, so that a worker takes its launcher along; SIGSTOP stops only the process itself.
"""

import os
import signal
import sys
from fnmatch import fnmatchcase
from itertools import count


def _install(event: str, pattern: str, at: int, sent: signal.Signals) -> None:
    number = count(1)

    def hook(name: str, arguments: tuple[object, ...]) -> None:
        if name != event:
            return
        path = arguments[1 if event == "os.rename" else 0]
        if fnmatchcase(str(path), pattern) and next(number) == at:
            os.kill(os.getpid() if sent == signal.SIGSTOP else 0, sent)

    sys.addaudithook(hook)


if "THINKLEDGER_DIE_AT" in os.environ:
    _event, _pattern, _at, *_signal = os.environ["THINKLEDGER_DIE_AT"].split()
    _install(_event, _pattern, int(_at), signal.Signals[_signal[0] if _signal else "SIGKILL"])
