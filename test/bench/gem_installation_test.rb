# frozen_string_literal: true

require "minitest/autorun"
require "rubygems/package"
require "tmpdir"
require_relative "../../bench/lib/gem_installation"

# Installs gems that are made for it, from files.
class GemInstallationTest < Minitest::Test
  def with_gem(files, extensions: [])
    Dir.mktmpdir do |folder|
      files.each { |name, text| File.write(File.join(folder, name), text) }
      specification = Gem::Specification.new("made_up", "1.2") do |gem|
        gem.summary = gem.author = "made up"
        gem.files = files.keys
        gem.extensions = extensions
      end
      Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Dir.chdir(folder) { Gem::Package.build(specification, true) } }
      yield File.join(folder, "made_up-1.2.gem"), File.join(folder, "installed")
    end
  end

  # An absolute folder stands for itself.
  def installation(path, folder, **options)
    Bench::GemInstallation.new(path, folder: folder, **options)
  end

  def test_a_gem_is_found_by_its_own_processes_only
    with_gem({ "made_up.rb" => "" }) do |path, folder|
      installation(path, folder).install
      command = [RbConfig.ruby, "-e", "puts Gem::Specification.map(&:name).include?('made_up')"]
      assert_equal "true\n", IO.popen([installation(path, folder).environment, *command], &:read)
      assert_equal "made_up 1.2", installation("made_up", folder).versions
    end
  end

  def test_the_objection_of_the_compiler_is_the_reason
    files = { "extconf.rb" => 'puts "x.c:1:2: error: no such thing"; exit 1' }
    with_gem(files, extensions: ["extconf.rb"]) do |path, folder|
      error = assert_raises(Bench::GemInstallation::Error) { installation(path, folder).install }
      assert_equal "does not install: x.c:1:2: error: no such thing", error.message
    end
  end

  def test_what_a_peer_needs_to_compile_reaches_its_compilation
    files = { "extconf.rb" => 'File.write("Makefile", "all clean install:\n"); abort "error: forgotten" if ENV["WANTED"] != "1"' }
    with_gem(files, extensions: ["extconf.rb"]) do |path, folder|
      installation(path, folder, build: { "WANTED" => "1" }).install
      assert_path_exists File.join(folder, "gems", "made_up-1.2")
    end
  end

  def test_without_a_gem_there_is_nothing_to_install
    Dir.mktmpdir do |folder|
      plain = installation(nil, folder)
      plain.install
      assert_equal "", plain.versions
    end
  end
end
