# frozen_string_literal: true

require "minitest/autorun"
require "net/http"
require "open3"
require "rack"
require "mini_mime"
require "timeout"
require "tmpdir"

# The gems of rake native, each installed into an empty folder of gems by a Ruby that finds no compiler, and serving from there.
class PrecompiledGemTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  PATIENCE = 120 # seconds; qemu is slow
  INSTALL = 'require "rubygems/gem_runner"; Gem::GemRunner.new.run(ARGV)'
  NEEDED = %w[rack mini_mime].map { |name| Gem.loaded_specs.fetch(name).cache_file }.freeze # fetched before

  # @return [Array<String>] the command of one of Debian's Rubies that are not this machine's, with its /usr in the place of the machine's own
  def self.in_place(version)
    ["/usr/bin/unshare", "--map-root-user", "--mount", "/bin/sh", "-c", '/usr/bin/mount --bind "$0/usr" /usr && exec "$@"',
     `#{ROOT}/bin/debian-ruby amd64 #{version}`.chomp, "/usr/bin/ruby#{version}"]
  end

  def self.emulated(root, version)
    ["#{`#{ROOT}/bin/arm64`.chomp}/../qemu/usr/bin/qemu-aarch64-static", "-L", root, "#{root}/usr/bin/ruby#{version}"]
  end

  # @return [Array<String>, nil] the command of a Ruby for that platform, if there is one
  RUBIES = {
    "x86_64-linux-gnu, Ruby 3.1" => -> { ["/usr/bin/ruby3.1"] if File.exist?("/usr/bin/ruby3.1") },
    "x86_64-linux-gnu, Ruby 3.3" => -> { in_place("3.3") },
    "x86_64-linux-gnu, Ruby 3.4" => -> { in_place("3.4") },
    "x86_64-linux-musl, Ruby 3.4" => -> { ["#{`#{ROOT}/bin/musl`.chomp}/3.4/bin/ruby"] },
    "aarch64-linux-gnu, Ruby 3.1" => -> { emulated(`#{ROOT}/bin/arm64`.chomp, "3.1") },
    "aarch64-linux-gnu, Ruby 3.3" => -> { emulated(`#{ROOT}/bin/debian-ruby arm64 3.3`.chomp, "3.3") },
    "aarch64-linux-gnu, Ruby 3.4" => -> { emulated(`#{ROOT}/bin/debian-ruby arm64 3.4`.chomp, "3.4") }
  }.freeze

  RUBIES.each_key do |name|
    define_method("test_installs_without_a_compiler_and_serves_on_#{name.gsub(/\W+/, "_")}") do
      gem = Dir["#{ROOT}/pkg/upwell-*-#{name[/\A[^,]+/]}.gem"].first
      skip "rake native has not built that gem" unless gem
      @ruby = RUBIES[name].call or skip "there is no such Ruby"

      installed(gem) do |home|
        assert_match(/^  backends +io_uring epoll poll$/, command("#{home}/bin/upwell", "--check"))
        serve(home) { |port| assert_equal "installed", Net::HTTP.get("127.0.0.1", "/", port) }
        serve(home, "--secure", "--self-signed") { |port| assert_equal "installed", get_secure(port) }
      end
    end
  end

  LOOP = <<~RUBY
    require "upwell"
    events = Upwell::Loop.new
    events.watch_timer(:timer, 0.01)
    p [Upwell.backends.first[:name], events.next_event]
  RUBY

  def test_jruby_installs_without_a_compiler_and_has_a_loop
    gem = Dir["#{ROOT}/pkg/upwell-*-java.gem"].first
    skip "rake native has not built that gem" unless gem
    skip "there is no Java" unless system("java -version", out: File::NULL, err: File::NULL)

    Dir.mktmpdir("upwell-native-") do |home|
      @ruby = ["#{ROOT}/bin/jruby"]
      @environment = {}
      command("-S", "gem", "install", "--local", "--no-document", "--ignore-dependencies", "--install-dir", home, gem)
      File.write("#{home}/loop.rb", LOOP)
      assert_equal "[\"select\", :timer]\n", command("-I#{Dir["#{home}/gems/upwell-*-java/lib"].first}", "#{home}/loop.rb")
    end
  end

  private

  # Nothing but what Ruby itself runs is on the PATH.
  def installed(gem)
    Dir.mktmpdir("upwell-native-") do |home|
      File.write("#{home}/config.ru", 'run ->(_env) { [200, { "content-type" => "text/plain" }, ["installed"]] }')
      @environment = { "PATH" => "#{home}/none", "GEM_HOME" => home, "GEM_PATH" => home, "RUBYOPT" => nil, "RUBYLIB" => nil,
                       "BUNDLE_GEMFILE" => nil, "BUNDLER_SETUP" => nil, "XDG_CACHE_HOME" => File.expand_path("~/.cache"), "HOME" => home }
      command("-e", INSTALL, "install", "--local", "--no-document", *NEEDED, gem)
      yield home
    end
  end

  def command(*arguments)
    output, status = Open3.capture2e(@environment, *@ruby, *arguments)
    assert_predicate status, :success?, output
    output
  end

  def serve(home, *arguments)
    server = IO.popen([@environment, *@ruby, "#{home}/bin/upwell", "-b", "127.0.0.1", "-p", "0", *arguments, "#{home}/config.ru",
                       { err: %i[child out] }])
    port = Timeout.timeout(PATIENCE) { server.each_line.lazy.filter_map { |line| line[%r{https?://127\.0\.0\.1:(\d+)}, 1] }.first }
    refute_nil port, "the server ended"
    yield Integer(port)
  ensure
    Process.kill(:TERM, server.pid)
    server.close
  end

  def get_secure(port)
    Net::HTTP.start("127.0.0.1", port, use_ssl: true, verify_mode: OpenSSL::SSL::VERIFY_NONE, read_timeout: PATIENCE) { |http| http.get("/").body }
  end
end
