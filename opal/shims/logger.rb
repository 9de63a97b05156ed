# frozen_string_literal: true

# Lines of a log, to an IO or a file.
class Logger
  # How much a line matters.
  module Severity
    DEBUG = 0
    INFO = 1
    WARN = 2
    ERROR = 3
    FATAL = 4
    UNKNOWN = 5
  end
  include Severity

  NAMES = %w[DEBUG INFO WARN ERROR FATAL ANY].freeze

  Error = Class.new(RuntimeError)

  # A line as Ruby writes it.
  class Formatter
    attr_accessor :datetime_format

    def call(severity, time, progname, message)
      time = time.strftime(datetime_format || "%Y-%m-%dT%H:%M:%S.%6N")
      format("%s, [%s #%d] %5s -- %s: %s\n", severity[0], time, Process.pid, severity, progname, text_of(message))
    end

    private

    def text_of(message)
      case message
      when String then message
      when Exception then "#{message.message} (#{message.class})\n#{message.backtrace&.join("\n")}"
      else message.inspect
      end
    end
  end

  attr_reader :level
  attr_accessor :progname, :formatter

  # @param device [IO, String, nil] where to, a file's path, or nowhere
  def initialize(device = nil, *, level: DEBUG, progname: nil, formatter: nil, datetime_format: nil, **)
    @device = device.respond_to?(:to_str) ? File.open(device, "a") : device
    @progname = progname
    @formatter = formatter
    @default_formatter = Formatter.new
    self.datetime_format = datetime_format
    self.level = level
  end

  def level=(severity)
    @level = Integer === severity ? severity : number_of(severity)
  end

  def datetime_format
    @default_formatter.datetime_format
  end

  def datetime_format=(format)
    @default_formatter.datetime_format = format
  end

  def add(severity, message = nil, progname = nil)
    severity ||= UNKNOWN
    return true if @device.nil? || severity < @level

    progname ||= @progname
    if message.nil?
      message = block_given? ? yield : progname
      progname = @progname unless block_given?
    end
    @device.write((@formatter || @default_formatter).call(NAMES[severity] || "ANY", Time.now, progname, message))
    true
  end

  alias log add

  def <<(text)
    @device&.write(text)
    self
  end

  %i[debug info warn error fatal unknown].each_with_index do |name, severity|
    define_method(name) { |progname = nil, &block| add(severity, nil, progname, &block) }
    define_method(:"#{name}?") { @level <= severity }
    define_method(:"#{name}!") { @level = severity }
  end

  def reopen(*)
    self
  end

  def close
    @device.close unless [nil, $stdout, $stderr].include?(@device)
  end

  private

  def number_of(name)
    number = name.to_s.casecmp?("unknown") ? UNKNOWN : NAMES.index(name.to_s.upcase)
    number || raise(ArgumentError, "invalid log level: #{name}")
  end
end
