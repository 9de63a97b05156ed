# frozen_string_literal: true

# What Linux does with musl for the C library: compiled by Zig with the libraries that bin/musl builds, and run on this machine.
module Musl
  TRIPLET = "x86_64-linux-musl"

  # @return [String] the folder of Ruby and the libraries
  def self.folder
    @folder ||= `bin/musl`.chomp.tap { |path| abort "rake: bin/musl does not work here" if path.empty? }
  end

  # @return [Hash{String => String}] where the libraries are; Zig's own headers of the C library come first
  def self.environment
    libraries = "#{folder}/libraries"
    lib = "#{libraries}/usr/lib/#{TRIPLET}"
    { "PKG_CONFIG_LIBDIR" => "#{lib}/pkgconfig", "PKG_CONFIG_SYSROOT_DIR" => libraries,
      "LDLIBS" => "-L#{folder}/shared -L#{lib} -Wl,-rpath,#{folder}/shared:#{lib}",
      "CPPFLAGS" => "-idirafter #{libraries}/usr/include", "UPWELL_BACKENDS" => "io_uring epoll poll" }
  end
end

desc "Test the core with musl for the C library (Debian on x86-64, npm)"
task "test:musl" do
  sh Musl.environment, "make", "--no-print-directory", "--silent", "-C", "core", "-j#{Etc.nprocessors + 1}", "VARIANT=musl",
     "CC=../bin/zig cc -target #{Musl::TRIPLET}", "AR=../bin/zig ar", "run", verbose: false
end

desc "Test loop, selector, scheduler and HTTP server with a Ruby that was built with musl, with the extension of rake native"
task "test:musl:ruby" do
  tests = Native::Tests.new(Musl::TRIPLET, "3.4", ["#{Musl.folder}/3.4/bin/ruby"])
  tests.run(*%w[selector loop scheduler/io scheduler/time scheduler/fiber].map { |name| "upwell/#{name}" }, "integration/http")
end
