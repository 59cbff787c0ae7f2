"""The process from its first moment."""

import signal
import subprocess
import sys


def test_a_signal_while_the_program_is_still_being_loaded_ends_it_with_0() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "adapter", "--no-such-flag"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert any("adapter.errors" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        assert "unknown flag" not in process.stderr.read()
        assert process.wait() == 0
