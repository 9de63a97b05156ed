# frozen_string_literal: true

require_relative "faults"

# What happens to which server, and how it may end. Where nothing else is said, the service goes on.
module ExpectedOutcomes
  include Faults

  # @!attribute name [String]
  # @!attribute condition [Proc] makes a new one
  # @!attribute mounts [Boolean] whether it needs the right to mount
  # @!attribute workers [Array<Integer>] the numbers of workers that it concerns
  # @!attribute moments [Array<Symbol>] those that it concerns
  # @!attribute felt [Array<Symbol>] moments in which the server has to meet it
  # @!attribute refuses [Hash{Symbol => Regexp}] moments in which a server may end, with which sentence
  Row = Struct.new(:name, :condition, :mounts, :workers, :moments, :felt, :refuses)

  EMFILE, EAGAIN, ENOMEM = [Errno::EMFILE, Errno::EAGAIN, Errno::ENOMEM].map { |error| error::Errno }
  DAY = 86_400
  EPOLL = { options: %w[--backend epoll] }.freeze # io_uring accepts within the kernel
  ANY = [0, 2].freeze
  SUPERVISED = [2].freeze
  MOMENTS = %i[boot load serving usr1 hup drain death].freeze
  LATER = (MOMENTS - %i[boot load]).freeze
  FORKING = %i[usr1 death].freeze
  NO_DESCRIPTORS = /the process has reached its descriptor limit|does not work here: Too many open files/
  NO_PROCESSES = /cannot serve: the process limit is reached/
  NO_THREAD = /cannot serve: (?:can't create Thread|the process limit is reached)/
  NO_MEMORY = /cannot serve: memory is exhausted/
  NO_LOG = /log file \S+ cannot be written: no such file or directory/
  NO_PID_FILE = /pid file \S+ cannot be written: the file system is read-only/

  def self.row(name, condition, mounts: false, workers: ANY, moments: MOMENTS, felt: [], **refuses)
    Row.new(name, condition, mounts, workers, moments, felt, refuses)
  end

  def self.call(name, number, **arguments)
    -> { FailingCall.new(name, number, **arguments) }
  end
  private_class_method :row, :call

  ROWS = [
    row("stdout closed",         -> { ClosedStream.new(:out) }),
    row("stderr closed",         -> { ClosedStream.new(:err) }),
    row("log on a full disk",    -> { FullDisk.new }, mounts: true),
    row("log folder gone",       -> { MovedFolder.new }, boot: NO_LOG),
    row("pid folder read-only",  -> { ReadOnlyFolder.new }, mounts: true, boot: NO_PID_FILE),
    row("clock set back",        call("clock_gettime", DAY)),
    row("EMFILE at accept",      call("accept4", EMFILE, holds_clients: true, arrangement: EPOLL), felt: %i[boot load serving usr1 hup]),
    row("EMFILE at open",        call("open", EMFILE), felt: %i[usr1 hup], boot: NO_DESCRIPTORS),
    row("EMFILE at pipe",        call("pipe", EMFILE), workers: SUPERVISED, felt: FORKING, boot: NO_DESCRIPTORS, load: NO_DESCRIPTORS),
    row("EMFILE at fork",        call("fork", EMFILE), workers: SUPERVISED, felt: FORKING, boot: NO_DESCRIPTORS, load: NO_DESCRIPTORS),
    row("EAGAIN at fork",        call("fork", EAGAIN), workers: SUPERVISED, felt: FORKING, boot: NO_PROCESSES, load: NO_PROCESSES),
    row("ENOMEM at fork",        call("fork", ENOMEM), workers: SUPERVISED, felt: FORKING, boot: NO_MEMORY, load: NO_MEMORY),
    row("EAGAIN at a thread",    call("pthread_create", EAGAIN), felt: FORKING, boot: NO_THREAD, load: NO_THREAD),
    row("more clients than room", -> { Crowd.new }, moments: LATER),
    row("no descriptors at all", -> { NoDescriptors.new }, boot: NO_DESCRIPTORS, load: NO_DESCRIPTORS)
  ].freeze

  # Which server has which moments.
  SERVERS = {
    [:rack, 0] => MOMENTS - FORKING, [:rack, 2] => MOMENTS, [:static, 0] => MOMENTS - %i[load usr1 death], [:static, 2] => MOMENTS - %i[load]
  }.freeze

  # @return [Array<Array(Row, Symbol, Integer, Symbol)>] with kind of server, its workers, and a moment
  def self.cells
    SERVERS.flat_map do |(kind, workers), moments|
      rows = ROWS.select { |row| row.workers.include?(workers) }
      rows.flat_map { |row| (moments & row.moments).map { |moment| [row, kind, workers, moment] } }
    end
  end
end
