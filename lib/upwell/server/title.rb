# frozen_string_literal: true

module Upwell
  class Server
    # What `ps` and `top` show of a process: "upwell: worker 0, draining [shop]".
    module Title
      # @param role [String]
      def self.set(role)
        Process.setproctitle("upwell: #{role} [#{File.basename(Dir.pwd)}]")
      rescue SystemCallError
        nil # the folder was removed: the title stays
      end
    end
  end
end
