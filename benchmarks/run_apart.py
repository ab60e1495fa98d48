"""Runs commands for paired.py: a JSON line in, a JSON line out.

A process counts, as its own peak of memory, that of the process that started it, so this one
imports next to nothing.
"""

import json
import os
import sys
import time

QUIET = os.open(os.devnull, os.O_RDWR)
ACTIONS = [(os.POSIX_SPAWN_DUP2, QUIET, number) for number in (0, 1, 2)]

for line in sys.stdin:
    words, folder, environment = json.loads(line)
    os.chdir(folder)
    begun = time.perf_counter()
    child = os.posix_spawn(words[0], words, environment, file_actions=ACTIONS)
    _, status, usage = os.wait4(child, 0)
    clock = time.perf_counter() - begun
    code = os.waitstatus_to_exitcode(status)
    processor = usage.ru_utime + usage.ru_stime
    print(json.dumps([code, processor, clock, usage.ru_maxrss / 1024]), flush=True)
