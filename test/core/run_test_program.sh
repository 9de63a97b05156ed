#!/usr/bin/env bash
# run_test_program.sh LOG COMMAND ...: runs a test program and writes its output to LOG. In CI a program that failed runs again, and
# both outputs are kept: a busy machine can make a test fail that depends on time.
log=$1
shift
program=${!#}
readonly SECONDS_MAX=300 CHECK_EXIT_FAILED=4 # check.h: the program has counted its failures

run() {
  timeout "$SECONDS_MAX" "$@" >"$log" 2>&1 && return
  [ $? -eq "$CHECK_EXIT_FAILED" ] || printf '\n%s: 0 passed, 1 failed, 0 skipped\n' "$(basename "$program")" >>"$log"
  return 1
}

run "$@" && exit
[ -n "$UPWELL_SECOND_ATTEMPTS" ] || exit 0
cat "$log" >>"$UPWELL_SECOND_ATTEMPTS"
run "$@" && outcome=passed || outcome=failed
printf '%s: the second attempt: %s\n\n' "$*" "$outcome" >>"$UPWELL_SECOND_ATTEMPTS"
