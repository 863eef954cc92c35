"""The supervisor itself, without a service."""

import subprocess
import sys

# In a process of its own: children are forked from one that has no threads.
SCRIPT = """
import signal, time
from paraph.cli.supervisor import Child, Supervisor

def ends_in_a_second():
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    while not ended:
        time.sleep(0.05)
    time.sleep(1)

supervisor = Supervisor([Child("web", lambda: time.sleep(60), 15), Child("worker", ends_in_a_second, 15)], lambda: None)
with supervisor.listening():
    began = time.monotonic()
    supervisor.run(until=lambda: time.monotonic() - began > 1)
    used, began = time.process_time(), time.monotonic()
    supervisor.stop()
print(time.monotonic() - began, time.process_time() - used)
"""


def test_who_waits_for_the_last_child_uses_no_processor_meanwhile() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    waited, used = map(float, done.stdout.split()[-2:])
    assert waited >= 1
    assert used < 0.05
