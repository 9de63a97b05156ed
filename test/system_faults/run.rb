# frozen_string_literal: true

# Each hostile condition at each moment of each server's life: ROWS, KINDS, WORKERS, MOMENTS (patterns), PART=1/8 (of the cells), JOBS.

require "upwell"
require_relative "fault_at_moment"
require_relative "expected_outcomes"
require_relative "../support/second_attempt"

# Several cells at once: they wait for most of the time.
class SystemFaults
  Place = Struct.new(:row, :kind, :workers, :moment) do
    def to_s
      "#{row.name}, #{moment}: #{kind} -w #{workers}"
    end
  end

  def initialize(environment)
    @jobs = Integer(environment.fetch("JOBS", "4"))
    @part, @parts = environment.fetch("PART", "1/1").split("/").map(&:to_i)
    @patterns = %w[ROWS KINDS WORKERS MOMENTS].map { |name| Regexp.new(environment.fetch(name, "")) }
    @failures = Queue.new
  end

  # @return [Boolean] whether all went well
  def run
    FailingCallsLibrary.build
    all, skipped = places.partition { |place| !place.row.mounts || SmallFileSystem.mountable? }
    queue = all.each_with_object(Queue.new) { |place, waiting| waiting << place }.close
    Array.new(@jobs) { Thread.new { work(queue) } }.each(&:join)
    puts "skipped: #{skipped.size} cells, as this user may not mount" if skipped.any?
    failed = remaining(Array.new(@failures.size) { @failures.pop })
    puts "system_faults: #{all.size} cells, #{failed.size} failed"
    failed.empty?
  end

  private

  # In CI a failed cell runs again, alone (SecondAttempt).
  def remaining(failed)
    SecondAttempt.remaining_cases(failed) { |place| FaultAtMoment.new(*place).failure }
  end

  # Each part has something of every row and of every moment.
  def places
    wanted = ExpectedOutcomes.cells.map { |cell| Place.new(*cell) }.select { |place| wanted?(place) }
    wanted.select.with_index { |_, index| index % @parts == @part - 1 }
  end

  def wanted?(place)
    texts = [place.row.name, place.kind, place.workers, place.moment].map(&:to_s)
    texts.zip(@patterns).all? { |text, pattern| pattern.match?(text) }
  end

  def work(queue)
    while (place = queue.pop)
      failure = FaultAtMoment.new(*place).failure
      next unless failure

      @failures << place
      puts "#{place}: #{failure}"
    end
  end
end

exit SystemFaults.new(ENV).run
