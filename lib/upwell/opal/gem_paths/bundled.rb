# frozen_string_literal: true

# This script runs in a separate process, see {Upwell::Opal::GemPaths}. It prints the load paths and locations of the gems in the Gemfile
# that BUNDLE_GEMFILE names. Otherwise it prints the error and exits with status 1.

output = $stdout
$stdout = $stderr # output of the Gemfile must not mix with the paths

begin
  require "bundler"
  paths = Bundler.load.specs.flat_map(&:full_require_paths)
  output.print([Gem::Specification.dirs, paths].map { |list| list.join("\0") }.join("\0\0"))
rescue StandardError, ScriptError => e
  reason = e.message.lines.map(&:strip).reject(&:empty?).first.to_s.delete_suffix(".")
  remedy = "; run bundle install" unless e.is_a?(Bundler::GemfileError) || reason.include?("bundle install")
  output.print(reason, remedy)
  exit 1
end
