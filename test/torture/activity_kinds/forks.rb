# frozen_string_literal: true

module Torture
  module ActivityKinds
    # A fiber forks, and the child ends in one of the many ways there are: its status and what it says at its end are as without a scheduler, and
    # none of the parent's fibers goes on in it.
    module Forks
      STATUS = { exit: 7, abort: 1, raise: 1, return: 0, leave: 9, exec: 5, kill: nil }.freeze
      SILENT = %i[leave exec kill].freeze # ends without at_exit
      FAREWELL = "farewell"
      ERRORS = File.open("#{FOLDER}/errors", "a") # what children say

      # Which no one rescues.
      OnPurpose = Class.new(Exception) # rubocop:disable Lint/InheritException

      class << self
        # What a child writes its farewell to.
        attr_accessor :writer
      end
      at_exit { writer&.syswrite(FAREWELL) }

      STATUS.each_key { |ending| define_method("fork_#{ending}") { fork_without_block(ending) } }

      def fork_block
        ending = STATUS.keys.sample(random: @dice)
        fork_and_await(ending) { |child| fork(&child) }
      end

      def fork_by_thread
        ending = STATUS.keys.sample(random: @dice)
        fork_and_await(ending) { |child| own_thread { fork(&child) }.value }
      end

      private

      def fork_without_block(ending)
        fork_and_await(ending) { |child| fork || child.call }
      end

      # @yieldparam child [Proc]
      # @yieldreturn [Integer, Object] the child's number; anything else in the child, which then goes on
      def fork_and_await(ending)
        reader, writer = own(*IO.pipe(binmode: true))
        mark = new_mark
        size = @dice.rand(1..5000)
        dice = more_dice
        parent = Process.pid
        pid = yield(proc { act_as_child(ending, writer, mark.bytes(size), dice) })
        return unless Process.pid == parent

        own_child(pid)
        writer.close
        await_child(pid, ending, reader.read, mark, size)
      end

      def act_as_child(ending, writer, bytes, dice)
        settle_in_child
        $stderr.reopen(ERRORS)
        sleep(short(dice)) if chance(2, dice)
        writer.write(bytes)
        writer.flush
        Forks.writer = writer.dup unless SILENT.include?(ending)
        end_as(ending)
      end

      def end_as(ending)
        case ending
        when :exit then exit(STATUS[:exit])
        when :abort then abort("on purpose")
        when :raise then raise OnPurpose
        when :leave then exit!(STATUS[:leave])
        when :exec then exec("exit #{STATUS[:exec]}")
        when :kill then Process.kill("KILL", Process.pid) && sleep
        end
      end

      def await_child(pid, ending, said, mark, size)
        status = wait_for_child(pid)
        farewell = SILENT.include?(ending) ? "" : FAREWELL
        mark.check(said.byteslice(0, size), 0)
        check(said.byteslice(size..) == farewell, "farewell of #{ending}: #{said.byteslice(size..).inspect}")
        check(status.exitstatus == STATUS[ending], "status of #{ending}: #{status}")
      end
    end
  end
end
