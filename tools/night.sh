#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Run everything that takes long, one suite after the other:
#
#     tools/night.sh
#     tools/night.sh SUITE [ARGUMENT...]
#
# A suite is one of those below. Arguments are handed to its program: regular
# expressions for the names of tests, or options of the soak.
set -u
cd "$(dirname "$0")/.." || exit 1

suites=(long lost_calls random mariadb worlds sandbox commands cloud soak eventlet)

tests() {
    local folder=$1
    shift
    stestr --test-path="./pcloud/tests/$folder" run --slowest "$@"
}

run() {
    local suite=$1
    shift
    case $suite in
        long | lost_calls | random)
            # The tests of a module may share a cloud, and so a worker.
            stestr --test-path="./pcloud/tests/functional/$suite" \
                --group-regex 'pcloud.tests.functional.long.[a-z_]+' \
                run --concurrency=2 --slowest "$@"
            ;;
        mariadb)
            [ $# -gt 0 ] || set -- 'functional.(quick|long)'
            PCLOUD_TEST_DATABASE=${PCLOUD_TEST_DATABASE:-mysql+pymysql://root:@127.0.0.1} \
                tests functional --concurrency=2 "$@"
            ;;
        worlds)
            tests worlds --concurrency=2 "$@"
            ;;
        sandbox)
            tests sandbox --serial "$@"
            ;;
        commands | cloud)
            tests "$suite" --serial "$@"
            ;;
        soak)
            [ $# -gt 0 ] || set -- --minutes 60
            python -m pcloud.tests.soak "$@"
            ;;
        eventlet)
            [ $# -gt 0 ] || set -- 'functional.(quick|long)|ValuesTest.test_reads|TwoLooksTest'
            OS_NOVA_DISABLE_EVENTLET_PATCHING=0 \
                tests functional --concurrency=4 "$@"
            ;;
        *)
            echo "No suite is called '$suite': ${suites[*]}" >&2
            return 2
            ;;
    esac
}

if [ $# -gt 0 ]; then
    run "$@"
    exit
fi
failed=()
for suite in "${suites[@]}"; do
    echo "== $suite"
    run "$suite" || failed+=("$suite")
done
echo "${#suites[@]} suites, ${#failed[@]} failed: ${failed[*]}"
[ "${#failed[@]}" -eq 0 ]
