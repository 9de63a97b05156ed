# frozen_string_literal: true

require_relative "../test_helper"
require "fileutils"
require "open3"
require "rbconfig"
require "rubygems/ext"
require "tmpdir"

# The gem's installation: which backends are compiled in, and where none can be.
class ExtconfTest < Minitest::Test
  NO_LIBURING = "liburing.h was not found (Debian: apt-get install liburing-dev)"
  ROOT = File.expand_path("../..", __dir__)
  EXTCONF = "#{ROOT}/ext/upwell/extconf.rb".freeze
  NEEDED = %w[rack mini_mime].map { |name| Gem.loaded_specs.fetch(name).cache_file }.freeze
  # Nothing of the bundle that the tests run in.
  OWN_BUNDLE = [*ENV.keys.grep(/\ABUNDLE/), "RUBYOPT", "RUBYLIB", "UPWELL_BACKENDS"].to_h { |name| [name, nil] }.freeze

  def test_without_a_compiler_the_extension_is_left_out
    in_a_folder_without_a_compiler do |environment|
      output, status = Open3.capture2e(environment, RbConfig.ruby, EXTCONF)
      assert_predicate status, :success?, output
      assert_match(/\Aupwell is installed without its C extension: no C compiler was found: .+ does not run; .+ the server .*\n\z/, output)
      next if Gem::Ext::Builder.const_defined?(:NoMakefileError) # this RubyGems needs none

      assert system("make", "clean", "all", "install", out: File::NULL, err: File::NULL)
    end
  end

  def test_a_backend_that_was_asked_for_needs_a_compiler
    in_a_folder_without_a_compiler do |environment|
      output, status = Open3.capture2e({ **environment, "UPWELL_BACKENDS" => "epoll" }, RbConfig.ruby, EXTCONF)
      refute_predicate status, :success?
      assert_match(/\AUPWELL_BACKENDS names a backend, but no C compiler was found: .+ does not run\n\z/, output)
      refute_path_exists "Makefile"
    end
  end

  def test_an_unknown_backend_ends_the_installation
    configure("UPWELL_BACKENDS" => "epoll,iocp, select") do |output, status|
      refute_predicate status, :success?
      assert_equal "UPWELL_BACKENDS names an unknown backend: iocp, select; choose from io_uring, epoll, kqueue, poll\n", output.lines.last
    end
  end

  def test_a_backend_whose_headers_are_missing_ends_the_installation_with_the_package_to_install
    in_a_folder_that_hides("liburing.h") do |hiding|
      configure(hiding.merge("UPWELL_BACKENDS" => "io_uring")) do |output, status|
        refute_predicate status, :success?
        assert_equal "UPWELL_BACKENDS names io_uring, but #{NO_LIBURING}\n", output.lines.last
        refute_path_exists "Makefile"
      end
    end
  end

  def test_a_backend_of_other_systems_ends_the_installation
    configure("UPWELL_BACKENDS" => "poll kqueue", "PKG_CONFIG_PATH" => "/nowhere") do |output, status|
      refute_predicate status, :success?
      assert_match(/\AUPWELL_BACKENDS names kqueue, but sys\/event.h was not found: only macOS and FreeBSD have kqueue .+\Z/, output.lines.last)
    end
  end

  def test_a_list_without_a_name_is_none_and_what_is_missing_is_left_out
    in_a_folder_that_hides("liburing.h") do |hiding|
      configure(hiding.merge("UPWELL_BACKENDS" => " , ")) do |output, status|
        assert_predicate status, :success?, output
        assert_equal %w[epoll poll], chosen
        assert_includes File.read("build_report.h"), "not compiled in: #{NO_LIBURING}".dump
      end
    end
  end

  # As `gem install upwell -- UPWELL_BACKENDS=poll` and Bundler's build.upwell give it.
  def test_the_backends_are_an_argument
    configure({ "UPWELL_BACKENDS" => "epoll" }, "UPWELL_BACKENDS= poll ,epoll", "UPWELL_TLS=no") do |output, status|
      assert_predicate status, :success?, output
      assert_equal %w[epoll poll], chosen
      assert_includes File.read("build_report.h"), '"not compiled in: UPWELL_TLS=no"'
    end
  end

  def test_a_backend_of_bundlers_that_cannot_be_compiled_ends_its_installation_with_the_package_to_install
    in_a_folder_that_hides("liburing.h") do |hiding|
      bundle_with("io_uring,epoll")
      output, status = bundle(hiding, "install", "--local")
      refute_predicate status, :success?
      assert_includes output.split.join(" "), "UPWELL_BACKENDS names io_uring, but #{NO_LIBURING}" # Bundler breaks lines
    end
  end

  def test_bundler_hands_on_the_backends_that_it_keeps
    in_a_folder do
      bundle_with("poll")
      output, status = bundle({ "MAKE" => "true" }, "install", "--local") # what is to be compiled is known before
      assert_predicate status, :success?, output
      Dir.chdir(Dir["vendor/bundle/ruby/*/gems/upwell-*/ext/upwell"].fetch(0)) { assert_equal %w[poll], chosen }
    end
  end

  private

  # A Gemfile as a user's, with the gems in vendor/cache.
  def bundle_with(backends)
    FileUtils.mkdir_p("vendor/cache")
    FileUtils.cp(NEEDED, "vendor/cache")
    gem = File.expand_path("vendor/cache/upwell-#{Upwell::VERSION}.gem")
    output, status = Open3.capture2e(OWN_BUNDLE, RbConfig.ruby, "-S", "gem", "build", "--output", gem, "upwell.gemspec", chdir: ROOT)
    assert_predicate status, :success?, output
    File.write("Gemfile", "source \"https://localhost\"\ngem \"upwell\"\n")
    bundle({}, "config", "set", "--local", "path", "vendor/bundle")
    bundle({}, "config", "set", "--local", "build.upwell", "UPWELL_BACKENDS=#{backends}")
  end

  def bundle(environment, *arguments)
    Open3.capture2e({ **OWN_BUNDLE, "BUNDLE_USER_HOME" => Dir.pwd, **environment }, RbConfig.ruby, "-S", "bundle", *arguments)
  end

  def configure(environment, *arguments)
    in_a_folder do
      yield Open3.capture2e({ "UPWELL_BACKENDS" => nil, "UPWELL_TLS" => nil, **environment }, RbConfig.ruby, EXTCONF, *arguments)
    end
  end

  def in_a_folder(&block)
    Dir.mktmpdir { |folder| Dir.chdir(folder, &block) }
  end

  # A compiler that is given this environment finds another file by that name first.
  def in_a_folder_that_hides(header)
    in_a_folder do |folder|
      File.write(header, "#error hidden\n")
      yield({ "CPATH" => folder })
    end
  end

  def chosen
    File.read("Makefile")[/^CPPFLAGS\s*=.*/].scan(/-DUW_HAVE_(\w+)/).flatten.map(&:downcase)
  end

  def in_a_folder_without_a_compiler
    in_a_folder { |folder| yield({ "PATH" => folder, "UPWELL_BACKENDS" => nil, "RUBYOPT" => nil }) }
  end
end
