# frozen_string_literal: true

require_relative "rack_errors_wrapper"
require_relative "log"

module Upwell
  # Logs exceptions that the application did not rescue.
  module ExceptionLog
    UNTOLD = [StandardError, ScriptError, SystemStackError].freeze # errors that an exception's `message` may raise

    # Writes id, method and path of the request, the exception and its backtrace to `rack.errors`, or to standard error if that fails.
    #
    # @param error [Exception]
    # @param env [Hash, nil] the request's environment, if it exists
    # @return [void] a log that cannot be written must not stop the server
    def self.report(error, env)
      record = "Error#{place(env)}: ".b << text(error).b
      stream = errors(env)
      id = request_id(env)
      (stream && !stream.equal?($stderr) && Log.tell(record, stream, request_id: id)) || Log.tell(record, request_id: id)
    end

    # The application may have stored any object.
    def self.request_id(env)
      env && [env["upwell.request_id"]].grep(String).first
    end
    private_class_method :request_id

    # {RackErrorsWrapper} may stand for the server's own stream. A stream of the application is used unchanged.
    def self.errors(env)
      stream = env && env["rack.errors"]
      RackErrorsWrapper === stream ? stream.__getobj__ : stream # rubocop:disable Style/CaseEquality -- no method of the stream's is called
    end
    private_class_method :errors

    # Logs an error of a signal handler.
    #
    # @param error [Exception]
    # @param name [String] of the signal, without SIG
    # @return [void]
    def self.signal(error, name)
      Log.tell("Error while handling SIG#{name}; the server keeps running: ".b << text(error).b)
    end

    # Logs an error of the supervisor, which continues.
    #
    # @param error [Exception]
    # @return [void]
    def self.supervisor(error)
      Log.tell("Error in the supervisor; the supervisor keeps running: ".b << text(error).b)
    end

    # Logs an error of a notification of the service manager, which is sent again later.
    #
    # @param error [Exception]
    # @return [void]
    def self.notification(error)
      Log.tell("Error while notifying the service manager; the server keeps running: ".b << text(error).b)
    end

    # Logs an exception without a request: another thread raised it into a serving thread, or a fiber raised it after its request.
    #
    # @param error [Exception]
    # @return [void]
    def self.stray(error)
      Log.tell("Ignored an exception that came after the end of its request, or from another thread between two requests: ".b << text(error).b)
    end

    # Logs that no further fiber can be created.
    #
    # @param error [FiberError]
    # @param fibers [Integer] that serve requests
    # @return [void]
    def self.no_stack(error, fibers)
      Log.tell("Cannot create another fiber; #{fibers} fibers serve. New requests wait; retrying in 1 s. " \
               "Free memory, or raise the limit of memory mappings (sysctl vm.max_map_count): #{plain(error)}")
    end

    def self.place(env)
      env ? " during #{env.values_at("REQUEST_METHOD", "PATH_INFO").grep(String).map { |text| Log.plain(text) }.join(" ")}" : ""
    end
    private_class_method :place

    # An exception's message may raise: with error_highlight in Ruby 3.1 for errors within C, or through a faulty `message`.
    def self.text(error)
      return plain(error) if error.backtrace == []

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
