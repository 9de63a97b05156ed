# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/installed_gem"
require "upwell/opal/gem_paths"

# The gems of a Gemfile, as an application has them that lies elsewhere and was bundled by itself.
class OpalGemPathsTest < Minitest::Test
  def setup
    @folder = File.realpath(Dir.mktmpdir)
    @app = File.join(@folder, "app")
    @home = InstalledGem.vendor(@app)
    InstalledGem.put(@home, "thing", "1.0", "THING = 1\n")
    write("Gemfile", "gem 'thing'\n")
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def write(name, text)
    File.write(File.join(@app, name), text)
  end

  def paths(gemfile: nil)
    Bundler.with_unbundled_env do
      ENV["BUNDLE_GEMFILE"] = gemfile
      Upwell::Opal::GemPaths.new(@app).to_a
    end
  end

  def refusal(**options)
    assert_raises(Upwell::ConfigurationError) { paths(**options) }.message
  end

  # Bundler's own may come first.
  def assert_thing(paths)
    assert_equal File.join(@home, "gems", "thing-1.0", "lib"), paths.last
    assert_empty(paths.grep_v(%r{\A/}))
  end

  def test_they_lie_in_the_applications_own_folder
    assert_thing paths
  end

  def test_one_that_is_missing_is_told
    write("Gemfile", "gem 'nowhere_thing'\n")
    assert_match(%r{\Athe gems of #{@app}/Gemfile cannot be loaded: Could not find gem 'nowhere_thing'.*; run bundle install\z}, refusal)
  end

  def test_one_that_is_locked_and_missing_is_told
    write("Gemfile.lock", "GEM\n  specs:\n    thing (2.0)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  thing\n")
    assert_match(%r{\Athe gems of #{@app}/Gemfile cannot be loaded: Could not find thing-2\.0 .*; run bundle install\z}, refusal)
  end

  def test_a_gemfile_that_is_wrong_is_told
    write("Gemfile", "gem 'thing'\nraise 'refused on purpose'\n")
    assert_match(%r{\Athe gems of #{@app}/Gemfile cannot be loaded: .*refused on purpose}, refusal)
    refute_match(/bundle install/, refusal)
  end

  def test_what_a_gemfile_prints_is_no_path
    write("Gemfile", "puts 'printed'\ngem 'thing'\n")
    assert_thing paths
  end

  def test_a_gemfile_by_its_other_name
    File.rename(File.join(@app, "Gemfile"), File.join(@app, "gems.rb"))
    assert_thing paths
  end

  def test_a_gemfile_that_is_named
    File.rename(File.join(@app, "Gemfile"), File.join(@app, "Other"))
    assert_thing(Dir.chdir(@app) { paths(gemfile: "Other") })
    assert_equal "#{@app}/None does not exist, but BUNDLE_GEMFILE names it; correct BUNDLE_GEMFILE", refusal(gemfile: File.join(@app, "None"))
  end
end
