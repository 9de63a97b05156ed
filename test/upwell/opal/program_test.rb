# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/opal_program_fixture"

# The cache of compiled programs: what makes a program anew, and what does not.
class OpalProgramCacheTest < Minitest::Test
  include OpalProgramFixture

  CANNOT = /the compiled application cannot be written to .*: free disk space, or set XDG_CACHE_HOME to another directory/

  def setup
    super
    write("app/config.ru", "require_relative 'lib/thing'\nrun ->(env) { [200, {}, [Thing.text]] }\n")
    write("app/lib/thing.rb", "module Thing\n  def self.text = 'one'\nend\n")
  end

  def test_a_second_start_finds_it_and_a_change_makes_it_anew
    path, how = start
    assert_equal "compiled", how
    assert_includes File.read(path), "'one'".tr("'", '"')
    assert_equal [path, "found"], start

    write("app/lib/thing.rb", "module Thing\n  def self.text = 'two'\nend\n")
    changed, how = start
    assert_equal "compiled", how
    assert_includes File.read(changed), '"two"'
  end

  def test_a_program_that_runs_keeps_the_map_of_its_lines
    map = map_of(start.first)
    lines = File.binread(map)
    write("app/lib/thing.rb", "\n\n\nmodule Thing\n  def self.text = 'one'\nend\n")
    refute_equal lines, File.binread(map_of(start.first))
    assert_equal lines, File.binread(map)
  end

  def test_a_file_that_was_missing_makes_it_anew_when_it_is_there
    write("app/config.ru", "begin\n  require_relative 'more'\nrescue LoadError\n  nil\nend\nrun ->(env) { [200, {}, []] }\n")
    assert_equal "compiled", start.last
    assert_equal "found", start.last

    write("app/more.rb", "MORE = 'now here'\n")
    path, how = start
    assert_equal "compiled", how
    assert_includes File.read(path), "now here"
  end

  def test_starts_at_once_and_a_broken_cache
    start
    FileUtils.cp_r(@cache, @cache = File.join(@folder, "cache"))
    FileUtils.rm_r(File.join(@cache, "upwell/opal/programs"))
    paths = Array.new(3) { Thread.new { start.first } }.map(&:value)
    assert_equal 1, paths.uniq.size
    assert_equal "found", start.last

    programs, units = %w[programs units].map { |kind| Dir[File.join(@cache, "upwell/opal", kind, "*")] }
    [*programs, *units.each_slice(20).map(&:first)].each { |file| File.truncate(file, 100) }
    path, how = start
    assert_equal "compiled", how
    size = File.size(path)
    File.truncate(path, 100)
    assert_equal [path, "compiled"], start
    assert_equal size, File.size(path)
  end

  def test_a_cache_that_cannot_be_written_is_told
    @cache = File.join(@folder, "cache")
    write("cache", "a file where the folder should be")
    assert_match(CANNOT, start.first)
  end

  # No file may have more than some bytes: what is written first fits, what is written then does not, and nothing of it stays.
  def test_a_disk_that_is_full
    path, = start
    write("app/config.ru", "run ->(env) { [200, {}, []] }\n")
    message, how = start(script: "trap('XFSZ', 'IGNORE')", rlimit_fsize: File.size(path) / 2)
    assert_match(CANNOT, message)
    assert_equal "compiled", how
    assert_empty(Dir[File.join(@cache, "**/*")].grep(/\.\d+\z/))
    assert_equal "compiled", start.last
  end

  # What is found beside config.ru is not looked for where the command is called, and no other application has it.
  def test_paths_are_of_the_application_wherever_it_is_started
    %w[other app].each do |app|
      write("#{app}/config.ru", "require './start'\nrequire '../beside'\nrun App\n")
      write("#{app}/start.rb", "App = ->(env) { [200, {}, ['started in #{app}']] }\n")
    end
    write("beside.rb", "BESIDE = 'beside the applications'\n")
    elsewhere = File.join(@folder, "elsewhere")
    write("elsewhere/start.rb", "App = ->(env) { [200, {}, ['started elsewhere']] }\n")

    assert_started_in("other", from: elsewhere)
    assert_started_in("app", from: File.join(@folder, "other"))
  end

  private

  def map_of(program)
    File.join(File.dirname(program), File.binread(program)[/^\/\/# sourceMappingURL=(.*)$/, 1])
  end

  def assert_started_in(app, from:)
    program = File.binread(start(app, from: from).first)
    assert_equal ["started in #{app}"], program.scan(/started (?:in \w+|elsewhere)/).uniq
    assert_includes program, "beside the applications"
    assert_equal [%("~/start")], program.scan(/require\("(?:[^"]*\/)start"\)/).map { |call| call[/"[^"]*"/] }.uniq
  end
end
