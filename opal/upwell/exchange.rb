# backtick_javascript: true
# frozen_string_literal: true

require "upwell/error_log"
require "upwell/head"
require "upwell/no_response"
require "upwell/quick_new"
require "upwell/response"
require "upwell/stream"
require "upwell/thrown"
require "upwell/upgrade"

module Upwell
  # One request from env to the end of its response: whatever the application does, the client gets one complete answer, or sees by the way
  # the connection ends that it did not.
  class Exchange
    extend QuickNew

    quick_new "server", "runtime", "client", "env", "to_head", "status", "headers", "body", "head", "response", "promise", "error", "answered"

    ERROR_HEADERS = { "content-type" => "text/plain" }.freeze
    # Constants of Ruby are looked for each time. When an Array as Ruby has it is sent, nothing of the application's is called.
    `const BYTES = #{Bytes}, HEAD = #{Head}, ARRAY = Array.prototype, plain = one => Array.isArray(one) && Object.getPrototypeOf(one) === ARRAY`
    ERROR_TEXT = "500 Internal Server Error\n"

    # @param server [Server]
    # @param runtime [Runtime::Node, Runtime::UWebSockets, Runtime::Bun]
    # @param client [Object] the runtime's
    # @param env [Hash]
    # @param to_head [Boolean] whether the request is a HEAD
    def initialize(server, runtime, client, env, to_head)
      @server = server
      @runtime = runtime
      @client = client
      @env = env
      @to_head = to_head
      @answered = false
    end

    # @param app [#call]
    # @return [void]
    def run(app)
      %x{
        try {
          #{read_response(app.call(@env))};
          if (!plain(self.body)) self.env.fill(); // it may look there once the runtime has forgotten the request
          if (self.env.$$source === null && #{upgraded?}) #{upgrade}; // else nobody has asked for anything of the env
          else #{answer};
        } catch (thrown) {
          #{fail(`thrown`)};
        }
        if (self.promise === nil) #{complete};
      }
    end

    private

    def read_response(response)
      %x{
        if (!Array.isArray(response) || response.length !== 3) #{refuse_response(response)};
        self.status = response[0];
        self.headers = response[1];
        self.body = response[2];
      }
      nil
    end

    def refuse_response(response)
      raise TypeError, "the application answered with #{NoResponse.kind(response, @env)} instead of [status, headers, body]"
    end

    # The application wants to have the client, and has not refused it by the status.
    def upgraded?
      `(self.env.get("rack.upgrade") ?? nil) !== nil` && !@env["rack.upgrade?"].nil? && @status < Upgrade::REFUSING_STATUS_MIN
    end

    def upgrade
      head = Upgrade.head(@env["rack.upgrade?"], @headers)
      @answered = true
      @server.clients.begin(@runtime, @client, @env, head) unless @runtime.gone?(@client)
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
      raise e unless @answered

      ErrorLog.report(@error = e, @env)
      @runtime.abort(@client) # a part of the head may have left
    end

    def answer
      @head = `HEAD.$new(self.status, self.headers)`
      pieces = array
      if @to_head || @head.bodiless?
        answer_without_content(pieces)
      elsif pieces
        answer_array(pieces)
      else
        answer_pieces
      end
    end

    # The Rack SPEC has `to_ary` give an Array; that of a body that streams may give something else, which `each` sends.
    def array
      return @body if `Array.isArray(self.body)`
      return unless @body.respond_to?(:to_ary)

      array = @body.to_ary
      array if `Array.isArray(array)`
    end

    def answer_array(pieces)
      data = `pieces.length === 1 ? BYTES.$of(pieces[0]) : #{join(pieces)}`
      @head.check_length(Bytes.size(data)) if @head.length
      @runtime.answer(@client, @head, data)
      @answered = true
    end

    # To HEAD many applications answer with an empty body, whose length is not that of the response.
    def answer_without_content(pieces)
      length = @head.length_told
      length ||= Bytes.size(join(pieces)) if @to_head && pieces && !pieces.empty? && !@head.bodiless?
      @runtime.answer_without_content(@client, @head, length)
      @answered = true
    end

    def join(pieces)
      Bytes.join(pieces.map { |piece| Bytes.of(piece) })
    end

    def answer_pieces
      return if answer_file

      @response = Response.new(@runtime, @client, @head)
      if @body.respond_to?(:each)
        @body.each { |piece| @response.write(piece) }
        end_response
      elsif @body.respond_to?(:call)
        call_body(Stream.new(@response, @env))
      else
        raise TypeError, "the response body, a #{@body.class}, answers neither to each nor to call"
      end
    end

    # The runtime sends it piece by piece, as the client takes it.
    def answer_file
      return unless @body.respond_to?(:to_path) && @status != 206

      @answered = @runtime.answer_file(@client, @head, @body.to_path)
    end

    # What gives back a promise writes until that is settled.
    def call_body(stream)
      promise = @body.call(stream)
      return await_promise(promise, stream) if `promise instanceof Promise`

      stream.close
      end_response
    end

    def await_promise(promise, stream)
      @response.begin
      @promise = promise
      @server.hold
      `promise.then(() => #{settle(stream, nil)}, reason => #{settle(stream, `reason`)})`
    end

    def end_response
      @response.finish
      @answered = true
    end

    def settle(stream, reason)
      stream.close
      %x{
        try {
          if (reason === nil) #{end_response};
          else #{fail(reason)};
        } catch (thrown) {
          #{fail(`thrown`)};
        }
      }
      complete
      @server.release
    end

    def fail(thrown)
      @error = Thrown.error(thrown)
      gone = @runtime.gone?(@client)
      ErrorLog.report(@error, @env) unless gone
      answer_error unless @answered || gone
      @answered = true
      forget_exceptions
    end

    # What JavaScript catches is still `$!`, for Opal, and would be the next one's cause.
    def forget_exceptions
      `Opal.exceptions.length = 0`
      `Opal.gvars["!"] = nil`
    end

    def answer_error
      return @runtime.abort(@client) if @response&.begun?

      head = Head.new(500, ERROR_HEADERS)
      @to_head ? @runtime.answer_without_content(@client, head, nil) : @runtime.answer(@client, head, ERROR_TEXT)
    end

    def complete
      close_body unless `self.body === nil || plain(self.body)`
      tell_finished unless `self.env.$$source !== null` # as above
    end

    def close_body
      @body.close if @body.respond_to?(:close)
    rescue Exception => e # rubocop:disable Lint/RescueException -- the client has its response
      ErrorLog.report(e, @env)
    end

    # The last first. What one raises is no concern of the others.
    def tell_finished
      callables = `self.env.get("rack.response_finished")`
      callables.reverse_each { |callable| call_back(callable) } if `Array.isArray(callables) && callables.length > 0`
    end

    def call_back(callable)
      callable.call(@env, @status, @headers, @error)
    rescue Exception => e # rubocop:disable Lint/RescueException -- as above
      ErrorLog.report(e, @env)
    end
  end
end
