# frozen_string_literal: true

module Upwell
  class Server
    module System
      # The file size limit (RLIMIT_FSIZE, see setrlimit(2)) makes larger writes fail, and the client gets an error response. Such a write also
      # raises SIGXFSZ, whose default action ends the process.
      module FileSizeLimit
        SIGNAL = "XFSZ"
        DEFAULT = %w[DEFAULT SYSTEM_DEFAULT].freeze
        NOTHING = proc {}.freeze

        class << self
          # Installs an empty handler for the signal, unless the application has its own. The signal is not ignored, because programs that the
          # application starts would inherit that; a handler returns to the default action there.
          def survive
            return unless Signal.list.key?(SIGNAL)

            before = Signal.trap(SIGNAL, NOTHING)
            Signal.trap(SIGNAL, before) unless DEFAULT.include?(before)
          end
        end
      end
    end
  end
end
