# frozen_string_literal: true

require "rbconfig"
require_relative "../lib/gem_installation"

module Bench
  module Io
    FOLDER = __dir__

    # What is compared: a scheduler, a reactor or a way to serve, and the gem that it comes in.
    #
    # @!attribute group [Symbol] of the workloads that it runs
    # @!attribute program [String] in servers/, that serves with it
    # @!attribute choice [String, nil] class and backend, arguments of the program
    # @!attribute gem_name [String, nil]
    # @!attribute libraries [Array<String>] that Ruby loads before the program; paths are relative to this folder
    # @!attribute environment [Array<String>] NAME=VALUE
    # @!attribute companions [Array<String>] further gems
    # @!attribute build [Hash{String => String}] environment of the gem's compilation
    # @!attribute folder [String, nil] of a gem that is built in two ways
    Candidate = Struct.new(:name, :group, :program, :choice, :gem_name, :libraries, :environment, :companions, :build, :folder,
                           keyword_init: true) do
      def initialize(libraries: [], environment: [], companions: [], build: {}, **rest)
        super
      end

      def upwell?
        gem_name == "upwell"
      end

      def for?(workload)
        group == workload.group
      end

      def installation
        GemInstallation.new(gem_name, companions: companions, build: build, folder: folder || "io-#{gem_name || "ruby"}")
      end

      # @return [Array<String>] what serves at the port
      def arguments(port)
        ruby("servers/#{program}.rb", port)
      end

      # @param task [String]
      # @return [Array<String>] what runs the task
      def task_arguments(task, seconds)
        ruby("measure_workload.rb", task, seconds)
      end

      # @return [String] for the report
      def command
        [*environment, "ruby", *libraries.flat_map { |library| ["-r", library] }, "servers/#{program}.rb", "PORT", *choice].join(" ")
      end

      private

      def ruby(program, *arguments)
        ["env", *environment, RbConfig.ruby, *options, File.join(FOLDER, program), *arguments.map(&:to_s), *choice.to_s.split]
      end

      def options
        libraries.flat_map { |library| ["-r", library.start_with?(".") ? File.expand_path(library, FOLDER) : library] }
      end
    end

    AMENDED = "../peers/older_scheduler_patches.rb"

    UPWELL = { gem_name: "upwell", libraries: %w[upwell], companions: %w[http_parser.rb] }.freeze
    ASYNC = { gem_name: "async", libraries: %w[async], companions: %w[io-event], choice: "Async::Scheduler" }.freeze
    EVT = { gem_name: "evt", libraries: ["evt", AMENDED] }.freeze
    EVER = { gem_name: "ever", libraries: %w[ever], companions: %w[http_parser.rb], choice: "Ever::Loop" }.freeze
    URINGMACHINE = { gem_name: "uringmachine", choice: "UringMachine::FiberScheduler",
                     libraries: ["uringmachine", "uringmachine/fiber_scheduler", AMENDED],
                     build: { "CPATH" => "../../vendor/liburing/src/include" } }.freeze # its own liburing before an older one of the system
    # evt hands epoll_ctl flags that it never set: by what the stack holds, a socket is not watched, or always ready. Zeroed, it works.
    ZEROED = { "DISABLE_URING" => "1", "MAKEFLAGS" => "-- warnflags=-ftrivial-auto-var-init=zero" }.freeze
    EVT_EPOLL = { **EVT, choice: "Evt::Epoll", folder: "io-evt-zeroed", build: ZEROED }.freeze
    WITHOUT_YJIT = ["RUBY_YJIT_ENABLE=0"].freeze

    SCHEDULERS = [
      { name: "upwell-io_uring", **UPWELL, choice: "Upwell::Scheduler io_uring" },
      { name: "upwell-epoll", **UPWELL, choice: "Upwell::Scheduler epoll" },
      { name: "async-io_uring", **ASYNC, environment: ["IO_EVENT_SELECTOR=URing"] },
      { name: "async-epoll", **ASYNC, environment: ["IO_EVENT_SELECTOR=EPoll"] },
      { name: "libev_scheduler", gem_name: "libev_scheduler", libraries: ["libev_scheduler", AMENDED], choice: "Libev::Scheduler" },
      { name: "evt-io_uring", **EVT, choice: "Evt::Uring" },
      { name: "evt-epoll", **EVT_EPOLL },
      { name: "uringmachine", **URINGMACHINE },
      { name: "threads", choice: "Thread" }
    ].map { |candidate| Candidate.new(group: :scheduler, program: "hello", **candidate) }

    LOOPS = [
      { name: "loop-io_uring", **UPWELL, choice: "Upwell::Loop io_uring" },
      { name: "loop-epoll", **UPWELL, choice: "Upwell::Loop epoll" },
      { name: "ever", **EVER },
      { name: "nio4r", gem_name: "nio4r", libraries: %w[nio], companions: %w[http_parser.rb], program: "nio4r" }
    ].map { |candidate| Candidate.new(group: :loop, program: "loop", **candidate) }

    # What four threads cost: one thread, four that take connections from one queue, four with a loop each.
    WORKERS = { "one-thread" => "loop", "workers" => "loop_thread_pool", "own-loops" => "loop_per_thread" }.flat_map do |name, program|
      [{ name: "loop-io_uring-#{name}", **UPWELL, choice: "Upwell::Loop io_uring" },
       { name: "loop-epoll-#{name}", **UPWELL, choice: "Upwell::Loop epoll" },
       { name: "ever-#{name}", **EVER }].map { |candidate| Candidate.new(group: :workers, program: program, **candidate) }
    end

    STEPS = [
      { name: "blocking" },
      { name: "select", libraries: %w[./select_scheduler.rb], choice: "SelectScheduler" },
      { name: "epoll", **UPWELL, choice: "Upwell::Scheduler epoll" },
      { name: "epoll-evt", **EVT_EPOLL }
    ].flat_map do |candidate|
      [Candidate.new(group: :walkthrough, program: "tutorial", **candidate),
       Candidate.new(group: :walkthrough, program: "tutorial", **candidate, name: "#{candidate[:name]}-no-yjit", environment: WITHOUT_YJIT)]
    end

    CANDIDATES = [*SCHEDULERS, *LOOPS, *WORKERS, *STEPS].freeze
  end
end
