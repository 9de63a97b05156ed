# frozen_string_literal: true

# Loaded before extconf.rb: it finds the Ruby of another machine, and Zig's compiler for that, in the place of those that run it.
#   UPWELL_TARGET   what Zig compiles for, such as aarch64-linux-gnu.2.34
#   UPWELL_ROOT     the folder of that Ruby, as it is unpacked from Debian's packages, or as it is installed
#   UPWELL_LIBRARIES  the folder of the libraries
target, root, libraries = ENV.values_at("UPWELL_TARGET", "UPWELL_ROOT", "UPWELL_LIBRARIES")
rbconfig = Dir[File.join(root, "{usr/lib/*/ruby/*,lib/ruby/*/*}/rbconfig.rb")].first
version = File.read(rbconfig)[/\((\d+\.\d+\.\d+)\)/, 1]

Object.send(:remove_const, :RUBY_VERSION)
Object.send(:remove_const, :RbConfig)
RUBY_VERSION = version
load rbconfig

triplet = RbConfig::CONFIG["arch"]
lib = "#{libraries}/usr/lib/#{triplet}"
zig = File.expand_path("../bin/zig", __dir__)
Object.send(:remove_const, :RUBY_DESCRIPTION)
RUBY_DESCRIPTION = "ruby #{version} [#{triplet}]".freeze
# The machine's OpenSSL and zlib are loaded, see core/base/shared_library.h; liburing is within.
{
  "CC" => "#{zig} cc -target #{target}", "AR" => "#{zig} ar", "optflags" => "-O3", "debugflags" => "", "warnflags" => "",
  "ARCH_FLAG" => "-Wno-default-const-init-field-unsafe", # Ruby's own headers would be warned of; this comes behind our -Wextra
  "CFLAGS" => "-O3 -fPIC -fstack-protector-strong", "DLDFLAGS" => "-Wl,-z,relro -Wl,-z,now -Wl,--version-script=#{__dir__}/exports.map -s",
  "CPPFLAGS" => "-DUW_LOADS_OPENSSL -DUW_LOADS_ZLIB -idirafter #{__dir__}/include " \
                "-idirafter #{libraries}/usr/include -idirafter #{libraries}/usr/include/#{triplet}",
  "LDFLAGS" => "-L#{root}/usr/lib/#{triplet} -L#{lib} -Wl,--allow-shlib-undefined"
}.each { |name, value| RbConfig.fire_update!(name, value) }
ENV["PKG_CONFIG_LIBDIR"] = "#{lib}/pkgconfig"
ENV["PKG_CONFIG_SYSROOT_DIR"] = libraries
