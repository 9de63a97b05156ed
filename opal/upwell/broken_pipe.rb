# frozen_string_literal: true

module Errno
  # What writing to a client that has left raises.
  class EPIPE < SystemCallError
    def initialize(_message = nil)
      super("Broken pipe")
    end
  end
end
