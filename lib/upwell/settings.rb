# frozen_string_literal: true

# See {Upwell::SETTINGS}.
module Upwell
  # One thing that can be configured. The command line, the configuration file, the checks and the help are all made from this list.
  #
  # @!attribute name [Symbol] as the configuration file writes it; the command line writes hyphens
  # @!attribute default [Object]
  # @!attribute kind [Symbol] how a value is read and checked, see {Configuration}
  # @!attribute short [String, nil] the short option
  # @!attribute argument [String, nil] what the help calls the value
  # @!attribute help [String]
  # @!attribute flavours [Array<Symbol>] who has it: :ruby, which serves applications on the core; :static, which serves files;
  #   :javascript, which serves applications on Node, uWebSockets.js and Bun
  Setting = Struct.new(:name, :default, :kind, :short, :argument, :help, :flavours) do
    # @return [String] the long option
    def option
      "--#{name.to_s.tr("_", "-")}"
    end

    # @param flavour [Symbol]
    # @return [Boolean]
    def for?(flavour)
      flavours.include?(flavour)
    end
  end

  all = %i[ruby static javascript]
  core = %i[ruby static]
  applications = %i[ruby javascript]
  ruby = %i[ruby]

  SETTINGS = [
    Setting.new(:port, 3000, :port, "-p", "PORT", "TCP port; 0 takes a free one (environment: PORT)", all),
    Setting.new(:bind, ["localhost"], :binds, "-b", "ADDRESS", "host, host:port, [v6]:port, ssl://host:port or unix:PATH; may be repeated", all),
    Setting.new(:secure, false, :flag, "-s", nil, "TLS on every TCP address; needs a certificate", all),
    Setting.new(:cert_file, nil, :path, "-c", "FILE", "the certificate, with its chain behind it (PEM); SIGHUP reads it again", all),
    Setting.new(:key_file, nil, :path, "-k", "FILE", "its key (PEM); without: in the same file", all),
    Setting.new(:ca_file, nil, :path, "-a", "FILE",
                "clients' certificates are verified with those in FILE, or in the files of a folder (PEM)", all),
    Setting.new(:client_certificate, "optional", :client_certificate, nil, "WORD", "whether clients need one: optional or required", all),
    Setting.new(:self_signed, false, :flag, nil, nil, "makes a certificate for development, and tells where it lies", core),
    Setting.new(:workers, 0, :workers, "-w", "N", "worker processes under a supervisor; auto: one a processor; 0: none", all),
    Setting.new(:mode, "fibers", :mode, nil, "MODE",
                "fibers, fibers:N (at most N requests at once), threads:N or inline (environment: UPWELL_MODE)", ruby),
    Setting.new(:backend, nil, :backend, nil, "NAME", "io_uring, epoll, kqueue, poll or io_uring_sqpoll (environment: UPWELL_BACKEND)", core),
    Setting.new(:public, nil, :folder, nil, "DIR", "a GET or HEAD for a file beneath DIR is answered without asking the application", ruby),
    Setting.new(:public_cache_control, nil, :field_value, nil, "VALUE", "Cache-Control of these files", ruby),
    Setting.new(:pubsub, nil, :pubsub, nil, "URL",
                "a Redis that brings messages to other servers (redis://, rediss://, unix:///), or a folder for the workers' sockets", ruby),
    Setting.new(:environment, "development", :text, "-E", "NAME", "sets RACK_ENV (environment: RACK_ENV, else RAILS_ENV)", applications),
    Setting.new(:preload, false, :flag, nil, nil, "load the application before the workers are forked", ruby),
    Setting.new(:log_file, nil, :text, "-l", "FILE", "standard output and error go there; SIGHUP opens it again", all),
    Setting.new(:pid_file, nil, :text, "-P", "FILE", "holds the process number while running", all),
    Setting.new(:connections_max, 10_000, :count, nil, "N", "connections of a worker; more wait in the backlog", all),
    Setting.new(:head_bytes_max, 65_536, :count, nil, "BYTES", "request line and headers; above: 431", all),
    Setting.new(:headers_max, 100, :headers, nil, "N", "headers of a request, at most 100; above: 431", all),
    Setting.new(:target_bytes_max, 8_192, :count, nil, "BYTES", "request target; above: 414", all),
    Setting.new(:body_bytes_max, 1_073_741_824, :bytes, nil, "BYTES", "content of a request; above: 413", applications),
    Setting.new(:body_memory_bytes_max, 65_536, :bytes, nil, "BYTES",
                "content, in mode inline also what a response is ahead, kept in memory; above: a temporary file", ruby),
    Setting.new(:message_bytes_max, 16_777_216, :message_bytes, nil, "BYTES",
                "a message of a WebSocket client; above: closed with 1009", applications),
    Setting.new(:client_bytes_max, 4_194_304, :count, nil, "BYTES",
                "on their way to a client that stays; above: closed with 1008", applications),
    Setting.new(:head_timeout, 10, :seconds, nil, "SECONDS", "for a request's head to arrive; then 408", all),
    Setting.new(:body_timeout, 30, :seconds, nil, "SECONDS", "for its content, plus a second for each KiB of it; then 408", all),
    Setting.new(:keep_alive_timeout, 65, :seconds, nil, "SECONDS", "between requests of a connection", all),
    Setting.new(:write_timeout, 30, :seconds, nil, "SECONDS", "for a client to take 256 KiB of a response", all),
    Setting.new(:client_timeout, 40, :pause, nil, "SECONDS",
                "of silence; then a client that stays is asked whether it is there; 0: never", applications),
    Setting.new(:stuck_timeout, 5, :seconds, nil, "SECONDS", "of computing without a wait; then the log says where (fibers, inline)", ruby),
    Setting.new(:boot_timeout, 60, :seconds, nil, "SECONDS", "for a worker to load the application; then it is killed", core),
    Setting.new(:worker_timeout, 60, :seconds, nil, "SECONDS", "without a sign of life of a worker; then it is killed and replaced", core),
    Setting.new(:drain_timeout, 30, :seconds, nil, "SECONDS", "for requests in flight when stopping", all)
  ].freeze
end
