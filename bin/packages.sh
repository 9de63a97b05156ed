# Sourced by what needs packages of Debian's:
#
#   install_packages PACKAGE ...

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Of two that install at once one waits: apt would end.
apt_get() { as_root flock /var/lib/dpkg env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 "$@"; }

install_packages() {
  apt_get update -qq
  apt_get install -y -qq --no-install-recommends "$@" >/dev/null
}
