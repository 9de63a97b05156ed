# frozen_string_literal: true

module Differential
  # A difference from MRI that is known, on each JavaScript runtime or on those that are named.
  #
  # @!attribute application [String]
  # @!attribute line [Regexp, nil] the requests that show it; nil: the application does not start
  # @!attribute sign [Regexp] what the start says, or what the answer's status, fields and body say
  # @!attribute reason [String] for the guide
  # @!attribute commands [Array<String>]
  Difference = Struct.new(:application, :line, :sign, :reason, :commands, keyword_init: true) do
    def of?(application, command)
      self.application == application && (commands || COMMANDS).include?(command)
    end
  end

  COMMANDS = %w[up up_node up_bun].freeze

  # What the guide lists. Whatever else differs fails the run.
  KNOWN = [
    Difference.new(application: "mustermann", line: %r{%C3%A9/n}, sign: %r{/4},
                   reason: "the path is UTF-8 text, so `size` counts characters; on MRI the path is binary"),
    Difference.new(application: "grape", sign: /the gem of grape does not work on JavaScript runtimes: .*Fiber/,
                   reason: "does not start: ActiveSupport's i18n needs `Fiber`"),
    Difference.new(application: "liquid", sign: /the gem of liquid does not work on JavaScript runtimes: .*bigdecimal/,
                   reason: "does not start: liquid needs `bigdecimal`, a C extension"),
    Difference.new(application: "haml", sign: /the gem of haml does not work on JavaScript runtimes: .*ripper/,
                   reason: "does not start: haml needs `ripper`, MRI's parser")
  ].freeze
end
