# frozen_string_literal: true

require "tmpdir"

# An application whose request /held goes on until the test lets it: the one pipe tells that it began, the other releases it.
class HeldRequestApp
  TEXT = <<~'RUBY'
    directory = __dir__
    load File.join(directory, "boot.rb")
    run(lambda do |env|
      if env["PATH_INFO"] == "/held"
        File.write(File.join(directory, "begun"), "begun")
        File.read(File.join(directory, "release"))
      end
      $stderr.puts "asked for #{env["PATH_INFO"]}"
      [200, { "content-type" => "text/plain" }, ["#{VERSION} #{Process.pid}"]]
    end)
  RUBY

  # @yieldparam app [HeldRequestApp] in a directory that is removed afterwards
  def self.open
    Dir.mktmpdir { |directory| yield new(directory) }
  end

  attr_reader :directory

  def initialize(directory)
    @directory = directory
    %w[begun release booting].each { |name| File.mkfifo(file(name)) }
    File.write(path, TEXT)
    boot('VERSION = "first"')
  end

  def file(name)
    File.join(directory, name)
  end

  # @return [String] the rackup file
  def path
    file("config.ru")
  end

  # @param text [String] what runs while the application is loaded
  def boot(text)
    File.write(file("boot.rb"), text)
  end

  # Loading tells {#await_booting}, and does not end.
  def hang_at_boot
    boot("File.write(#{file("booting").inspect}, 'x'); sleep")
  end

  def await_booting
    File.read(file("booting"))
  end

  # Waits until /held was asked for.
  def await_begun
    File.read(file("begun"))
  end

  # Lets /held answer.
  def release
    File.write(file("release"), "go")
  end
end
