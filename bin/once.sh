# Sourced by what fetches or builds something outside the tree.
#
#   once FOLDER WHAT COMMAND ...   runs the command unless it has filled the folder before, telling what it does; its log is FOLDER.log.
#
# Of two that come at once one does it. A step that fails ends it, and the program.
once() {
  local folder=$1 what=$2 status
  shift 2
  [ ! -e "$folder/.complete" ] || return 0
  { mkdir -p "$folder" && exec 9>"$folder.lock"; } || end_once "$folder cannot be written: set XDG_CACHE_HOME"
  flock 9
  if [ ! -e "$folder/.complete" ]; then
    echo "$what (log: $folder.log) ..." >&2
    set +e # as a condition it would go on after what fails within
    (set -e && "$@") >"$folder.log" 2>&1
    status=$?
    set -e
    if [ "$status" -ne 0 ]; then
      tail -n 20 "$folder.log" >&2 || true
      end_once "$what: failed; the whole log is $folder.log"
    fi
    touch "$folder/.complete"
  fi
  exec 9>&-
}

end_once() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}
