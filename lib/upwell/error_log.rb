# frozen_string_literal: true

require_relative "held_errors"
require_relative "log"

module Upwell
  # Tells the operator about an exception that an application let out.
  module ErrorLog
    UNTOLD = [StandardError, ScriptError, SystemStackError].freeze # what an application's `message` may raise

    # Writes the request's method and path, the exception and its backtrace to `rack.errors`, in one piece; to standard error when that fails.
    #
    # @param error [Exception]
    # @param env [Hash, nil] of the request, if it got that far
    # @return [void] a log that cannot be written must not end the server
    def self.report(error, env)
      record = "Error#{place(env)}: ".b << text(error).b
      stream = errors(env)
      (stream && !stream.equal?($stderr) && Log.tell(record, stream)) || Log.tell(record)
    end

    # The server's own stream, for which {HeldErrors} may stand; but whatever the application has put there, wraps it what it may.
    def self.errors(env)
      stream = env && env["rack.errors"]
      HeldErrors === stream ? stream.__getobj__ : stream # rubocop:disable Style/CaseEquality -- no method of the stream's is called
    end
    private_class_method :errors

    # @param error [Exception] of what obeys a signal
    # @param name [String]
    # @return [void]
    def self.signal(error, name)
      Log.tell("Error while SIG#{name} was obeyed: ".b << text(error).b)
    end

    # @param error [Exception] of one that goes on
    # @return [void]
    def self.supervisor(error)
      Log.tell("Error in the supervisor, which goes on: ".b << text(error).b)
    end

    # @param error [Exception] of no request: raised by another thread into one that serves, or by a fiber that outlived its request
    # @return [void]
    def self.stray(error)
      Log.tell("Ignored, as it belongs to no request that is being served: ".b << text(error).b)
    end

    # @param error [FiberError]
    # @param fibers [Integer] that serve requests
    # @return [void]
    def self.no_stack(error, fibers)
      Log.tell("No stack for another fiber beside the #{fibers} that serve: requests wait for these. It is tried again in a second. " \
               "Less memory than it takes, or too many mappings, see vm.max_map_count: #{plain(error)}")
    end

    def self.place(env)
      env ? " during #{env.values_at("REQUEST_METHOD", "PATH_INFO").grep(String).map(&:b).join(" ")}" : ""
    end
    private_class_method :place

    # An exception may be unable to tell its message: one raised within C, in Ruby 3.1 with error_highlight; or by its author's mistake.
    def self.text(error)
      error.full_message(highlight: false)
    rescue *UNTOLD
      [plain(error), *error.backtrace].join("\n\tfrom ")
    end
    private_class_method :text

    def self.plain(error)
      "#{Exception.instance_method(:to_s).bind_call(error)} (#{error.class})"
    rescue *UNTOLD
      error.class.to_s
    end
    private_class_method :plain
  end
end
