# Sourced by what needs packages of Debian's:
#
#   install_packages PACKAGE ...

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Of two that install at once one waits: apt would end.
apt_get() {
  as_root flock /var/lib/dpkg env LANGUAGE= LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 "$@"
}

# Another's apt, as a new machine's own that looks for what is new, is awaited, too: of its locks apt itself can wait for one only.
apt_get_patiently() {
  local messages told='' deadline=$((SECONDS + 600))
  until messages=$(apt_get "$@" 2>&1 >/dev/null); do
    if [[ $messages != *"Could not get lock"* || $SECONDS -ge $deadline ]]; then
      echo "$messages" >&2
      return 1
    fi
    [ -n "$told" ] || echo "waiting for another apt process to exit ..." >&2
    told=yes
    sleep 1
  done
  [ -z "$messages" ] || echo "$messages" >&2
}

install_packages() {
  apt_get_patiently update
  apt_get_patiently install -y --no-install-recommends "$@"
}
