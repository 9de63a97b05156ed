# frozen_string_literal: true

require_relative "system/file_size_limit"
require_relative "system/pid_file"
require_relative "system/privileges"
require_relative "system/temporary_folder"
require_relative "system/warmup"

module Upwell
  class Server
    # A server in its operating system: user, files and limits.
    module System; end
  end
end
