# frozen_string_literal: true

module Upwell
  class Server
    module Processes
      # The process title that `ps` and `top` show: "upwell: worker 0, draining [shop]".
      module ProcessTitle
        # Sets the process title.
        #
        # @param role [String]
        def self.set(role)
          Process.setproctitle("upwell: #{role} [#{File.basename(Dir.pwd)}]")
        rescue SystemCallError
          nil # the directory was removed: the title does not change
        end
      end
    end
  end
end
