# frozen_string_literal: true

require "async"
require "async/http/internet"
require "excon"
require "faraday"
require "httpx"
require "json"
require "net/http"
require "open3"
require "openssl"
require "pg"
require "redis-client"
require "resolv"
require "socket"
require "tempfile"
require "timeout"

%w[hiredis-client mysql2 sqlite3 trilogy].each { |name| require name if ENV.fetch("LIBRARIES", name).split(",").include?(name) }

# What libraries do that takes 0.2 seconds, nearly all of it elsewhere. Those that are said to block do so to this day.
module LibraryOperations
  # One of them.
  Operation = Struct.new(:library, :what, :blocks, :prepare, :work) do
    # A gem with its version, or what is Ruby's own.
    def title
      version = Gem.loaded_specs[library]&.version
      version ? "#{library} #{version}" : library
    end
  end

  ALL = [] # rubocop:disable Style/MutableConstant

  # @param prepare [Proc, nil] makes what each has of its own, where no scheduler is asked
  # @param blocks [Boolean] whether it is known to keep the thread
  # @yieldparam own [Object] what was prepared
  def self.operation(library, what, blocks: false, prepare: nil, &work)
    ALL << Operation.new(library, what, blocks, prepare, work)
  end

  SERVERS = JSON.parse(ENV.fetch("SERVERS"), symbolize_names: true)
  DELAY = SERVERS.fetch(:delay)
  ADDRESS = "http://127.0.0.1:#{SERVERS.fetch(:http)}/".freeze
  NAME = "asked.slow.test" # which takes its time to be found
  NAMED = "http://#{NAME}:#{SERVERS.fetch(:prompt)}/".freeze
  REQUEST = "GET / HTTP/1.1\r\n\r\n"

  def self.expect(value, wanted = "answered")
    raise "#{value.inspect}, not #{wanted.inspect}" unless wanted === value # rubocop:disable Style/CaseEquality
  end

  def self.ask(socket)
    socket.write(REQUEST)
    expect(socket.read, /answered\z/)
  ensure
    socket.close
  end

  def self.without_verification
    OpenSSL::SSL::SSLContext.new.tap { |context| context.verify_mode = OpenSSL::SSL::VERIFY_NONE }
  end

  # Has a thread do something late.
  def self.later
    Thread.new { sleep(DELAY) && yield }
  end

  operation("sleep", "") { sleep(DELAY) }
  operation("Timeout", "around a sleep") do
    Timeout.timeout(DELAY) { sleep }
  rescue Timeout::Error
    nil
  end

  operation("Queue", "filled by a thread") { expect(Queue.new.tap { |queue| later { queue << "answered" } }.pop) }
  operation("SizedQueue", "emptied by a thread") do
    queue = SizedQueue.new(1) << 1
    later { queue.pop }
    queue << 2
  end
  operation("Mutex", "held by a fiber") do
    mutex = Mutex.new
    Fiber.schedule { mutex.synchronize { sleep(DELAY) } }
    mutex.synchronize { nil }
  end
  operation("Monitor", "held by a fiber") do
    monitor = Monitor.new
    Fiber.schedule { monitor.synchronize { sleep(DELAY) } }
    monitor.synchronize { nil }
  end
  operation("ConditionVariable", "signalled by a fiber") do
    mutex = Mutex.new
    condition = ConditionVariable.new
    Fiber.schedule { sleep(DELAY) && condition.signal }
    mutex.synchronize { condition.wait(mutex) }
  end
  operation("Thread#join", "") { Thread.new { sleep(DELAY) }.join }
  operation("Thread#value", "") { expect(Thread.new { sleep(DELAY) && "answered" }.value) }

  operation("Process.wait", "for a child") { Process.wait(Process.spawn("sleep", DELAY.to_s)) }
  operation("Process.detach", "") { expect(Process.detach(Process.spawn("sleep", DELAY.to_s)).value, :success?.to_proc) }
  operation("system", "") { expect(system("sleep", DELAY.to_s), true) }
  operation("backticks", "") { expect(`sleep #{DELAY}; echo answered`.chomp) }
  operation("IO.popen", "read to end of file") { expect(IO.popen("sleep #{DELAY}; echo answered", &:read).chomp) }
  operation("Open3.capture3", "") { expect(Open3.capture3("sleep #{DELAY}; echo answered").first.chomp) }

  operation("IO.select", "on a pipe", blocks: RUBY_VERSION < "3.2") do
    reader, writer = IO.pipe
    later { writer.close }
    expect(IO.select([reader]), [[reader], [], []])
  end
  operation("IO#wait_readable", "on a pipe") do
    reader, writer = IO.pipe
    later { writer.close }
    expect(reader.wait_readable, reader)
  end
  operation("File#flock", "locked through another descriptor", blocks: true) do
    Tempfile.create do |file|
      holder = File.new(file.path).tap { |other| other.flock(File::LOCK_EX) }
      later { holder.close }
      file.flock(File::LOCK_EX)
    end
  end

  operation("TCPSocket", "to an address") { ask(TCPSocket.new("127.0.0.1", SERVERS.fetch(:http))) }
  operation("TCPSocket", "to a name") { ask(TCPSocket.new(NAME, SERVERS.fetch(:prompt))) }
  if Socket.respond_to?(:tcp_fast_fallback=)
    operation("TCPSocket", "to a name, with `Socket.tcp_fast_fallback`", blocks: true) do
      ask(TCPSocket.new(NAME, SERVERS.fetch(:prompt), fast_fallback: true))
    end
    operation("Socket.tcp", "to a name, with `Socket.tcp_fast_fallback`") { ask(Socket.tcp(NAME, SERVERS.fetch(:prompt), fast_fallback: true)) }
  end
  operation("Socket.tcp", "to a name") { ask(Socket.tcp(NAME, SERVERS.fetch(:prompt))) }
  operation("UNIXSocket", "") { ask(UNIXSocket.new(SERVERS.fetch(:unix))) }
  operation("OpenSSL", "to an address") do
    socket = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", SERVERS.fetch(:tls)), without_verification)
    socket.sync_close = true
    ask(socket.tap(&:connect))
  end
  operation("Socket.getaddrinfo", "") { expect(Socket.getaddrinfo(NAME, 80).first[3], "127.0.0.1") }
  operation("Addrinfo.getaddrinfo", "") { expect(Addrinfo.getaddrinfo(NAME, 80).first.ip_address, "127.0.0.1") }
  operation("Resolv", "DNS query") do
    Resolv::DNS.open(nameserver_port: [["127.0.0.1", SERVERS.fetch(:dns)]], search: [], ndots: 1) do |dns|
      expect(dns.getaddress("any.test").to_s, "127.0.0.1")
    end
  end

  operation("Net::HTTP", "to an address") { expect(Net::HTTP.get(URI(ADDRESS))) }
  operation("Net::HTTP", "to a name") { expect(Net::HTTP.get(URI(NAMED))) }
  operation("Net::HTTP", "over TLS") do
    options = { use_ssl: true, verify_mode: OpenSSL::SSL::VERIFY_NONE }
    expect(Net::HTTP.start("127.0.0.1", SERVERS.fetch(:tls), **options) { |http| http.get("/").body })
  end
  operation("excon", "to an address", blocks: RUBY_VERSION < "3.2") { expect(Excon.get(ADDRESS).body) }
  operation("faraday", "to an address") { expect(Faraday.get(ADDRESS).body) }
  operation("faraday", "to a name") { expect(Faraday.get(NAMED).body) }
  operation("httpx", "to an address") { expect(HTTPX.get(ADDRESS).to_s) }
  operation("httpx", "to a name") { expect(HTTPX.with(resolver_class: :system).get(NAMED).to_s) }
  operation("async-http", "to an address") do
    Sync do
      internet = Async::HTTP::Internet.new
      expect(internet.get(ADDRESS, &:read))
    ensure
      internet.close
    end
  end

  def self.postgres(**options)
    PG.connect(host: "127.0.0.1", port: SERVERS.fetch(:postgres), user: "root", dbname: "postgres", **options)
  end

  operation("pg", "a query", prepare: -> { postgres }) { |connection| connection.exec("SELECT pg_sleep(#{DELAY})") }
  operation("pg", "a prepared query", prepare: -> { postgres.tap { |own| own.prepare("late", "SELECT pg_sleep($1)") } }) do |connection|
    connection.exec_prepared("late", [DELAY])
  end
  operation("pg", "connecting") { postgres(port: SERVERS.fetch(:late_postgres)).close }
  operation("pg", "connecting to a name") { postgres(host: NAME).close }

  def self.mysql2(**options)
    Mysql2::Client.new(host: "127.0.0.1", port: SERVERS.fetch(:mariadb), username: "root", **options)
  end

  operation("mysql2", "a query", prepare: -> { mysql2 }) { |connection| connection.query("SELECT SLEEP(#{DELAY})") }
  operation("mysql2", "a prepared query", blocks: true, prepare: -> { mysql2 }) do |connection|
    connection.prepare("SELECT SLEEP(?)").execute(DELAY)
  end
  operation("mysql2", "connecting", blocks: true) { mysql2(port: SERVERS.fetch(:late_mariadb)).close }
  operation("mysql2", "connecting to a name", blocks: true) { mysql2(host: NAME).close }

  def self.trilogy(**options)
    Trilogy.new(host: "127.0.0.1", port: SERVERS.fetch(:mariadb), username: "root", **options)
  end

  operation("trilogy", "a query", prepare: -> { trilogy }) { |connection| connection.query("SELECT SLEEP(#{DELAY})") }
  operation("trilogy", "connecting") { trilogy(port: SERVERS.fetch(:late_mariadb)).close }
  operation("trilogy", "connecting to a name") { trilogy(host: NAME).close }

  def self.redis(**options)
    RedisClient.config(host: "127.0.0.1", port: SERVERS.fetch(:redis), driver: :ruby, **options).new_client
  end

  def self.pop(redis)
    expect(redis.blocking_call(5, "BLPOP", "nothing", DELAY), nil)
  end

  operation("redis-client", "a command", prepare: -> { redis.tap { |own| own.call("PING") } }) { |connection| pop(connection) }
  operation("redis-client", "connecting") { redis(port: SERVERS.fetch(:late_redis)).tap { |own| own.call("PING") }.close }
  operation("redis-client", "connecting to a name") { redis(host: NAME).tap { |own| own.call("PING") }.close }
  operation("hiredis-client", "a command", blocks: true, prepare: -> { redis(driver: :hiredis).tap { |own| own.call("PING") } }) do |connection|
    pop(connection)
  end

  # A database that another connection keeps locked.
  def self.sqlite
    path = File.join(SERVERS.fetch(:folder), "locked.sqlite3")
    @holder ||= SQLite3::Database.new(path).tap { |holder| holder.execute("BEGIN EXCLUSIVE") }
    SQLite3::Database.new(path)
  end

  def self.try_to_write(database)
    database.execute("BEGIN IMMEDIATE")
    raise "it is not locked"
  rescue SQLite3::BusyException
    nil
  end

  operation("sqlite3", "a locked database, with `busy_timeout`", blocks: true, prepare: -> { sqlite }) do |database|
    database.busy_timeout((DELAY * 1000).to_i)
    try_to_write(database)
  end
  operation("sqlite3", "a locked database, with `busy_handler_timeout`", prepare: -> { sqlite }) do |database|
    database.busy_handler_timeout = (DELAY * 1000).to_i
    try_to_write(database)
  end
end
