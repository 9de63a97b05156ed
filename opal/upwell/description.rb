# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Describes a wrong value of the application, for an error message.
  module Description
    # @param object [Object] also a value of JavaScript
    # @return [String]
    def self.of(object)
      return "a JavaScript value" if `object?.$class === undefined`
      return "nil" if `object === nil`

      case object
      when Array then "an Array of size #{object.size}"
      when Integer then "an object of class Integer" # Opal's class would be Number
      else "an object of class #{object.class}"
      end
    end
  end
end
