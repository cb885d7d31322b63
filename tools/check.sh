#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Does what README.rst tells a newcomer to do: runs the tests, then the demo.
# At the end stands once more what failed, and the last line is "N passed, N
# failed": tests, the demo's promises, and the linter as one.
set -u
cd "$(dirname "$0")/.." || exit 1

# The two lines of README.rst, word for word.
run_tests() {
    python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox -e pep8,all
}

tell_story() {
    python3 -m venv .venv && .venv/bin/pip install tox && .venv/bin/tox -e demo
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

run_tests 2>&1 | tee "$log"
tests=${PIPESTATUS[0]}
tell_story 2>&1 | tee -a "$log"
demo=${PIPESTATUS[0]}
story=0
if command -v chromium chromium-browser google-chrome >/dev/null; then
    .venv/bin/tox -e dashboard -- test_short_story 2>&1 | tee -a "$log"
    story=${PIPESTATUS[0]}
else
    echo 'No browser here (README.rst names one): the dashboard was not tried.'
fi

count() { awk -v name=" - $1:" 'index($0, name) == 1 { sum += $NF } END { print sum + 0 }' "$log"; }
passed=$(count Passed)
failed=$(count Failed)
promises=$(sed -n 's/^All as promised: \([0-9]*\) of .*/\1/p' "$log")
passed=$((passed + ${promises:-0}))
grep -q 'pep8: OK' "$log" && passed=$((passed + 1))
# A command that failed without a failed test counts too.
[ "$tests" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
[ "$demo" -ne 0 ] && failed=$((failed + 1))
[ "$story" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1

# What failed, and with which error, where it is seen last; then the linters.
awk '
    BEGIN { shown = 9 }
    /\.\.\. FAILED$/ { print; shown = 0; next }
    /\.\.\. ok$/ { shown = 9 }
    /^ *[A-Za-z_.]+(Error|Exception|Mismatch|Timeout|Exceeded|Refused)(:|$)/ && shown < 2 {
        print substr($0, 1, 400)
        shown++
    }' "$log"
grep -q 'pep8: FAIL' "$log" &&
    sed -n '/^pep8: commands/,/^pep8: FAIL/p' "$log"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
