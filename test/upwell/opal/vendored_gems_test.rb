# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/installed_gem"
require_relative "../../support/opal_runtimes"

# An application whose gems lie in its own vendor/bundle, started from another folder by a command of another bundle, or of none.
class OpalVendoredGemsTest < Minitest::Test
  include OpalRuntimes

  APP = "require 'thing'\nrun ->(env) { [200, {}, [THING, \" on \", Rack.release]] }\n"

  def setup
    need("up_node")
    @folder = Dir.mktmpdir
    app = File.join(@folder, "app")
    @rackup = File.join(app, "config.ru")
    @home = InstalledGem.vendor(app)
    File.write(@rackup, APP)
    File.write(File.join(app, "Gemfile"), "gem 'rack'\ngem 'thing'\n")
    InstalledGem.copy(@home, "rack")
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  def test_it_has_the_gems_of_its_own_folder
    InstalledGem.put(@home, "thing", "1.0", "THING = 'its own'\n")
    others = File.join(@folder, "others")
    InstalledGem.put(others, "thing", "2.0", "THING = 'of another'\n")
    Bundler.with_unbundled_env do
      OpalProcess.open("up_node", app: @rackup, environment: InstalledGem.environment(others), spawn: { chdir: others }) do |server|
        assert_equal "its own on #{Rack.release}", RawClient.get(server.port, "/").body
      end
    end
  end

  def test_the_compiler_may_be_there_alone
    InstalledGem.put(@home, "thing", "1.0", "THING = 'its own'\n")
    File.write(File.join(@folder, "app", "Gemfile"), "gem 'opal'\n", mode: "a")
    %w[opal ast base64 parser racc].each { |name| InstalledGem.copy(@home, name) }
    nothing = File.join(@folder, "nothing")
    Bundler.with_unbundled_env do
      OpalProcess.open("up_node", app: @rackup, environment: { "GEM_HOME" => nothing, "GEM_PATH" => nothing }) do |server|
        assert_equal "its own on #{Rack.release}", RawClient.get(server.port, "/").body
      end
    end
  end

  def test_what_its_gemfile_lacks_is_told
    assert_match(%r{\Aup_node: the gems of .*/app/Gemfile cannot be loaded: Could not find gem 'thing'.*; run bundle install\n\z}, refusal)
  end

  def test_a_gem_that_needs_what_no_runtime_has_is_named
    InstalledGem.put(@home, "thing", "1.0", "require 'ripper'\n")
    sentence = "up_node: the gem of thing does not work on JavaScript runtimes: cannot load such file -- ripper (thing.rb); " \
               "remove it, or serve with up_ruby\n"
    assert_equal sentence, refusal.lines.grep_v(/the first start compiles/).join
  end

  private

  def refusal
    command = OpalProcess.command("up_node", @rackup)
    text, status = Bundler.with_unbundled_env { Open3.capture2e(InstalledGem.environment(@home), *command, chdir: @folder) }
    assert_equal 1, status.exitstatus, text
    text
  end
end
