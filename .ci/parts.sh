# Parts of a run, for `.ci/run`: each has a name, and the summary at the end lists how long each took.

times=()
# Jobs in the background, by name: process, output, start.
declare -A job_pids=() job_logs=() job_starts=()
# Test runs add what they left out, and why.
SKIPPED_TO=$(mktemp)
export SKIPPED_TO

# Runs a part. A job in the background that has failed meanwhile fails the run here, not an hour later.
part() {
  local name=$1 started=$SECONDS job
  shift
  for job in "${!job_pids[@]}"; do
    kill -0 "${job_pids[$job]}" 2>/dev/null || finish "$job"
  done
  echo "== $name"
  "$@"
  record $((SECONDS - started)) "$name"
}

record() {
  times+=("$(printf '%5d s  %s' "$1" "$2")")
}

# Starts a part in the background, at low priority and in a process group of its own; `finish` waits for it.
begin() {
  local name=$1
  shift
  echo "== $name: begins in the background"
  job_logs[$name]=$(mktemp)
  job_starts[$name]=$SECONDS
  set -m
  (
    renice -n 10 -p "$BASHPID" >/dev/null
    "$@"
    # The time of its end, because `finish` may come much later.
    echo "$SECONDS" >"${job_logs[$name]}.end"
  ) >"${job_logs[$name]}" 2>&1 </dev/null &
  job_pids[$name]=$!
  set +m
}

# Waits for a part in the background and prints its output; fails when the part failed.
finish() {
  local name=$1 status=0 log
  [ -n "${job_pids[$name]:-}" ] || return 0
  log=${job_logs[$name]}
  wait "${job_pids[$name]}" || status=$?
  echo "== $name: ended in the background"
  cat "$log"
  unset "job_pids[$name]"
  if [ "$status" != 0 ]; then
    echo "failed with $status: $name"
    return "$status"
  fi
  record $(($(cat "$log.end") - job_starts[$name])) "$name (in the background)"
  rm -f "$log" "$log.end"
}

# Is printed after a failed run too; what is still in the background ends.
summary() {
  local name
  for name in "${!job_pids[@]}"; do
    kill -- "-${job_pids[$name]}" 2>/dev/null || true
    echo "not waited for: $name"
  done
  for name in "${!job_logs[@]}"; do rm -f "${job_logs[$name]}" "${job_logs[$name]}.end"; done
  printf '%s\n' '' "${times[@]}"
  [ ! -s "$SKIPPED_TO" ] || { echo 'skipped:' && sort -u "$SKIPPED_TO"; }
  rm -f "$SKIPPED_TO"
}
trap summary EXIT
