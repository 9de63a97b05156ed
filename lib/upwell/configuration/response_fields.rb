# frozen_string_literal: true

module Upwell
  class Configuration
    # Reads and checks header fields that a server adds to its responses.
    module ResponseFields
      FIELD = /\A([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e]*?)[ \t]*\z/
      FIELDS_BYTES_MAX = 8_192 # UW_STATIC_FIELDS_BYTES_MAX

      # Fields that the file server sets, and fields that define a message's framing.
      OWN_FIELDS = %w[accept-ranges allow cache-control connection content-encoding content-length content-range content-type date etag
                      keep-alive last-modified location te trailer transfer-encoding upgrade vary].freeze

      private

      def read_fields(values)
        lines = Array(values).map { |value| read_field(value.to_s) }
        return lines if lines.sum { |line| line.bytesize + 2 } <= FIELDS_BYTES_MAX

        raise ArgumentError, "must have at most #{FIELDS_BYTES_MAX} bytes in total"
      end

      def read_field(text)
        name, value = FIELD.match(text)&.captures
        raise ArgumentError, 'must be "NAME: VALUE" in printable ASCII characters' unless name
        raise ArgumentError, "must not be a field that the server writes itself, such as #{name}" if OWN_FIELDS.include?(name.downcase)

        "#{name}: #{value}"
      end
    end
  end
end
