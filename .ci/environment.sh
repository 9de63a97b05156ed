# Sourced by .ci/run and by each step. Settings that all steps share, and functions that several steps call.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CI=true UPWELL_WERROR=1 BUNDLE_SILENCE_ROOT_WARNING=1 MAKE="make -j$(nproc)"
export npm_config_fetch_retries=5 # about four minutes, in which an unreachable registry may come back
# ccache compiles a file once for all copies of the checkout.
export PATH="/usr/lib/ccache:$PATH" CCACHE_DIR="$PWD/build/ccache" CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=true
export UPWELL_COUNTS="$PWD/build/counts" # the tests note their counts here
export UPWELL_SECOND_ATTEMPTS="$PWD/build/second_attempts" # tests that failed run again, and their outcomes come here
readonly COPIES="$PWD/build/copies" MODERN_CHECKOUT="$PWD/build/copies/modern-ruby"
mkdir -p "$UPWELL_COUNTS" "$COPIES"
for node in build/node/node_modules/node-linux-*/bin; do
  [ ! -d "$node" ] || PATH="$PWD/$node:$PATH"
done

source bin/packages.sh

on_x86_64() { [ "$(uname -m)" = x86_64 ]; }

# copy_checkout FOLDER: a copy of the sources for another Rack or another Ruby, with gems of its own.
copy_checkout() {
  tar --exclude=./.git --exclude=./vendor --exclude=./node_modules --exclude=./tmp --exclude=./build --exclude=./Gemfile.lock --exclude='*.so' -cf - . |
    tar -xf - -C "$1"
}

# print_url FILE: the first URL in a server's start line.
print_url() { grep -o 'http://[0-9.:]*' <<<"$1" | head -n 1; }

# test_applications RAILS [COMMAND ...]: a part of rake test:apps, by the command that runs another Ruby.
test_applications() {
  MODES=fibers,threads:5 APPS="$1,sinatra,roda,faye" APPS_SECONDS=0.3 "${@:2}" bundle exec ruby -Ilib -Itest test/apps/apps_test.rb
  "${@:2}" bundle exec ruby -Ilib -Itest test/apps/rails_isolation_level_test.rb -n /_command_/
}

# test_libraries BACKENDS [COMMAND ...]: a part of rake test:libraries, with fewer operations at once.
test_libraries() {
  COUNT=8 ON="$1" "${@:2}" bundle exec ruby -Ilib -Itest test/libraries/libraries_test.rb
}

# test_kqueue_ruby [COMMAND ...]: a part of rake test:kqueue:ruby, in a copy, because the checkout keeps its own extension.
test_kqueue_ruby() (
  tests="$(echo test/upwell/scheduler/{io,process,fork,close_awaited_io}_test.rb test/upwell/{loop,selector}_test.rb test/integration/{http,fork_in_request,drain,pipelining}_test.rb)"
  checkout=$PWD
  work=$(mktemp -d -p "$COPIES")
  trap 'rm -rf "$work"' EXIT
  copy_checkout "$work"
  cp Gemfile.lock "$work"
  cd "$work"
  "$@" bundle config set --local path "$checkout/vendor/bundle"
  TESTS=${tests// /,} "$@" bundle exec rake --quiet test:kqueue:ruby
)
