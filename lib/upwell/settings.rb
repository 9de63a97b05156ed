# frozen_string_literal: true

# This module holds the list of settings, see {Upwell::SETTINGS}.
module Upwell
  # A setting. The list of settings defines the command line, the configuration file, the checks and the help.
  #
  # @!attribute name [Symbol] as in the configuration file; the command line uses hyphens
  # @!attribute default [Object]
  # @!attribute kind [Symbol] how the server reads and checks a value, see {Configuration}
  # @!attribute short [String, nil] the short option
  # @!attribute argument [String, nil] the value's name in the help
  # @!attribute help [String]
  # @!attribute flavours [Array<Symbol>] the servers that have the setting: :ruby serves applications on the core, :static serves files,
  #   :javascript serves applications on Node, uWebSockets.js and Bun
  Setting = Struct.new(:name, :default, :kind, :short, :argument, :help, :flavours) do
    # @return [String] the long option
    def option
      "--#{name.to_s.tr("_", "-")}"
    end

    # @return [Boolean] whether the option may be repeated
    def list?
      %i[binds fields paths].include?(kind)
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
    Setting.new(:port, 3000, :port, "-p", "PORT", "TCP port; 0: any free port (environment: PORT)", all),
    Setting.new(:bind, ["localhost"], :binds, "-b", "ADDRESS",
                "listen on host, host:port, [v6]:port, ssl://host:port or unix:PATH[?mode=0660&group=NAME]; repeatable", all),
    Setting.new(:secure, false, :flag, "-s", nil, "serve TLS on every TCP address; needs a certificate", all),
    Setting.new(:cert_file, nil, :path, "-c", "FILE",
                "certificate, followed by its chain (PEM); SIGHUP reloads it (on JavaScript runtimes: Node alone)", all),
    Setting.new(:key_file, nil, :path, "-k", "FILE", "private key (PEM); default: the key in the certificate file", all),
    Setting.new(:ca_file, nil, :path, "-a", "FILE", "CA certificates that verify client certificates (PEM file, or directory of them)", all),
    Setting.new(:client_certificate, "optional", :client_certificate, nil, "WORD",
                "whether clients must present a certificate: optional or required", all),
    Setting.new(:self_signed, false, :flag, nil, nil, "create a certificate for development, and print its path", core),
    Setting.new(:workers, 0, :workers, "-w", "N", "worker processes under a supervisor; auto: one per processor; 0: no supervisor", all),
    Setting.new(:mode, "fibers", :mode, nil, "MODE",
                "requests run concurrently on one thread (fibers; fibers:N: at most N), on N threads (threads:N) or one by one (inline); " \
                "environment: UPWELL_MODE", ruby),
    Setting.new(:backend, nil, :backend, nil, "NAME",
                "I/O interface: io_uring, epoll, kqueue, poll or io_uring_sqpoll; default: the first that works " \
                "(environment: UPWELL_BACKEND)", core),
    Setting.new(:public, nil, :folder, nil, "DIR", "serve GET and HEAD of files below DIR without calling the application", ruby),
    Setting.new(:public_cache_control, nil, :field_value, nil, "VALUE",
                "value of the header Cache-Control for the files below the public directory", ruby),
    Setting.new(:header, [], :fields, nil, "FIELD",
                "header field \"NAME: VALUE\" of the server's own responses, such as files, but not of the application's; repeatable", core),
    Setting.new(:pubsub, nil, :pubsub, nil, "URL",
                "share published messages with other servers: a Redis (redis://, rediss://, unix:///), or a directory on this machine", ruby),
    Setting.new(:environment, "development", :text, "-E", "NAME", "set RACK_ENV to NAME (environment: RACK_ENV, else RAILS_ENV)", applications),
    Setting.new(:preload, false, :flag, nil, nil, "load the application before forking the workers", ruby),
    Setting.new(:user, nil, :user, nil, "NAME", "switch to this user after opening the sockets; the server must start as root", core),
    Setting.new(:group, nil, :group, nil, "NAME", "switch to this group, too; needs --user; default: the user's group", core),
    Setting.new(:log_file, nil, :text, "-l", "FILE", "write standard output and error to FILE; SIGHUP reopens it", all),
    Setting.new(:access_log, nil, :log, nil, "[FILE]", "write a line for each request to FILE; default: standard output; SIGHUP reopens FILE",
                core),
    Setting.new(:access_log_except, [], :paths, nil, "PATH", "write no line for requests of this path, such as /up; repeatable", core),
    Setting.new(:log_format, "combined", :log_format, nil, "NAME",
                "format of the logs: combined (access log in the combined format, server log as text) or json", core),
    Setting.new(:control, nil, :control, nil, "ADDRESS",
                "answer GET /metrics on unix:PATH, or on a loopback address with a port such as 127.0.0.1:9394", ruby),
    Setting.new(:quiet, false, :flag, nil, nil,
                "do not print the addresses at startup, nor a line for each request at a terminal in development", core),
    Setting.new(:pid_file, nil, :text, "-P", "FILE", "write the process ID to FILE while the server runs", all),
    Setting.new(:health_path, nil, :probe_path, nil, "PATH",
                "answer GET PATH with status 200 without calling the application: whether the process runs", all),
    Setting.new(:ready_path, nil, :probe_path, nil, "PATH",
                "answer GET PATH like health_path, but with status 503 after a stop signal: whether the server wants new clients", all),
    Setting.new(:connections_max, 10_000, :count, nil, "N",
                "maximum number of connections of a worker; above: an idle connection is closed, or the new client waits", all),
    Setting.new(:head_bytes_max, 65_536, :count, nil, "BYTES", "maximum size of request line and header fields; above: status 431", all),
    Setting.new(:headers_max, 100, :headers, nil, "N", "maximum number of header fields of a request, up to 10000; above: status 431", all),
    Setting.new(:underscores_in_headers, false, :flag, nil, nil, "keep header fields with an underscore in the name; default: drop them",
                applications),
    Setting.new(:target_bytes_max, 8_192, :count, nil, "BYTES", "maximum size of the request target; above: status 414", all),
    Setting.new(:body_bytes_max, 1_073_741_824, :bytes, nil, "BYTES", "maximum size of the request content; above: status 413", applications),
    Setting.new(:body_memory_bytes_max, 65_536, :bytes, nil, "BYTES",
                "maximum request content kept in memory (in mode inline also response output); above: a temporary file", ruby),
    Setting.new(:message_bytes_max, 16_777_216, :message_bytes, nil, "BYTES",
                "maximum size of a WebSocket message; above: the connection closes with code 1009", applications),
    Setting.new(:client_bytes_max, 4_194_304, :count, nil, "BYTES",
                "maximum data that waits for a WebSocket or SSE client; above: the connection closes (WebSocket code 1008)", applications),
    Setting.new(:head_timeout, 10, :seconds, nil, "SECONDS", "time to receive request line and header fields; then status 408", all),
    Setting.new(:body_timeout, 30, :seconds, nil, "SECONDS",
                "time to receive the request content, plus 1 s for each KiB received; then status 408", all),
    Setting.new(:keep_alive_timeout, 65, :seconds, nil, "SECONDS",
                "idle time between two requests of a connection; then the connection closes", all),
    Setting.new(:write_timeout, 30, :seconds, nil, "SECONDS",
                "time for a client to receive 256 KiB of a response; then the connection is reset", all),
    Setting.new(:client_timeout, 40, :pause, nil, "SECONDS",
                "idle time of a WebSocket or SSE client; then the server sends a ping; 0: never", applications),
    Setting.new(:stuck_timeout, 5, :seconds, nil, "SECONDS",
                "time that a request may block others (threads:N: all threads are busy, and requests wait); then the log names the code", ruby),
    Setting.new(:boot_timeout, 60, :seconds, nil, "SECONDS", "time for a worker to load the application; then the worker is killed", core),
    Setting.new(:worker_timeout, 60, :seconds, nil, "SECONDS",
                "time without a heartbeat of a worker; then the worker is killed and replaced", core),
    Setting.new(:drain_delay, 0, :delay, nil, "SECONDS",
                "time to serve new clients after a stop signal, while ready_path answers 503; then the server drains", all),
    Setting.new(:drain_timeout, 30, :seconds, nil, "SECONDS", "time to finish requests in flight at shutdown; then the server exits", all)
  ].freeze
end
