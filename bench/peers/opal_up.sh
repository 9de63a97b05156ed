#!/bin/sh
# opal-up in the current folder, by what its commands become: RUNTIME of Opal, COMMAND, PORT. The command itself would fetch uWebSockets.js from the
# network first; here the package `uwebsockets` has that name.
set -eu
gem=$(echo "$GEM_HOME"/gems/opal-up-*)
echo 'module.exports = require("uwebsockets");' >uWebSockets.js
export NODE_PATH="$PWD:${NODE_PATH:-}"
exec opal "-R$1" -E -I. "-I$gem/lib" -g rack "$gem/bin/$2" -- -w 1 -b 127.0.0.1 -p "$3"
