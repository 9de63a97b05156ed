# frozen_string_literal: true

# What Linux on arm64 does, on x86-64: cross-compiled by Zig with Debian's libraries, and run under qemu.
module Arm64
  TARGET = "aarch64-linux-gnu.2.36" # Debian 12's glibc
  TRIPLET = "aarch64-linux-gnu"

  # @return [String] the folder that is the root of such a machine
  def self.root
    @root ||= `bin/arm64`.chomp.tap { |path| abort "rake: bin/arm64 does not work here" if path.empty? }
  end

  # @return [Hash{String => String}] where the libraries are; Zig's own headers of the C library come first
  def self.environment
    include = "#{root}/usr/include"
    lib = "#{root}/usr/lib/#{TRIPLET}"
    { "PKG_CONFIG_LIBDIR" => "#{lib}/pkgconfig", "PKG_CONFIG_SYSROOT_DIR" => root, "LDLIBS" => "-L#{lib}",
      "CPPFLAGS" => "-idirafter #{include} -idirafter #{include}/#{TRIPLET}" }
  end

  # @param goals [Array<String>] of core/Makefile
  # @return [Array] a command
  def self.core(*goals)
    [environment, "make", "--no-print-directory", "--silent", "-C", "core", "-j#{Etc.nprocessors + 1}", "VARIANT=arm64",
     "CC=../bin/zig cc -target #{TARGET}", "AR=../bin/zig ar", "RUNNER=env UW_UNDER_QEMU=1 ../bin/arm64", *goals]
  end
end

task("compile:aarch64") { sh(*Arm64.core("programs"), verbose: false) }

desc "Test the core on arm64, under qemu, which has no io_uring (Debian on x86-64, npm)"
task("test:aarch64") { sh(*Arm64.core("run"), verbose: false) }

desc "Test loop, selector and scheduler with Debian's Ruby for arm64, under qemu, with the extension of rake native"
task "test:aarch64:ruby" do
  tests = Native::Tests.new("aarch64-linux-gnu", "3.1", ["bin/arm64", "#{Arm64.root}/usr/bin/ruby3.1"])
  tests.run(*%w[selector loop scheduler/io scheduler/time scheduler/fiber].map { |name| "upwell/#{name}" })
end
