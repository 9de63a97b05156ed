# Sourced by what fetches from Debian's archive with lists of its own.
#
#   list_suites TYPE SUITE ...   prints a sources.list of the machine's own mirror; the suite - is the machine's own

# apt knows either form of its configuration. awk reads all of it: apt-get would end by SIGPIPE.
list_suites() {
  local type=$1 uri codename suite
  shift
  read -r uri codename < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN)' |
    awk '$3 == "Debian" && $2 !~ /-/ && !found { print $1, $2; found = 1 }') || no_mirror
  for suite in "$@"; do
    [ "$suite" != - ] || suite=$codename
    echo "$type $uri $suite main"
  done
}

no_mirror() {
  echo "$(basename "$0"): apt has no Debian mirror; run \`apt-get update\` on a Debian machine first" >&2
  exit 1
}
