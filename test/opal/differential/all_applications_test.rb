# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/opal_runtimes"
require_relative "comparison_with_mri"
require_relative "guide_results_table"

# Applications of released gems: each JavaScript runtime answers as MRI does, in status, fields and body. With DIFFERENTIAL_TABLE=1 the
# results are written into the guide. APPLICATIONS and ON name some.
class DifferentialAllApplicationsTest < Minitest::Test
  include OpalRuntimes

  FOUND = Differential::Requests::APPLICATIONS.to_h { |name| [name, {}] }
  CHOSEN = ENV.fetch("APPLICATIONS", FOUND.keys.join(",")).split(",").freeze
  COMMANDS = ENV.fetch("ON", Differential::COMMANDS.join(",")).split(",").freeze

  TOLD_MAX = 8

  CHOSEN.each do |application|
    define_method(:"test_#{application}") do
      requests = Differential::Requests.all[application]
      on_mri = Differential::NormalizedResponses.of("up_ruby", application, requests)
      assert_kind_of Array, on_mri, "MRI does not serve it"
      unknown = COMMANDS.flat_map { |command| differences(application, command, requests, on_mri) }
      assert unknown.empty?, "#{unknown.size} unknown differences:\n#{unknown.first(TOLD_MAX).join("\n")}"
    end
  end

  private

  def differences(application, command, requests, on_mri)
    need(command)
    comparison = Differential::ComparisonWithMRI.new(application, command, requests, on_mri)
    FOUND[application][command] = comparison.known.keys
    comparison.unknown.map { |text| "#{command}, #{text}" }
  end
end

if ENV["DIFFERENTIAL_TABLE"]
  Minitest.after_run do
    found = DifferentialAllApplicationsTest::FOUND
    Differential::GuideResultsTable.write(found) if found.values.all? { |by_command| by_command.size == Differential::COMMANDS.size }
  end
end
