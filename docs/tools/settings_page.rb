# frozen_string_literal: true

require_relative "../../lib/upwell/version"
require_relative "../../lib/upwell"
require_relative "../../lib/upwell/configuration"

# Writes docs/reference/settings.md from the list of settings: `rake docs:settings`.
module SettingsPage
  PATH = File.expand_path("../reference/settings.md", __dir__)

  # An example of each setting. Values of --user, --group, --public and --backend depend on the machine.
  EXAMPLES = {
    port: 8080, bind: ["127.0.0.1:8080", "unix:/run/app/upwell.sock"], secure: true, cert_file: "/etc/ssl/app.pem", key_file: "/etc/ssl/app.key",
    ca_file: "/etc/ssl/clients.pem", client_certificate: "required", self_signed: true, workers: 2, mode: "threads:5", backend: "epoll",
    public: "public", public_cache_control: "public, max-age=3600", header: ["X-Content-Type-Options: nosniff"],
    pubsub: "redis://localhost:6379", environment: "production", preload: true, user: "www-data", group: "www-data",
    log_file: "log/upwell.log", access_log: "log/access.log", access_log_except: ["/up"], log_format: "json", quiet: true,
    pid_file: "tmp/upwell.pid", connections_max: 20_000, head_bytes_max: 16_384, headers_max: 200,
    underscores_in_headers: true, target_bytes_max: 4_096, body_bytes_max: 52_428_800, body_memory_bytes_max: 262_144,
    message_bytes_max: 1_048_576, client_bytes_max: 1_048_576, head_timeout: 5, body_timeout: 60, keep_alive_timeout: 20,
    write_timeout: 60, client_timeout: 30, stuck_timeout: 2, boot_timeout: 120, worker_timeout: 30, drain_timeout: 60,
    control: "127.0.0.1:9394", health_path: "/up", ready_path: "/ready", drain_delay: 10
  }.freeze

  # Facts that the help has no room for.
  NOTES = {
    bind: "The default means both loopback addresses. See [addresses](../guide/configuration.md#addresses).",
    secure: "See [TLS](../guide/tls.md).",
    cert_file: "For further certificates, the configuration file has the line " \
               "[`certificate \"FILE\", key: \"FILE\"`](../guide/tls.md#several-certificates).",
    ca_file: "Without it, the server does not ask for client certificates.",
    self_signed: "See [a certificate for development](../guide/tls.md#for-development-one-command).",
    mode: "`fibers` serves 1,024 requests at once. In `fibers:N` N is at most 30,000, in `threads:N` 1,000. See [modes](../guide/modes.md).",
    backend: "The default is the first that works. See [backends](backends.md).",
    public: "See [static files beside an application](../guide/static.md#beside-an-application).",
    public_cache_control: "It needs `public`.",
    header: "It needs `public`. See [static files](../guide/static.md#fields-of-your-own).",
    preload: "See [preloading](../guide/deployment.md#preloading).",
    user: "See [user and group](../guide/deployment.md#user-and-group).",
    log_file: "Without it, the log goes to standard error, and the first lines to standard output. " \
              "See [logs](../guide/logs.md#the-servers-log).",
    access_log: "See [logs](../guide/logs.md).",
    access_log_except: "It needs `access_log`. The query does not count.",
    control: "A UNIX socket gets the mode 0600, unless the address has `?mode=`, `&user=` or `&group=`. See [metrics](../guide/metrics.md).",
    log_format: "See [JSON](../guide/logs.md#json).",
    quiet: "See [logs](../guide/logs.md#at-a-terminal).",
    underscores_in_headers: "See [Rack support](rack.md).",
    body_bytes_max: "The value is a number of bytes: write `3221225472`, not `3G`.",
    message_bytes_max: "The limit is 1 GiB at most. See [WebSockets](../guide/websockets.md).",
    client_bytes_max: "Published messages do not close the connection: they are dropped for this client. See " \
                      "[limits of WebSockets](../guide/websockets.md#limits).",
    body_timeout: "So only a client below 1 KiB/s on average is cut off.",
    client_timeout: "The server pings a WebSocket, and sends a comment to an SSE client.",
    pubsub: "Without it, messages stay within the workers. A relative path counts from the directory in which the server started.\n" \
            "See [publish/subscribe](../guide/publish_subscribe.md).",
    stuck_timeout: "The log line names the request. The server does not abort the request.",
    worker_timeout: "See [heartbeats](../guide/deployment.md#heartbeats).",
    health_path: "HEAD is answered, too. Other methods reach the application. See [health checks](../guide/health.md).",
    ready_path: "In a cluster each worker answers for itself. See [health checks](../guide/health.md).",
    drain_delay: "`drain_timeout` counts from the end of the delay. The maximum is 3,600 s. See [stop without failed requests]" \
                 "(../guide/health.md#stop-without-failed-requests).",
    drain_timeout: "See [graceful shutdown](../guide/signals.md#graceful-shutdown)."
  }.freeze

  HEAD = <<~MARKDOWN.freeze
    # Settings

    ```sh
    bundle exec upwell --workers 2 --mode threads:5
    ```

    ```
    Upwell #{Upwell::VERSION} serves on http://127.0.0.1:3000, http://[::1]:3000 (io_uring, threads:5), 2 workers
    ```

    Each setting has the same name on the command line and in [the configuration file](../guide/configuration.md) `config/upwell.rb`.
    [Limits and time-outs](limits.md) explains the limits. `rake docs:settings` writes this page.
    Only the file has [`certificate`](../guide/tls.md#several-certificates), and
    [`before_fork` and `after_fork`](../guide/configuration.md#the-configuration-file).
  MARKDOWN

  SERVERS = { ruby: "`upwell`", static: "`upwell static`", javascript: "`up`, `up_node` and `up_bun`" }.freeze

  module_function

  # @return [String] the page
  def text
    [HEAD, *Upwell::SETTINGS.map { |setting| section(setting) }].join("\n")
  end

  def section(setting)
    example = Array(EXAMPLES.fetch(setting.name))
    <<~MARKDOWN
      ## `#{setting.name}`

      #{[meaning(setting), NOTES[setting.name]].compact.join("\n")}

      ```ruby
      #{setting.name} #{example.map(&:inspect).join(", ")}
      ```

      - Command line: #{options(setting, example.first)}
      - Default: #{default(setting.default)}
      - Servers: #{SERVERS.values_at(*setting.flavours).join(", ")}
    MARKDOWN
  end

  def meaning(setting)
    setting.argument ? "`#{setting.argument}`: #{setting.help}." : "#{setting.help[0].upcase}#{setting.help[1..]}."
  end

  def options(setting, example)
    value = example.to_s.include?(" ") ? example.inspect : example
    [setting.option, setting.short].compact.map { |name| setting.argument ? "`#{name} #{value}`" : "`#{name}`" }.join(" or ")
  end

  def default(value)
    return "none" if value.nil? || value == []
    return value ? "on" : "off" if [true, false].include?(value)

    "`#{Array(value).join(", ")}`"
  end
end
