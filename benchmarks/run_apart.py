"""Run commands for paired.py: a JSON line on stdin, a JSON line on stdout each.

The peak memory of a new process includes that of its parent at the start, so this parent
imports very little.
"""

import json
import os
import sys
import time

QUIET = os.open(os.devnull, os.O_RDWR)
ACTIONS = [(os.POSIX_SPAWN_DUP2, QUIET, number) for number in (0, 1, 2)]

for line in sys.stdin:
    arguments, folder, environment = json.loads(line)
    os.chdir(folder)
    started = time.perf_counter()
    child = os.posix_spawn(arguments[0], arguments, environment, file_actions=ACTIONS)
    _, status, usage = os.wait4(child, 0)
    clock = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    processor = usage.ru_utime + usage.ru_stime
    print(json.dumps([code, processor, clock, usage.ru_maxrss / 1024]), flush=True)
