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
        run_server(configuration, StaticServer) { site }
      end
    end
  end
end
