# frozen_string_literal: true

module Torture
  # How often a kind of activity is done among the others, and in which ways it may be disturbed.
  Kind = Struct.new(:weight, :ways)

  # Of whatever waits for an IO, a queue or a time: ended by a time-out, by an exception that another fiber raises, by a fiber or a thread that
  # closes what it has.
  WAYS = %i[time_out raise close close_by_thread half_close half_close_by_thread].freeze
  # Of what is lost when an exception keeps Ruby from handing it over.
  CALM = [].freeze
  RAISED = %i[time_out raise].freeze

  def self.kinds(weight, ways, *names)
    names.to_h { |name| [name, Kind.new(weight, ways)] }
  end
  private_class_method :kinds

  KINDS = {
    **kinds(6, WAYS, :nap, :pipe, :pair), **kinds(4, WAYS, :tcp, :unix, :duplex, :queue, :queue_of_thread, :queue_to_thread),
    **kinds(3, WAYS, :timed_out_read, :timed_out_write, :to_thread, :from_thread, :shared_reader, :copy_between_streams),
    **kinds(2, WAYS, :udp, :wait_in_vain, :select_one, :file, :copy_to_file, :copy_to_stream, :neighbours, :popen),
    **kinds(3, RAISED, :mutex, :condition, :timed_out_pop, :yield_turns, :join), **kinds(2, RAISED, :monitor, :name_of_host, :spawn_and_wait),
    **kinds(2, CALM, :killed_popper, :killed_holder, :timed_out_lock, :loop_events, :selector, :thread_raised, :thread_killed),
    **kinds(2, CALM, :closed_by_fiber, :closed_by_thread, :closed_read_by_fiber, :closed_read_by_thread, :closed_by_neighbour,
            :closed_write_by_fiber, :closed_write_by_thread),
    **kinds(1, CALM, :system_command, :backticks, :captured, :loop_in_child),
    **kinds(0.5, RAISED, :fork_exit, :fork_abort, :fork_raise, :fork_return, :fork_leave, :fork_exec, :fork_kill),
    **kinds(1, RAISED, :fork_block), **kinds(1, CALM, :fork_by_thread), **kinds(0.3, CALM, :stress, :collect, :compact)
  }.freeze
end
