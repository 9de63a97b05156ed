# frozen_string_literal: true

module RequestIsolation
  # What a client may get of each act, and how often it is asked for among the others.
  #
  # whole:  all of the text, and the response ends as it says
  # prefix: the response ends as it says, after some part of the text
  # broken: 500, or a response whose end is missing
  # cut:    any of these
  # error:  500
  # empty:  a head alone
  #
  # What other threads take over, or do beyond the response, may be cut by the end of the process.
  Act = Struct.new(:outcome, :weight, :aside, keyword_init: true)

  def self.act(outcome, weight = 4, aside: false)
    Act.new(outcome: outcome, weight: weight, aside: aside)
  end
  private_class_method :act

  ACTS = {
    "array" => act(:whole, 12), "array_of_pieces" => act(:whole), "each_piece" => act(:whole, 8), "each_sized" => act(:whole),
    "callable" => act(:whole, 8), "callable_unclosed" => act(:whole), "file" => act(:whole), "enumerator" => act(:whole),
    "no_content" => act(:empty), "echo" => act(:whole, 10), "paced" => act(:whole),

    "each_in_thread" => act(:whole, 8), "callable_in_thread" => act(:whole, 8), "callable_in_threads" => act(:whole),
    "callable_in_fiber" => act(:whole), "thread_outlives_call" => act(:prefix, 8), "thread_outlives_each" => act(:prefix, 8),
    "writer_killed" => act(:prefix), "env_outlives" => act(:whole, 12), "hijack_races" => act(:whole, 6, aside: true),
    "hints_race" => act(:whole, 6),

    "hijack" => act(:whole), "hijack_in_thread" => act(:whole, aside: true), "hijack_late" => act(:whole, aside: true),
    "partial_hijack" => act(:whole), "partial_hijack_in_thread" => act(:whole, aside: true), "partial_hijack_raises" => act(:cut),

    "raises" => act(:error), "raises_in_each" => act(:broken), "raises_in_callable" => act(:broken), "raises_in_close" => act(:whole),
    "raises_in_finished" => act(:whole), "raises_no_standard_error" => act(:error, 2), "throws" => act(:error, 2), "too_deep" => act(:error, 1),
    "too_short" => act(:broken), "too_long" => act(:cut), "raised_into" => act(:whole, 2),

    "times_out" => act(:whole), "times_out_writing" => act(:prefix), "catches" => act(:whole), "waits_for_queue" => act(:whole),
    "waits_for_mutex" => act(:whole), "collects" => act(:whole, 1), "compacts" => act(:whole, 0.2),
    "forks" => act(:whole, 0.4), "executes" => act(:whole, 0.4), "runs" => act(:whole, 0.4)
  }.freeze
end
