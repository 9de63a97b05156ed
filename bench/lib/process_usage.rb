# frozen_string_literal: true

require "etc"

module Bench
  # What a process and all its descendants took so far, read from /proc. Pages that two of them share count twice.
  #
  # @!attribute user [Float] CPU seconds
  # @!attribute system [Float] CPU seconds
  # @!attribute resident [Integer] bytes in memory now
  # @!attribute peak [Integer] bytes in memory at most
  # @!attribute descriptors [Integer]
  ProcessUsage = Struct.new(:user, :system, :resident, :peak, :descriptors) do
    class << self
      def of_tree(pid)
        tree(pid).map { |member| of(member) }.reduce(:+)
      end

      # The fields are counted from the command's closing parenthesis: the command may hold spaces and parentheses.
      def parse_stat(line)
        fields = line[(line.rindex(")") + 2)..].split
        [fields[11], fields[12]].map { |ticks| ticks.to_f / Etc.sysconf(Etc::SC_CLK_TCK) }
      end

      def parse_status(text)
        %w[VmRSS VmHWM].map { |name| text[/^#{name}:\s+(\d+) kB/, 1].to_i * 1024 }
      end

      private

      def of(pid)
        folder = "/proc/#{pid}"
        new(*parse_stat(File.read("#{folder}/stat")), *parse_status(File.read("#{folder}/status")), Dir.children("#{folder}/fd").size)
      rescue Errno::ENOENT, Errno::ESRCH
        new(0.0, 0.0, 0, 0, 0) # it ended meanwhile
      end

      def tree(pid)
        children = Dir["/proc/#{pid}/task/*/children"].flat_map { |file| children_in(file) }
        [pid, *children.flat_map { |child| tree(child) }]
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
