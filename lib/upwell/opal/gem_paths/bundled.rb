# frozen_string_literal: true

# A process of its own, see {Upwell::Opal::GemPaths}: tells where gems are installed, and the load paths of those of the Gemfile that
# BUNDLE_GEMFILE names; or why they cannot be had.

require "bundler"

output = $stdout
$stdout = $stderr # what the Gemfile prints is no path

begin
  paths = Bundler.load.specs.flat_map(&:full_require_paths)
  output.print([Gem::Specification.dirs, paths].map { |list| list.join("\0") }.join("\0\0"))
rescue StandardError, ScriptError => e
  reason = e.message.lines.map(&:strip).reject(&:empty?).first.to_s.delete_suffix(".")
  remedy = "; run bundle install" unless e.is_a?(Bundler::GemfileError) || reason.include?("bundle install")
  abort "#{reason}#{remedy}"
end
