# frozen_string_literal: true

require_relative "../hide_password"

module Upwell
  class CLI
    # `upwell --check` prints the build, and the features that work on this machine.
    class Check
      # Prints the report.
      #
      # @return [Integer] the exit status: 0; 1 when no backend works
      def run
        backends = Upwell.backends
        puts "upwell #{VERSION}"
        BUILD.each { |name, value| puts "  #{name.ljust(16)}#{value}" }
        puts "  running on      #{RUBY_DESCRIPTION}"
        puts "  processors      #{Upwell.processors}"
        puts "  descriptors     #{Process.getrlimit(:NOFILE).first}"
        tell_missing_libraries
        backends.each { |backend| puts "  #{backend[:name].ljust(16)}#{verdict(backend)}" }
        backends.any? { |backend| backend[:works] } ? 0 : 1
      end

      # Prints the settings.
      #
      # @param configuration [Configuration]
      # @param file [String, nil] the configuration file
      def self.tell_settings(configuration, file)
        puts "  configuration   #{file || "no file"}"
        Configuration.settings.each do |setting|
          value = configuration.public_send(setting.name)
          puts "    #{setting.name} #{HidePassword.hide(Array(value).join(", "))}" unless value == setting.default
        end
      end

      private

      # The lines below report the backends.
      def tell_missing_libraries
        Upwell.missing_libraries.except("io_uring").each { |part, reason| puts "  missing         #{part}: #{reason}" }
      end

      def verdict(backend)
        return "works" if backend[:works]

        backend[:compiled] ? "compiled in, but does not work here: #{backend[:reason]}" : backend[:reason]
      end
    end
  end
end
