# frozen_string_literal: true

module Upwell
  module Pure
    # Converts arguments as the extension does: wrong types raise the same errors.
    module ArgumentConversion
      NAMES = { nil => "nil", true => "true", false => "false" }.freeze
      private_constant :NAMES

      # Converts an argument to an IO.
      #
      # @param object [IO, #to_io]
      # @return [IO]
      # @raise [TypeError]
      def self.io(object)
        IO.try_convert(object) || raise(TypeError, "no implicit conversion of #{NAMES.fetch(object) { object.class }} into IO")
      end

      # Converts an argument to an open IO.
      #
      # @param object [IO, #to_io]
      # @return [IO]
      # @raise [TypeError]
      # @raise [IOError] when it is closed
      def self.open_io(object)
        io(object).tap { |io| raise IOError, "closed stream" if io.closed? }
      end

      # Converts an argument to an Integer.
      #
      # @param object [Integer, #to_int]
      # @return [Integer]
      # @raise [TypeError, RangeError]
      def self.integer(object)
        "".byteslice(object) # this method is in C, and accepts values in the range of `long`
        object.to_int
      end

      # Converts an argument to a Float.
      #
      # @param object [Numeric, #to_f]
      # @return [Float]
      # @raise [TypeError, RangeError]
      def self.float(object)
        return Float(object) unless object.is_a?(String) || NAMES.key?(object)

        raise TypeError, "no implicit conversion to float from #{NAMES.fetch(object, "string")}"
      end

      # Converts a number of seconds to a Float, and refuses NaN.
      #
      # @param object [Numeric] seconds
      # @param name [String] the argument's name, for the message
      # @return [Float]
      # @raise [TypeError, RangeError, ArgumentError]
      def self.seconds(object, name)
        float(object).tap { |seconds| raise ArgumentError, "#{name} must be a number of seconds, not NaN" if seconds.nan? }
      end
    end
    private_constant :ArgumentConversion
  end
end
