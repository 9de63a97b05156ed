# frozen_string_literal: true

require "minitest/autorun"
require "rbconfig"
require_relative "../../bench/lib/server"
require_relative "../../bench/static/settings"
require_relative "../support/bundle_gem_paths"

class StaticBenchTest < Minitest::Test
  Environment = Struct.new(:environment)
  ROOT = File.expand_path("../..", __dir__)

  def settings(**environment)
    Bench::Static::Settings.new(environment.transform_keys(&:to_s))
  end

  # The requests and what is expected of the answers, against a real server.
  def test_each_workload_is_answered_as_expected
    Bench::Static::ServedFiles.make
    Bench::Server.open(method(:upwell), installation: Environment.new(BundleGemPaths.environment_without_rubygems)) do |server|
      Bench::Static::WORKLOADS.each do |workload|
        assert_nil workload.objection(server.request(workload.request)), workload.name
      end
    end
  end

  def test_another_answer_is_not_accepted
    Bench::Static::ServedFiles.make
    whole, unmodified = %w[1k 304].map { |name| Bench::Static::WORKLOADS.find { |workload| workload.name == name } }
    Bench::Server.open(method(:upwell), installation: Environment.new(BundleGemPaths.environment_without_rubygems)) do |server|
      assert_equal "status 200", unmodified.objection(server.request(whole.request))
      assert_equal "another content, of 16384 bytes", whole.objection(server.request(Bench::Request.new(path: "/16k.html")))
    end
  end

  def test_workloads_are_chosen_by_size_and_name
    assert_equal %w[16k 16k-close], settings(SIZES: "16k").workloads.map(&:name)
    assert_equal %w[304], settings(SIZES: "1k", WORKLOADS: "304,range").workloads.map(&:name)
    assert_raises(ArgumentError) { settings(SIZES: "2k").workloads }
  end

  def test_defaults
    assert_equal [2, 5, [64, 1000], Bench::Static::CANDIDATES],
                 [settings.seconds, settings.rounds, settings.connections, settings.candidates]
  end

  def test_a_peer_is_told_port_and_folder
    nginx = Bench::Static::CANDIDATES.find { |candidate| candidate.name == "nginx" }
    program, script, port, folder = nginx.arguments(4711)
    assert_equal ["sh", "4711", Bench::Static::ServedFiles::ROOT], [program, port, folder]
    assert_path_exists script
  end

  def test_a_rack_server_is_told_the_folder
    puma = Bench::Static::CANDIDATES.find { |candidate| candidate.name == "puma" }
    assert_equal ["env", "FOLDER=#{Bench::Static::ServedFiles::ROOT}", "puma"], puma.arguments(4711).first(3)
  end

  def test_a_program_that_is_not_there_is_told
    error = assert_raises(Bench::GemInstallation::Error) { Bench::SystemProgram.new("upwell-missing-peer", version: "-v").install }
    assert_equal "is not installed", error.message
  end

  private

  def upwell(port)
    [RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/upwell", "static", "-b", "127.0.0.1", "-p", port.to_s, "--quiet", Bench::Static::ServedFiles::ROOT]
  end
end
