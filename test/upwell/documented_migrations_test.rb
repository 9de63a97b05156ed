# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/certificates"
require "upwell/cli"

# The tables for users of other servers: the options and settings in their last column are Upwell's.
class DocumentedMigrationsTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  TABLES = Dir.glob("docs/guide/from_*.md", base: ROOT).to_h do |page|
    rows = File.read(File.join(ROOT, page), encoding: "UTF-8").lines.grep(/\A\| /).map { |row| row.gsub("\\|", "/")[/\|([^|]+)\|$/, 1] }
    [page, rows.flat_map { |cell| cell.scan(/`([^`]+)`/).flatten }.uniq]
  end.freeze
  OPTIONS = /\A(?:upwell )?-/
  SETTING = /\A[a-z_]+ (?:["\d]|true|ENV)/
  PLACEHOLDERS = { "cert-file FILE" => "cert-file cert.pem", "key-file FILE" => "key-file key.pem", "cert=FILE" => "cert=cert.pem",
                   "key=FILE" => "key=key.pem", "FILE" => "file.rb", " N" => " 2", "HOST" => "localhost" }.freeze

  def setup
    @before = Dir.pwd
    @data_home = ENV.fetch("XDG_DATA_HOME", nil)
    Dir.chdir(@directory = Dir.mktmpdir)
    ENV["XDG_DATA_HOME"] = @directory # for the certificate of --self-signed
    FileUtils.mkdir_p("public")
    File.write("file.rb", "")
    FileUtils.cp(Certificates.localhost.path, "cert.pem")
    FileUtils.cp(Certificates.localhost.key_path, "key.pem")
  end

  def teardown
    ENV["XDG_DATA_HOME"] = @data_home
    Dir.chdir(@before)
    FileUtils.rm_rf(@directory)
  end

  def test_options_are_accepted
    each_code(OPTIONS) do |page, code|
      status = nil
      output = capture_io { status = Upwell::CLI.start([*code.delete_prefix("upwell ").split, "--check"]) }
      assert_equal 0, status, "#{page}: #{code}: #{output.join}"
    end
  end

  def test_settings_are_accepted
    each_code(SETTING) do |page, code|
      File.write("upwell.rb", code)
      assert Upwell::Configuration.new({}, file: "upwell.rb", environment: {})
    rescue Upwell::ConfigurationError => e
      flunk "#{page}: #{e.message}"
    end
  end

  private

  def each_code(pattern)
    TABLES.each do |page, codes|
      found = codes.grep(pattern)
      refute_empty found, page
      found.each { |code| yield page, code.gsub(Regexp.union(PLACEHOLDERS.keys), PLACEHOLDERS) }
    end
  end
end
