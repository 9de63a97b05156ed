# backtick_javascript: true
# frozen_string_literal: true

require "upwell/exception_log"
require "upwell/response_head"
require "upwell/invalid_response"
require "upwell/fast_constructor"
require "upwell/streamed_response"
require "upwell/response_stream"
require "upwell/js_error"
require "upwell/upgrade"

module Upwell
  # One request, from its env to the end of its response. Whatever the application does, the client gets one complete answer, or the connection
  # ends in a way that shows the failure.
  class Exchange
    extend FastConstructor

    quick_new "server", "runtime", "client", "env", "to_head", "status", "headers", "body", "head", "response", "promise", "error", "answered"

    ERROR_HEADERS = { "content-type" => "text/plain" }.freeze
    # Ruby constants would be looked up each time. A plain Array as a body has no application code to call.
    `const BYTES = #{ByteConversion}, HEAD = #{ResponseHead}, plain = it => Array.isArray(it) && Object.getPrototypeOf(it) === Array.prototype`
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

    # Serves the request.
    #
    # @param app [#call]
    # @return [void]
    def run(app)
      %x{
        try {
          #{read_response(app.call(@env))};
          if (!plain(self.body)) self.env.fill(); // the application may access it after the runtime has released the request
          if (self.env.$$source === null && #{upgraded?}) #{upgrade}; // without an access to the env there is no upgrade
          else if (self.env.$$source === null && #{Upgrade.other_version?(@env)}) #{@answered = Upgrade.refuse(@runtime, @client)};
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
      raise TypeError, "the application returned #{InvalidResponse.kind(response, @env)} instead of [status, headers, body]"
    end

    # The application has set an upgrade handler, and its status does not refuse the upgrade.
    def upgraded?
      `(self.env.get("rack.upgrade") ?? nil) !== nil` && !@env["rack.upgrade?"].nil? && @status < Upgrade::REFUSING_STATUS_MIN
    end

    def upgrade
      head = Upgrade.head(@env["rack.upgrade?"], @headers)
      @answered = true
      @server.clients.begin(@runtime, @client, @env, head) unless @runtime.gone?(@client)
    rescue Exception => e # rubocop:disable Lint/RescueException -- JavaScript's own
      raise e unless @answered

      ExceptionLog.report(@error = e, @env)
      @runtime.abort(@client) # a part of the head may have been sent
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

    # The Rack SPEC requires `to_ary` to return an Array. A streaming body may return another object; then `each` is used.
    def array
      return @body if `Array.isArray(self.body)`
      return unless @body.respond_to?(:to_ary)

      array = @body.to_ary
      array if `Array.isArray(array)`
    end

    def answer_array(pieces)
      data = `pieces.length === 1 ? BYTES.$of(pieces[0]) : #{join(pieces)}`
      @head.check_length(ByteConversion.size(data)) if @head.length
      @runtime.answer(@client, @head, data)
      @answered = true
    end

    # Many applications answer HEAD with an empty body, so its length is not used.
    def answer_without_content(pieces)
      length = @head.length_told
      length ||= ByteConversion.size(join(pieces)) if @to_head && pieces && !pieces.empty? && !@head.bodiless?
      @runtime.answer_without_content(@client, @head, length)
      @answered = true
    end

    def join(pieces)
      ByteConversion.join(pieces.map { |piece| ByteConversion.of(piece) })
    end

    def answer_pieces
      return if answer_file

      @response = StreamedResponse.new(@runtime, @client, @head)
      if @body.respond_to?(:each)
        @body.each { |piece| @response.write(piece) }
        end_response
      elsif @body.respond_to?(:call)
        call_body(Stream.new(@response, @env))
      else
        raise TypeError, "the response body is #{Description.of(@body)}, but must be an Array, or respond to each or call"
      end
    end

    # The runtime sends the file in pieces, at the client's pace.
    def answer_file
      return unless @body.respond_to?(:to_path) && @status != 206

      @answered = @runtime.answer_file(@client, @head, @body.to_path)
    end

    # If the body returns a promise, it may write until the promise is settled.
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
      @error = JsError.error(thrown)
      gone = @runtime.gone?(@client)
      ExceptionLog.report(@error, @env) unless gone
      answer_error unless @answered || gone
      @answered = true
      forget_exceptions
    end

    # Opal keeps exceptions that JavaScript has caught in `$!`, and would use one as the next exception's cause.
    def forget_exceptions
      `Opal.exceptions.length = 0, Opal.gvars["!"] = nil`
    end

    def answer_error
      return @runtime.abort(@client) if @response&.begun?

      head = ResponseHead.new(500, ERROR_HEADERS)
      @to_head ? @runtime.answer_without_content(@client, head, ERROR_TEXT.bytesize) : @runtime.answer(@client, head, ERROR_TEXT)
    end

    def complete
      close_body unless `self.body === nil || plain(self.body)`
      tell_finished unless `self.env.$$source !== null` # see above
    end

    def close_body
      @body.close if @body.respond_to?(:close)
    rescue Exception => e # rubocop:disable Lint/RescueException -- the client has its response
      ExceptionLog.report(e, @env)
    end

    # The order is last to first. The error of one callable does not affect the others.
    def tell_finished
      callables = `self.env.get("rack.response_finished")`
      callables.reverse_each { |callable| call_back(callable) } if `Array.isArray(callables) && callables.length > 0`
    end

    def call_back(callable)
      callable.call(@env, @status, @headers, @error)
    rescue Exception => e # rubocop:disable Lint/RescueException -- as above
      ExceptionLog.report(e, @env)
    end
  end
end
