# frozen_string_literal: true

require_relative "../test_helper"

class ReactorTest < Minitest::Test
  def settings(**changes)
    Upwell::Configuration.new({}, environment: {}).reactor_settings.merge(changes)
  end

  def test_an_unknown_backend_names_those_that_work
    error = assert_raises(Upwell::BackendError) { Upwell::Reactor.new(nil, settings(backend: "devpoll")) }
    assert_match(/devpoll.*#{BACKENDS.join(", ")}/, error.message)
  end

  # Poll needs fewer than others. In a process that has chosen none yet.
  def test_no_other_backend_is_chosen_for_want_of_descriptors
    script = <<~RUBY
      GC.start # gives back what only it can
      held = []
      Process.setrlimit(:NOFILE, 64, Process.getrlimit(:NOFILE).last)
      loop { held << $stderr.dup } rescue Errno::EMFILE
      found = Array.new(8) { (Upwell::Scheduler.new.backend rescue $!.class).tap { held.pop.close } }
      print found.uniq.join(" ")
    RUBY
    environment = BundleGemPaths.environment_without_rubygems("UPWELL_BACKEND" => nil)
    command = [environment, RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), "-r", "upwell", "-e", script]
    assert_equal BACKENDS.first, IO.popen(command, &:read).delete_prefix("Errno::EMFILE ")
  end

  # No descriptor, and no stack of a thread that nobody has joined. In a process of its own, which has one descriptor for the thread, and none
  # for its loop.
  def test_a_loop_that_cannot_be_opened_in_its_thread_leaves_nothing_behind
    script = <<~RUBY
      settings = Upwell::Configuration.new({}, environment: {}).reactor_settings.merge(mode: :threads)
      most = Process.getrlimit(:NOFILE).last
      fail_once = lambda do |*|
        reactor = Upwell::Reactor.new(nil, settings)
        Process.setrlimit(:NOFILE, $stderr.dup.then { |copy| copy.fileno.tap { copy.close } } + 1, most)
        reactor.run
      rescue Errno::EMFILE
        Process.setrlimit(:NOFILE, 256, most)
      end
      held = -> { [Dir.children("/proc/self/fd").size, File.read("/proc/self/status")[/VmSize:\\s+(\\d+)/, 1].to_i] }
      5.times(&fail_once)
      before = held.call
      40.times(&fail_once)
      after = held.call
      print after[0] - before[0], " ", after[1] - before[1] < 100_000
    RUBY
    command = ["timeout", "30", RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), "-r", "upwell", "-e", script]
    assert_equal "0 true", IO.popen([BundleGemPaths.environment_without_rubygems, *command], err: %i[child out], &:read)
  end

  def test_missing_and_wrong_settings
    assert_raises(KeyError) { Upwell::Reactor.new(nil, {}) }
    assert_raises(ArgumentError) { Upwell::Reactor.new(nil, settings(head_timeout: 0)) }
    assert_raises(ArgumentError) { Upwell::Reactor.new(nil, settings(headers_max: 10_001)) }
    assert_raises(ArgumentError) { Upwell::Reactor.new(nil, settings(mode: :wires)) }
  end

  def test_one_whose_initialization_failed_does_not_run
    %i[fibers inline threads].each do |mode|
      reactor = Upwell::Reactor.allocate
      assert_raises(KeyError) { reactor.send(:initialize, nil, settings(mode: mode).except(:public)) }
      assert_match(/not initialized/, assert_raises(Upwell::Error) { reactor.run }.message)
      assert_raises(Upwell::Error) { reactor.work }
    end
  end

  def test_to_initialize_it_again_changes_nothing
    reactor = Upwell::Reactor.new(nil, settings(backend: BACKENDS.first))
    assert_raises(Upwell::Error) { reactor.send(:initialize, nil, settings(backend: BACKENDS.last)) }
    assert_equal BACKENDS.first, reactor.backend
  end

  def test_a_public_folder_that_is_gone_is_told_and_leaves_nothing_open
    folder = Dir.mktmpdir
    reactor = Upwell::Reactor.new(nil, Upwell::Configuration.new({ public: folder }, environment: {}).reactor_settings)
    Dir.rmdir(folder)
    before = Dir.children("/proc/self/fd").size
    assert_match(/#{folder}/, assert_raises(Errno::ENOENT) { reactor.run }.message)
    assert_operator before, :>=, Dir.children("/proc/self/fd").size # an IO of another test may be collected meanwhile
  end

  def test_it_runs_once_and_counts
    BACKENDS.each do |backend|
      reactor = Upwell::Reactor.new(->(_env) { [200, {}, ["ok"]] }, settings(backend: backend))
      TCPServer.open("127.0.0.1", 0) do |socket|
        reactor.listen(socket)
        client = Thread.new do
          body = RawClient.get(socket.addr[1], "/").body
          reactor.drain(5)
          body
        end
        assert reactor.run
        assert_equal "ok", client.value
        assert_equal [1, 1, 0], reactor.stats.values_at(:accepted, :requests, :connections)
        assert_raises(Upwell::Error) { reactor.run }
      end
    end
  end

  def test_a_timeout_around_it_ends_it
    BACKENDS.product(%i[inline fibers threads]) do |backend, mode|
      reactor = Upwell::Reactor.new(nil, settings(backend: backend, mode: mode))
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { reactor.run } }
    end
  end

  def test_backends_tells_of_each_whether_it_works
    assert_equal %w[io_uring epoll kqueue poll io_uring_sqpoll], (Upwell.backends.map { |backend| backend[:name] })
    Upwell.backends.each { |backend| assert_equal backend[:works], backend[:reason].nil? }
  end
end
