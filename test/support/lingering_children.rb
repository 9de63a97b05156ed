# frozen_string_literal: true

require "tmpdir"

# For servers of lingering_children.ru, whose requests fork children that stay until nobody has the pipe open any more.
module LingeringChildren
  # @yieldparam environment [Hash] of the server
  def with_pipe
    Dir.mktmpdir do |folder|
      path = File.join(folder, "stay")
      File.mkfifo(path)
      File.open(path, File::RDWR) { yield({ "STAY" => path }) }
    end
  end
end
