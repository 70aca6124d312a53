#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terminal.py SCRIPT CMD...: CMD at a terminal of its own, with somebody who types.

SCRIPT is a list of `TEXT:KEYS`: when TEXT has been seen since the last keys, KEYS are typed
(`^C`, `^Z` and `^\\\\` are the keys of these names, `\\n` is Enter, `\\t` Tab). What the terminal showed
is printed; exits as CMD did, 128 + N for signal N. Nothing for 60 s: 99.
"""

import os
import pty
import select
import sys

KEYS = {"^C": b"\x03", "^Z": b"\x1a", "^\\": b"\x1c"}


def keys_of(text):
    return KEYS.get(text) or text.replace("\\n", "\n").replace("\\t", "\t").encode()


def main():
    script = [line.split(":", 1) for line in sys.argv[1].split("|")]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    shown, since = b"", b""
    while True:
        if not select.select([terminal], [], [], 60)[0]:
            os.kill(pid, 9)
            print(shown.decode(errors="replace"))
            sys.exit(99)
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the last one with the terminal open has gone
            data = b""
        if not data:
            break
        shown, since = shown + data, since + data
        if script and script[0][0].encode() in since:
            os.write(terminal, keys_of(script.pop(0)[1]))
            since = b""
    print(shown.decode(errors="replace").replace("\r", ""), end="")
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
