# frozen_string_literal: true

# Writes log lines to an IO or a file.
class Logger
  # The severity of a line.
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

  # Formats a line as Ruby does.
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

  # @param device [IO, String, nil] an IO, a file's path, or nil for no output
  # @param shift_age [Integer, String] ignored: files are not rotated
  def initialize(device = nil, shift_age = 0, _shift_size = nil, level: DEBUG, progname: nil, formatter: nil, datetime_format: nil, **)
    take(device)
    refuse_to_shift(shift_age) if @path
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
    write((@formatter || @default_formatter).call(NAMES[severity] || "ANY", Time.now, progname, message))
    true
  end

  alias log add

  def <<(text)
    write(text) if @device
    self
  end

  %i[debug info warn error fatal unknown].each_with_index do |name, severity|
    define_method(name) { |progname = nil, &block| add(severity, nil, progname, &block) }
    define_method(:"#{name}?") { @level <= severity }
    define_method(:"#{name}!") { @level = severity }
  end

  # Opens the file again, since another program may have moved it, or opens another device.
  def reopen(device = nil)
    return self unless device || @path

    @device.close if @path
    take(device || @path)
    self
  end

  def close
    @device.close unless [nil, $stdout, $stderr].include?(@device)
  end

  private

  def take(device)
    @path = device.respond_to?(:to_str) ? device.to_str : nil
    @device = @path ? File.open(@path, "a") : device
  end

  def refuse_to_shift(age)
    return if [nil, 0].include?(age)

    close
    raise ArgumentError, "a log file is not rotated on a JavaScript runtime: remove #{age.inspect}, let another program move #{@path}, " \
                         "and call reopen"
  end

  # A full disk must not raise an error in the code that logs.
  def write(text)
    @device.write(text)
  rescue StandardError => e
    Kernel.warn("log writing failed. #{e.message}")
  end

  def number_of(name)
    number = name.to_s.casecmp?("unknown") ? UNKNOWN : NAMES.index(name.to_s.upcase)
    number || raise(ArgumentError, "invalid log level: #{name}")
  end
end
