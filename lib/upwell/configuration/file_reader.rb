# frozen_string_literal: true

require_relative "../errno_text"

module Upwell
  class Configuration
    # The context in which a configuration file is evaluated. Each setting is a method of its name.
    #
    #     port 8080
    #     bind "127.0.0.1", "unix:/run/app.sock"
    #     workers 2
    #     mode "threads:5"
    #     after_fork { |index| Database.connect }
    class FileReader
      NAMES = SETTINGS.map(&:name).freeze
      OTHERS = %i[certificate before_fork after_fork].freeze
      UNREADABLE = [StandardError, ScriptError, SystemStackError, SystemExit].freeze
      SYNTAX_ERROR_LINE = /:(\d+): /

      # @param configuration [Configuration]
      def initialize(configuration)
        @configuration = configuration
        @lists = {}
      end

      # Evaluates a configuration file.
      #
      # @param path [String]
      # @raise [ConfigurationError] when the file cannot be read, is invalid or raises an error
      def read(path)
        @path = path
        text = load_text
        evaluate(text)
      rescue SyntaxError => e
        refuse(e.message[SYNTAX_ERROR_LINE, 1], "syntax error; correct it:\n#{e.message}")
      rescue ConfigurationError
        raise
      rescue *UNREADABLE => e
        refuse(line_of(e.backtrace_locations), "#{reason(e)}; correct this code: a configuration file needs only settings")
      end

      SETTINGS.each do |setting|
        define_method(setting.name) do |*values|
          @configuration.set(setting.name, value_of(setting, values), "configuration file #{place(line_of(caller_locations))}:")
        end
      end

      # Adds a certificate for the hosts that it names.
      #
      # @param path [String] PEM, followed by its chain
      # @param key [String, nil] PEM; nil: in the same file
      # @param ocsp [String, nil] DER: an OCSP response of the issuer, for stapling (RFC 6066, section 8)
      def certificate(path, key: nil, ocsp: nil)
        @configuration.certificates << TLS::Certificate.new(*[path, key, ocsp].map { |file| file && File.expand_path(file) })
      end

      # Registers a block that runs in the supervisor before it forks.
      def before_fork(&block)
        @configuration.before_fork_hooks << (block || refuse_hook(__method__, caller_locations))
      end

      # Registers a block that runs in each new worker.
      #
      # @yieldparam index [Integer] the worker's number, from 0
      def after_fork(&block)
        @configuration.after_fork_hooks << (block || refuse_hook(__method__, caller_locations))
      end

      private

      # The file is read as UTF-8 in every locale, because a comment may contain any character.
      def load_text
        File.read(@path, encoding: Encoding::UTF_8)
      rescue SystemCallError => e
        raise ConfigurationError, "configuration file #{@path} cannot be read: #{ErrnoText.of(e)}; name another with -C"
      end

      def evaluate(text)
        context = binding_of_file
        context.eval(text, @path)
        (context.local_variables & NAMES).each do |name|
          line = text.lines.index { |candidate| candidate.match?(/^\s*#{name}\s*=/) }
          refuse(line&.succ, "#{name} = ... is a Ruby variable; write the setting without the equals sign: #{name} VALUE")
        end
      end

      def binding_of_file
        binding
      end

      def value_of(setting, values)
        return values.flatten if setting.kind == :binds
        return (@lists[setting.name] ||= []).concat(values.flatten).dup if setting.list?
        return true if %i[flag log].include?(setting.kind) && values.empty?
        return values.first if values.size == 1

        refuse(line_of(caller_locations), "#{setting.name} takes one value, got #{values.empty? ? "none" : values.map(&:inspect).join(", ")}")
      end

      def method_missing(name, *, **)
        refuse(line_of(caller_locations), "unknown setting #{name}#{suggestion(name)}; upwell --help lists all settings")
      end

      def respond_to_missing?(*)
        false
      end

      def suggestion(name)
        return unless defined?(DidYouMean::SpellChecker)

        similar = DidYouMean::SpellChecker.new(dictionary: NAMES + OTHERS).correct(name).first
        " (did you mean #{similar}?)" if similar
      end

      def refuse_hook(name, locations)
        refuse(line_of(locations), "#{name} needs a block: #{name} { ... }")
      end

      def refuse(line, sentence)
        raise ConfigurationError, "configuration file #{place(line)}: #{sentence}"
      end

      def reason(error)
        return "the file exits the program (exit #{error.status})" if error.is_a?(SystemExit)

        "#{error.message.lines.first&.chomp} (#{error.class})"
      end

      def line_of(locations)
        locations&.find { |location| location.path == @path }&.lineno
      end

      def place(line)
        [@path, line].compact.join(":")
      end
    end
  end
end
