# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/installed_gem"
require_relative "../../support/opal_program_fixture"

# What the program was made of is not what it would be made of now: gems that come and go, a Gemfile, a file that is edited too early.
class OpalStaleProgramTest < Minitest::Test
  include OpalProgramFixture

  APP = "begin\n  require 'thing'\nrescue LoadError\n  nil\nend\nrun ->(env) { [200, {}, [THING]] }\n"

  def setup
    super
    @home = File.join(@folder, "home")
    write("app/config.ru", APP)
  end

  # Without the bundle of those who run the test.
  def start(*arguments, home: @home, environment: {}, **options)
    Bundler.with_unbundled_env { super(*arguments, environment: InstalledGem.environment(home).merge(environment), **options) }
  end

  def put(version, home = @home)
    InstalledGem.put(home, "thing", version, "THING = 'thing #{version} of #{File.basename(File.dirname(home))}'\n")
  end

  def things(program)
    program.scan(/thing \d\.\d/).uniq
  end

  def test_gems_that_come_and_go
    assert_empty things(assert_compiled)
    assert_found
    %w[1.0 2.0].each do |version|
      put(version)
      assert_equal ["thing #{version}"], things(assert_compiled)
    end
    assert_found
    FileUtils.rm(File.join(@home, "specifications", "thing-2.0.gemspec"))
    assert_equal ["thing 1.0"], things(assert_compiled)
  end

  def test_gems_are_looked_for_elsewhere
    other = File.join(@folder, "other")
    put("1.0")
    put("3.0", other)
    assert_equal ["thing 1.0"], things(assert_compiled)
    assert_equal ["thing 3.0"], things(assert_compiled(home: other))
    assert_found
  end

  def test_a_gemfile_comes_and_its_lock_file
    put("1.0")
    put("2.0")
    assert_equal ["thing 2.0"], things(assert_compiled)
    write("Gemfile", "gem 'thing', '< 2'\n")
    assert_equal ["thing 1.0"], things(assert_compiled)
    assert_found
    write("app/Gemfile", "gem 'thing'\n")
    assert_equal ["thing 2.0"], things(assert_compiled)
    write("app/Gemfile.lock", "GEM\n  specs:\n    thing (1.0)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  thing\n")
    assert_equal ["thing 1.0"], things(assert_compiled)
  end

  def test_another_gemfile_is_named
    put("1.0")
    put("2.0")
    write("old.gemfile", "gem 'thing', '1.0'\n")
    assert_equal ["thing 2.0"], things(assert_compiled)
    assert_equal ["thing 1.0"], things(assert_compiled(environment: { "BUNDLE_GEMFILE" => File.join(@folder, "old.gemfile") }))
    assert_found
  end

  def test_a_file_that_stands_before_another_on_the_load_path
    put("1.0")
    write("app/Gemfile", "gem 'thing'\ngem 'earlier', path: '../earlier'\n")
    write("earlier/earlier.gemspec", "Gem::Specification.new('earlier', '1.0') { |s| s.summary = s.authors = 'a' }\n")
    write("earlier/lib/earlier.rb", "")
    assert_equal ["thing 1.0"], things(assert_compiled)
    assert_found
    write("earlier/lib/thing.rb", "THING = 'thing 0.1'\n")
    assert_equal ["thing 0.1"], things(assert_compiled)
  end

  def test_a_file_that_is_edited_while_it_is_compiled
    write("app/config.ru", "require_relative 'thing'\nrun ->(env) { [200, {}, [THING]] }\n")
    write("app/thing.rb", "THING = 'thing 1.0'\n")
    program = assert_compiled(script: <<~RUBY)
      require "upwell/opal/build"
      editing = Module.new do
        def compile(name, *, **)
          File.write("#{@folder}/app/thing.rb", "THING = 'thing 2.00'\\n") if name == "~/thing.rb"
          super
        end
      end
      Upwell::Opal::Build::Unit.singleton_class.prepend(editing)
    RUBY
    assert_equal ["thing 1.0"], things(program)
    assert_equal ["thing 2.0"], things(assert_compiled)
    assert_found
  end
end
