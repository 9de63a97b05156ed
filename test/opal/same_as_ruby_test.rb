# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require "upwell/opal/build"
require_relative "../support/opal_runtimes"

# Each program beneath test/opal/same prints what it computes: compiled, and run by Node, it prints what Ruby does. That is how the shims are
# tested, what Ruby's own classes have more than Opal's, and the released gems.
class SameAsRubyTest < Minitest::Test
  include OpalRuntimes

  FOLDER = File.join(__dir__, "same")
  SECONDS_MAX = 60
  ROOT = File.expand_path("../..", __dir__)
  GEM_PATHS = Upwell::Opal::GemPaths.new(ROOT) # Bundler is asked once

  Dir[File.join(FOLDER, "**/*.rb")].each do |program|
    name = program.delete_prefix("#{FOLDER}/").delete_suffix(".rb")
    define_method(:"test_#{name.tr("/", "_")}") do
      need("up_node")
      assert_equal of_ruby(program), of_node(program)
    end
  end

  private

  def of_ruby(program)
    output(RbConfig.ruby, "-EUTF-8", program)
  end

  def of_node(program)
    units = Upwell::Opal::Build.new(ROOT, GEM_PATHS).units(File.read(program, encoding: "UTF-8"), program)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "program.js")
      File.write(path, units.map(&:javascript).join)
      output("node", path)
    end
  end

  # What loops for ever is ended.
  def output(*command)
    Open3.popen3(BundleGemPaths.environment, *command, chdir: ROOT) do |input, output, error, process|
      input.close
      readers = [output, error].map { |io| Thread.new { io.binmode.read } }
      ended = process.join(SECONDS_MAX)
      Process.kill(:KILL, process.pid) unless ended

      assert ended, "#{command.join(" ")} takes more than #{SECONDS_MAX} seconds"
      assert_predicate process.value, :success?, readers.last.value

      readers.first.value
    end
  end
end
