# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # The host of a request, with its port (RFC 9110, section 7.2). Runtimes accept any text of a client here.
  module Authority
    PORT_MAX = 65_535

    %x{
      const net = require("net");
      const NAME = /^(?:[!$&-.0-9;=A-Z_a-z~]|%[0-9A-Fa-f]{2})+(?::(\d{0,5}))?$/, LITERAL = /^\[([0-9A-Fa-f:.]+)\](?::(\d{0,5}))?$/;
      const TARGET = /^https?:\/\/([^\/?]*)(.*)$/i;
      let recent = ""; // most clients use the same host
    }

    # @param text [JavaScript String]
    # @return [Boolean] whether the text is valid (RFC 3986, section 3.2.2)
    def self.valid?(text)
      %x{
        if (text === recent) return true;
        const literal = LITERAL.exec(text), name = literal === null ? NAME.exec(text) : null;
        const port = literal !== null ? literal[2] : name !== null ? name[1] : "";
        const valid = (name !== null || (literal !== null && net.isIPv6(literal[1]))) && +(port || 0) <= #{PORT_MAX};

        if (valid) recent = text;
        return valid;
      }
    end

    # Splits a target with scheme and host (RFC 9112, section 3.2.2).
    #
    # @param target [JavaScript String]
    # @return [JavaScript Array, nil] authority and the rest, which begins with a slash; nil for a target in another form
    def self.split(target)
      %x{
        const match = TARGET.exec(target);

        if (match === null || !#{valid?(`match[1]`)}) return nil;
        return [match[1], match[2][0] === "/" ? match[2] : "/" + match[2]];
      }
    end
  end
end
