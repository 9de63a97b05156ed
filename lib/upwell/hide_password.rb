# frozen_string_literal: true

module Upwell
  # Removes passwords from URLs, so that logs and reports do not contain them.
  module HidePassword
    # Replaces the password, up to the last @ of the line: a password without percent-encoding may contain any character.
    #
    # @param text [String]
    # @return [String]
    def self.hide(text)
      text.gsub(/(:\d*\/+[^:@\/\s"]*):.*@/, '\1:***@')
    end
  end
end
