# frozen_string_literal: true

require_relative "../test_helper"

class ConfigurationTest < Minitest::Test
  def configuration(values = {}, environment: {}, **rest)
    Upwell::Configuration.new(values, environment: environment, **rest)
  end

  def with_file(text)
    Dir.mktmpdir do |dir|
      path = File.join(dir, "upwell.rb")
      File.write(path, text)
      yield path
    end
  end

  def test_defaults
    assert_equal [3000, ["localhost"], 0, "fibers", 10], configuration.then { |c| [c.port, c.bind, c.workers, c.mode, c.head_timeout] }
  end

  def test_the_environment_then_the_file_then_the_options
    with_file("port 2\nhead_timeout 2\n") do |path|
      environment = { "PORT" => "1", "UPWELL_BACKEND" => BACKENDS.first, "UPWELL_MODE" => "threads:2" }
      result = configuration({ head_timeout: "3" }, file: path, environment: environment)
      assert_equal [2, 3.0, BACKENDS.first, 2], [result.port, result.head_timeout, result.backend, result.threads]
    end
  end

  def test_a_default_of_the_command_gives_way_to_the_file
    with_file("workers 2\n") do |path|
      assert_equal 2, configuration(file: path, defaults: { workers: "auto" }).workers
      assert_equal Upwell.processors, configuration(defaults: { workers: "auto" }).workers
    end
  end

  def test_modes
    { "fibers" => [:fibers, 1024, 0], "fibers:7" => [:fibers, 7, 0], "threads:5" => [:threads, 1024, 5], "inline" => [:inline, 1024, 0] }
      .each do |mode, expected|
        chosen = configuration({ mode: mode })
        assert_equal expected, [*chosen.reactor_settings.values_at(:mode, :fibers_max), chosen.threads], mode
      end
    %w[fibers:0 fibers:30001 threads: threads:1001 inline:2].each do |mode|
      assert_raises(Upwell::ConfigurationError, mode) { configuration({ mode: mode }) }
    end
  end

  def test_workers_for_all_processors
    assert_equal Upwell.processors, configuration({ workers: "auto" }).workers
  end

  def test_hooks_and_flags_in_a_file
    with_file("preload\nbefore_fork { 1 }\nafter_fork { |index| index }\n") do |path|
      result = configuration(file: path)
      assert result.preload
      assert_equal [1, 1], [result.before_fork_hooks.size, result.after_fork_hooks.size]
    end
  end

  def test_the_public_folder
    assert_nil configuration.reactor_settings.fetch(:public)
    with_file("public 'test'\npublic_cache_control 'no-cache'\n") do |path|
      files = configuration(file: path).reactor_settings.fetch(:public)
      assert_equal [File.expand_path("test"), "no-cache", true, false], files.values_at(:root, :cache_control, :gzip_static, :list)
    end
  end

  def test_fields_of_files
    with_file("public 'test'\nheader 'X-A: 1', 'X-B:2 '\nheader 'X-A: 3'\n") do |path|
      assert_equal "X-A: 1\r\nX-B: 2\r\nX-A: 3\r\n", configuration(file: path).reactor_settings.fetch(:public).fetch(:fields)
      assert_equal ["X-C: 4"], configuration({ header: ["X-C: 4"] }, file: path).header
    end
    with_file("header 'Connection: close'") do |path|
      error = assert_raises(Upwell::ConfigurationError) { configuration(file: path) }
      assert_match(/\Aconfiguration file #{path}:1: header: must not be a field that the server writes itself/, error.message)
    end
  end

  def test_fields_that_cannot_be
    form = 'must be "NAME: VALUE" in printable ASCII characters'
    cases = ["", "no colon", ": no name", "a b: c", "X-A: a\r\nX-B: b", "X-A: a\n", "X-A: \u00e9"].to_h { |field| [[field], form] }
    %w[Content-Length transfer-encoding Connection ETag Cache-Control].each do |name|
      cases[["X-A: 1", "#{name}: 1"]] = "must not be a field that the server writes itself, such as #{name}"
    end
    cases[["X-A: #{"a" * 4_000}"] * 3] = "must have at most 8192 bytes in total"
    cases.each do |fields, sentence|
      error = assert_raises(Upwell::ConfigurationError, fields.inspect) { configuration({ header: fields }) }
      assert_equal "option header: #{sentence}, got #{fields.inspect}", error.message
    end
  end

  def test_what_has_no_effect_without_another_setting_is_refused
    { { header: ["X-A: 1"] } => "header has no effect without public; add --public, or remove --header",
      { public_cache_control: "no-cache" } =>
        "public_cache_control has no effect without public; add --public, or remove --public-cache-control" }.each do |values, sentence|
      assert_equal sentence, assert_raises(Upwell::ConfigurationError) { configuration(values) }.message
      assert configuration(values.merge(public: "test")) # together they are fine
    end
    with_file("header 'X-A: 1'") do |path|
      assert_raises(Upwell::ConfigurationError) { configuration(file: path) }
      assert configuration({ public: "test" }, file: path)
    end
    error = assert_raises(Upwell::ConfigurationError) { Upwell::StaticConfiguration.new({ access_log_except: ["/up"] }, environment: {}) }
    assert_equal "access_log_except has no effect without access_log; add --access-log, or remove --access-log-except", error.message
    assert Upwell::StaticConfiguration.new({ header: ["X-A: 1"] }, environment: {})
  end

  def test_the_logs
    with_file("access_log\naccess_log_except '/up'\naccess_log_except '/health', '/ready'\nlog_format 'json'\nquiet") do |path|
      logs = configuration(file: path)
      assert_equal ["-", %w[/up /health /ready], "json", true], [logs.access_log, logs.access_log_except, logs.log_format, logs.quiet]
      assert_equal %w[/a], configuration({ access_log_except: %w[/a] }, file: path).access_log_except
    end
    with_file("access_log 'log/access.log'") { |path| assert_equal "log/access.log", configuration(file: path).access_log }
    ["up", "/up?a", "/u p", ""].each { |path| assert_raises(Upwell::ConfigurationError) { configuration({ access_log_except: [path] }) } }
  end

  # Without --access-log, a stream is a terminal.
  def test_the_format_of_the_access_log
    logs = configuration({ log_format: "json" })
    logs.access_log_stream = $stdout
    assert_equal %i[json terminal], logs.reactor_settings.values_at(:log_format, :access_log_format)
    logs = configuration({ access_log: "-", log_format: "json" })
    logs.access_log_stream = $stdout
    assert_equal %i[json json], logs.reactor_settings.values_at(:log_format, :access_log_format)
  end

  def test_what_is_wrong_is_told_with_its_place
    { port: "x", mode: "threads:0", workers: -1, headers_max: 10_001, head_timeout: "soon", body_bytes_max: 0, public: "/nowhere",
      public_cache_control: "a\nb" }.each do |name, value|
      error = assert_raises(Upwell::ConfigurationError) { configuration({ name => value }) }
      assert_match(/\Aoption #{name}: must be .*, got #{Regexp.escape(value.inspect)}\z/, error.message)
    end
    with_file("ports 1") do |path|
      assert_match(/#{path}.*ports/, assert_raises(Upwell::ConfigurationError) { configuration(file: path) }.message)
    end
    assert_match(/cannot be read/, assert_raises(Upwell::ConfigurationError) { configuration(file: "/nowhere") }.message)
  end
end
