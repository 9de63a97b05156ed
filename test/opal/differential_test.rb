# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/opal_runtimes"
require_relative "differential/comparison_with_mri"
require_relative "differential/guide_results_table"

# The differential run in brief, with the project's own gems: see `rake test:opal:differential`.
class DifferentialTest < Minitest::Test
  include OpalRuntimes

  APPLICATIONS = %w[middlewares requests roda].freeze

  APPLICATIONS.each do |application|
    define_method(:"test_#{application}") do
      requests = Differential::Requests.all[application]
      on_mri = with_own_gems { Differential::NormalizedResponses.of("up_ruby", application, requests) }
      assert_kind_of Array, on_mri, "up_ruby did not answer"
      Differential::COMMANDS.each do |command|
        need(command)
        comparison = with_own_gems { Differential::ComparisonWithMRI.new(application, command, requests, on_mri) }
        assert_equal [], comparison.unknown.first(5), command
      end
    end
  end

  def test_the_guide_lists_what_is_known
    assert_equal Differential::GuideResultsTable.expected.join, Differential::GuideResultsTable.present.join, "run rake test:opal:differential"
  end

  private

  def with_own_gems
    before = Differential::NormalizedResponses.gemfile
    Differential::NormalizedResponses.gemfile = File.join(ServerProcess::ROOT, "Gemfile")
    yield
  ensure
    Differential::NormalizedResponses.gemfile = before
  end
end
