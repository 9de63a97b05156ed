# frozen_string_literal: true

# What the reports of workers say: of each the numbers that it has published, those that it has heard of each publisher, and the engine's stats.
class WorkerReports
  # @param reports [Array<Hash>]
  # @param workers [Integer] how many there are
  def initialize(reports, workers)
    @reports = reports
    @workers = workers
  end

  # @return [Boolean] whether each worker has reported, and none has messages that wait for Redis
  def complete?
    @reports.size == @workers && total("waiting").zero?
  end

  # @return [Integer] messages that were accepted, once for each worker, but neither heard there nor counted
  def missing
    (@workers * accepted) - heard.sum(&:size) - total("lost") - total("dropped")
  end

  # @return [Boolean]
  def once_and_in_order?
    heard.all? { |numbers| numbers.each_cons(2).all? { |one, other| one < other } }
  end

  # @return [String]
  def to_s
    outages = @reports.map { |report| report["stats"]["outages"] }
    "#{accepted} messages were accepted, #{total("refused")} refused. #{@workers} workers heard #{heard.sum(&:size)} and counted " \
      "#{total("lost")} as lost, #{total("dropped")} as dropped; #{missing} are missing. Redis was away #{outages} times."
  end

  private

  def accepted
    @reports.sum { |report| report["accepted"] }
  end

  def heard
    @reports.flat_map { |report| report["heard"].values }
  end

  def total(name)
    @reports.sum { |report| report["stats"][name] }
  end
end
