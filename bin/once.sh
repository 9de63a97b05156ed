# Sourced by scripts that fetch or build something outside the tree.
#
#   once [--for VERSION] FOLDER WHAT COMMAND ...
#
# Runs the command, unless an earlier run has filled the folder. Prints WHAT, and writes the command's output to FOLDER.log.
# A folder filled for another version is emptied first. A lock makes other processes wait. A failure ends the script.
once() {
  local wanted= # not named `version`, because the command sees the variables of this function
  [ "$1" != --for ] || { wanted=$2 && shift 2; }
  local folder=$1 what=$2 status
  shift 2
  ! is_filled "$folder" "$wanted" || return 0
  { mkdir -p "$folder" && exec 9>"$folder.lock"; } || end_once "$folder cannot be written; set XDG_CACHE_HOME to a writable directory"
  flock 9
  [ -z "$wanted" ] || want "$folder" "$wanted"
  if [ ! -e "$folder/.complete" ]; then
    echo "$what (log: $folder.log) ..." >&2
    set +e # in a condition, bash would ignore set -e inside the command
    (set -e && "$@") >"$folder.log" 2>&1
    status=$?
    set -e
    if [ "$status" -ne 0 ]; then
      tail -n 20 "$folder.log" >&2 || true
      end_once "$what failed; read the log $folder.log"
    fi
    touch "$folder/.complete"
  fi
  exec 9>&-
}

is_filled() {
  [ -e "$1/.complete" ] && { [ -z "$2" ] || [ "$(cat "$1/.wanted" 2>/dev/null)" = "$2" ]; }
}

# A folder without a noted version is kept as it is. The version is written last, so that a stopped run begins here again.
want() {
  local folder=$1 version=$2
  if [ -s "$folder/.wanted" ] && [ "$(cat "$folder/.wanted")" != "$version" ]; then
    find "$folder" -mindepth 1 -maxdepth 1 ! -name .wanted -exec rm -rf {} +
  fi
  echo "$version" >"$folder/.wanted"
}

end_once() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}
