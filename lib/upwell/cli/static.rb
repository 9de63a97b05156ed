# frozen_string_literal: true

module Upwell
  class CLI
    # `upwell static [options] [DIR]` serves files over HTTP.
    class Static < CLI
      DEFAULT_ROOT = "."

      private

      def usage
        "Usage: #{@program} [options] [DIR]"
      end

      def settings
        StaticConfiguration.settings
      end

      def define_more(_options); end

      def serve(rest)
        raise ConfigurationError, "only one directory can be served, not #{rest.size}: #{rest.join(" ")}; name one" if rest.size > 1

        configuration = StaticConfiguration.new(@values)
        site = StaticServer::Site.new(rest.first || DEFAULT_ROOT, configuration)
        log_file = Server::Logs::LogFile.new(configuration.log_file)
        site.access_log = access_log(log_file, configuration.access_log)
        run_server(configuration, log_file, StaticServer) { site }
      end

      def access_log(log_file, path)
        return if path.nil?
        return $stdout if path == StaticConfiguration::STANDARD_OUTPUT
        raise ConfigurationError, "option access_log: #{path} is a directory; name a file, or DIR before --access-log" if File.directory?(path)

        log_file.add(path, "--access-log")
      end
    end
  end
end
