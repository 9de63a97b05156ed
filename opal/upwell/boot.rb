# frozen_string_literal: true

# What every program has before its own first line: the parts of Opal's library for Node that need no npm package, and what the compiled
# code calls.
require "upwell/boot/hash_of"
require "nodejs/base"
require "nodejs/kernel"
require "nodejs/file"
require "nodejs/io"
require "nodejs/env"
require "thread"
require "upwell/boot/require"
require "upwell/boot/text"
require "upwell/boot/symbol"
require "upwell/boot/pack"
require "upwell/boot/encoding"
require "upwell/boot/inspect"
require "upwell/boot/regexp"
require "upwell/boot/match_data"
require "upwell/boot/file"
require "upwell/boot/dir"
require "upwell/boot/kernel"
require "upwell/boot/process"
