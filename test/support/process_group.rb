# frozen_string_literal: true

# Commands as child processes, each with whatever it forks in a process group of its own: nobody outlives the tests, unless these are killed.
module ProcessGroup
  @started = []

  class << self
    # @see Process.spawn
    # @return [Integer] the process, and its group
    def spawn(*command, **options)
      end_with_this_process
      Process.spawn(*command, **options, pgroup: true).tap { |pid| @started << pid }
    end

    # Waits for the first of a group, and ends whoever it has left behind: from then on the number may be another group's.
    #
    # @return [Process::Status]
    def wait(pid)
      Process.wait2(pid).last.tap { kill(pid) }
    end

    # Ends whoever is left of a group. The first of them is still to be waited for.
    def kill(pid)
      return unless @started.delete(pid)

      Process.kill("KILL", -pid)
    rescue Errno::ESRCH
      nil # nobody is
    end

    private

    # A signal may end the tests, or a test fail before it has what it would end.
    def end_with_this_process
      return if @process

      @process = Process.pid
      at_exit { @started.dup.each { |pid| kill(pid) } if Process.pid == @process }
    end
  end
end
