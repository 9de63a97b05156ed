# frozen_string_literal: true

require "etc"

module Bench
  # What a process and all its descendants took so far, read from /proc. Pages that two of them share count twice.
  #
  # @!attribute user [Float] CPU seconds
  # @!attribute system [Float] CPU seconds
  # @!attribute faults [Integer] pages that were not there when they were touched
  # @!attribute resident [Integer] bytes in memory now
  # @!attribute peak [Integer] bytes in memory at most
  # @!attribute descriptors [Integer]
  ProcessUsage = Struct.new(:user, :system, :faults, :resident, :peak, :descriptors) do
    class << self
      def of_tree(pid)
        pids_of_tree(pid).map { |member| of(member) }.reduce(:+)
      end

      # @return [Array<Integer>] the process and all its descendants
      def pids_of_tree(pid)
        children = Dir["/proc/#{pid}/task/*/children"].flat_map { |file| children_in(file) }
        [pid, *children.flat_map { |child| pids_of_tree(child) }]
      end

      # The fields are counted from the command's closing parenthesis: the command may hold spaces and parentheses.
      def parse_stat(line)
        fields = line[(line.rindex(")") + 2)..].split
        user, system = fields.values_at(11, 12).map { |ticks| ticks.to_f / Etc.sysconf(Etc::SC_CLK_TCK) }
        [user, system, fields.values_at(7, 9).sum(&:to_i)]
      end

      def parse_status(text)
        %w[VmRSS VmHWM].map { |name| text[/^#{name}:\s+(\d+) kB/, 1].to_i * 1024 }
      end

      private

      def of(pid)
        folder = "/proc/#{pid}"
        new(*parse_stat(File.read("#{folder}/stat")), *parse_status(File.read("#{folder}/status")), Dir.children("#{folder}/fd").size)
      rescue Errno::ENOENT, Errno::ESRCH
        new(0.0, 0.0, 0, 0, 0, 0) # it ended meanwhile
      end

      def children_in(file)
        File.read(file).split.map(&:to_i)
      rescue Errno::ENOENT, Errno::ESRCH
        []
      end
    end

    def +(other)
      self.class.new(*to_a.zip(other.to_a).map(&:sum))
    end
  end
end
