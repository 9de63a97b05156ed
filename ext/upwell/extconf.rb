# frozen_string_literal: true

# Compiles the core and the binding into upwell/upwell.so. UPWELL_BACKENDS=epoll,poll chooses the backends; without it all that are found
# are compiled in. Each choice may also be an argument: `gem install upwell -- UPWELL_BACKENDS=poll`, or what `bundle config set build.upwell`
# keeps. TLS is compiled in where OpenSSL 3 is found; UPWELL_TLS=no leaves it out. UPWELL_WERROR=1 turns warnings into errors;
# UPWELL_CHECK_OWNER=1 ends a process that uses a loop on another thread than the loop's; UPWELL_SANITIZE=1 is for a Ruby that runs with
# libasan preloaded.
#
# Where none can be compiled the gem is installed without the extension.

require "rbconfig"
require "rubygems/ext"

BACKENDS = %w[io_uring epoll kqueue poll].freeze
ARGV.grep(/\AUPWELL_\w+=/) { |argument| ENV.store(*argument.split("=", 2)) }

# The reason is the last thing told: mkmf would add a page about itself.
def refuse(reason)
  $stdout.flush
  $stderr.puts reason # rubocop:disable Style/StderrPuts -- with -W0 nothing is warned of
  exit!
end

# @return [Array<String>, nil] nil when all that are found are wanted
def requested_backends
  names = ENV.fetch("UPWELL_BACKENDS", "").split(/[\s,]+/).reject(&:empty?)
  unknown = names - BACKENDS
  refuse "UPWELL_BACKENDS names an unknown backend: #{unknown.join(", ")}; choose from #{BACKENDS.join(", ")}" if unknown.any?
  names unless names.empty?
end

REQUESTED = requested_backends

# @return [String, nil] why there can be no extension here
def obstacle
  return "#{RUBY_ENGINE} is not CRuby" unless RUBY_ENGINE == "ruby"
  return "Windows has none of the backends io_uring, epoll, kqueue and poll" if Gem.win_platform?

  compiler = RbConfig::CONFIG["CC"]
  "no C compiler was found: #{compiler} does not run" unless system("#{compiler} --version", out: File::NULL, err: File::NULL)
end

# Without the extension the gem is installed all the same: the loop, the selector and the scheduler work in Ruby.
def leave_out(reason)
  refuse "UPWELL_BACKENDS names a backend, but #{reason}" if REQUESTED
  puts "upwell is installed without its C extension: #{reason}; the event loop and the scheduler run in Ruby, the server does not run"
  File.write("Makefile", "all clean install:\n") unless Gem::Ext::Builder.const_defined?(:NoMakefileError) # else not even `make` is needed
  exit
end

obstacle&.then { |reason| leave_out(reason) }

require "mkmf"

CORE = File.expand_path("../../core", __dir__)
FOLDERS = (Dir[File.join(CORE, "*/")].map { |path| path.delete_suffix("/") }.grep_v(%r{/windows\z}).sort +
           ["", "base", "loop", "scheduler", "rack", "server"].map { |wing| File.expand_path(wing, __dir__) }).freeze

LIBURING_PACKAGE = "(Debian: apt-get install liburing-dev)"

# What a backend needs, or why it is left out.
MISSING = {
  "io_uring" => lambda {
    next "liburing.h was not found #{LIBURING_PACKAGE}" unless have_header("liburing.h")

    library = have_library("uring", "io_uring_queue_init_params", "liburing.h")
    next "the library liburing was not found #{LIBURING_PACKAGE}" unless library

    functions = %w[io_uring_prep_recv_multishot io_uring_register_buf_ring io_uring_submit_and_get_events]
    missing = functions.reject { |name| have_func(name, "liburing.h") }
    "liburing is older than 2.3 (it lacks #{missing.join(", ")}): install a newer one, then reinstall the gem" unless missing.empty?
  },
  "epoll" => -> { "sys/epoll.h was not found" unless have_header("sys/epoll.h") },
  "kqueue" => lambda {
    pkg_config("libkqueue") if REQUESTED&.include?("kqueue") # on Linux: for tests, and never unasked
    found = have_header("sys/event.h") && have_func("kqueue", "sys/event.h")
    "sys/event.h was not found: only macOS and FreeBSD have kqueue (for tests elsewhere: rake test:kqueue)" unless found
  },
  "poll" => -> { "poll.h was not found" unless have_header("poll.h") }
}.freeze

# @return [Hash{String => String}] for each backend that is left out, the reason
def choose_backends
  BACKENDS.each_with_object({}) do |name, left_out|
    reason = REQUESTED&.include?(name) == false ? "UPWELL_BACKENDS did not name it" : MISSING[name].call
    refuse "UPWELL_BACKENDS names #{name}, but #{reason}" if reason && REQUESTED&.include?(name)
    reason ? left_out[name] = "not compiled in: #{reason}" : $defs << "-DUW_HAVE_#{name.upcase}"
  end
end

# @return [String, nil] why there is no TLS
def missing_tls
  return "not compiled in: UPWELL_TLS=no" if ENV["UPWELL_TLS"] == "no"

  found = have_header("openssl/ssl.h") && have_library("crypto", "EVP_KDF_fetch", "openssl/kdf.h") &&
          have_library("ssl", "SSL_get0_peer_certificate", "openssl/ssl.h")
  "OpenSSL 3 was not found (Debian: apt-get install libssl-dev)" unless found
end

# One of the two stands for a library: the files that use it, or the one that says that it is missing.
def choose(using, missing, is_missing)
  missing = File.join(CORE, missing)
  $srcs -= is_missing ? Dir[File.join(CORE, using)] - [missing] : [missing]
end

# @return [Boolean] whether messages of WebSockets are not compressed
def missing_zlib?
  !(have_header("zlib.h") && have_library("z", "deflateInit2_", "zlib.h"))
end

# A shared library that has its soname on this machine is loaded at its first use, see core/base/shared_library.h. The linker leaves out a
# library of which nothing is called.
def load_when_needed(names)
  return unless RbConfig::CONFIG["target_os"].start_with?("linux")

  have_library("dl", "dlopen", "dlfcn.h") # before glibc 2.34
  $DLDFLAGS << " -Wl,--as-needed"
  names.each { |name, soname| $defs << "-DUW_LOADS_#{name}" if try_link("int main(void) { return 0; }", "-l:#{soname}") }
end

def openssl_version
  pkg_config("openssl", "modversion") || "unknown"
end

def liburing_version
  pkg_config("liburing", "modversion") || "unknown" if $defs.include?("-DUW_HAVE_IO_URING")
end

def hash_in_c(name, hash)
  pairs = hash.map { |key, value| "    rb_hash_aset(hash, rb_str_new_cstr(#{key.dump}), rb_str_new_cstr(#{value.dump}));\n" }
  <<~C
    static void define_#{name.downcase}(void)
    {
        VALUE hash = rb_hash_new();

    #{pairs.join}    rb_define_const(rb_mUpwell, "#{name}", rb_obj_freeze(hash));
    }
  C
end

def write_report(left_out, without_tls)
  build = {
    "ruby" => RUBY_DESCRIPTION, "compiler" => `#{RbConfig::CONFIG["CC"]} --version 2>&1`.lines.first.to_s.strip,
    "flags" => RbConfig.expand($CFLAGS.dup, RbConfig::MAKEFILE_CONFIG.merge("warnflags" => $warnflags)).strip,
    "backends" => (BACKENDS - left_out.keys).join(" "), "liburing" => liburing_version || "not used",
    "openssl" => without_tls || openssl_version
  }
  File.write("build_report.h", <<~C)
    /* Written by extconf.rb. */
    #include <ruby.h>
    #{hash_in_c("BUILD", build)}
    #{hash_in_c("LEFT_OUT", left_out)}
    static void rb_uw_define_build_report(void)
    {
        define_build();
        define_left_out();
    }
  C
end

$CFLAGS << " -std=gnu11 -O3 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter -Wno-declaration-after-statement"
$warnflags = "" # Ruby's own choice would drown ours
$defs << "-D_GNU_SOURCE"
$defs << "-DUW_CHECK_OWNER" << "-DUW_CHECK_INVARIANTS" if ENV["UPWELL_CHECK_OWNER"]
left_out = choose_backends # before all else: it may end here
$INCFLAGS << " -I#{CORE} -I#{__dir__} -I."
$VPATH.concat(FOLDERS)
$srcs = Dir[*FOLDERS.map { |folder| File.join(folder, "*.c") }].sort
without_tls = missing_tls
choose("transport/tls*.c", "transport/tls_missing.c", without_tls)
choose("websocket/accept_key.c", "websocket/accept_key_missing.c", without_tls)
without_zlib = missing_zlib?
choose("compression/deflate.c", "compression/deflate_missing.c", without_zlib)
load_when_needed({ "LIBURING" => ("liburing.so.2" unless left_out["io_uring"]), "OPENSSL" => ("libssl.so.3" unless without_tls),
                   "ZLIB" => ("libz.so.1" unless without_zlib) }.compact)
$objs = $srcs.map { |path| "#{File.basename(path, ".c")}.o" }
abort "two C files have the same name: #{$objs.tally.select { |_, count| count > 1 }.keys.join(", ")}" unless $objs.uniq.size == $objs.size
$headers.concat(Dir[File.join(CORE, "**", "*.h"), File.join(__dir__, "**", "*.h")]) # a changed header compiles what depends on it anew
$headers << File.expand_path("build_report.h")

abort "no backend can be compiled: #{left_out}" if left_out.size == BACKENDS.size
have_library("pthread")
have_func("rb_io_closed_p", "ruby/io.h")
have_struct_member("rb_internal_thread_event_data_t", "thread", "ruby/thread.h")
if ENV["UPWELL_SANITIZE"]
  # Not of the stack: Ruby leaves frames by longjmp and by switching fibers, of which AddressSanitizer learns nothing.
  $CFLAGS << " -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer --param asan-stack=0"
  $DLDFLAGS << " -fsanitize=address,undefined"
end
$CFLAGS << " -Werror" if ENV["UPWELL_WERROR"] # only now: mkmf's own trials are not free of warnings
write_report(left_out, without_tls)
create_makefile("upwell/upwell")
