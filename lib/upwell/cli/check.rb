# frozen_string_literal: true

module Upwell
  class CLI
    # `upwell --check`: the build, and what of it works on this machine.
    class Check
      # @return [Integer] 0; 1 when no backend works
      def run
        backends = Upwell.backends
        puts "upwell #{VERSION}"
        BUILD.each { |name, value| puts "  #{name.ljust(16)}#{value}" }
        puts "  running on      #{RUBY_DESCRIPTION}"
        puts "  processors      #{Upwell.processors}"
        puts "  descriptors     #{Process.getrlimit(:NOFILE).first}"
        backends.each { |backend| puts "  #{backend[:name].ljust(16)}#{verdict(backend)}" }
        backends.any? { |backend| backend[:works] } ? 0 : 1
      end

      # @param configuration [Configuration]
      # @param file [String, nil] where it was read from
      def self.tell_settings(configuration, file)
        puts "  configuration   #{file || "no file"}"
        Configuration.settings.each do |setting|
          value = configuration.public_send(setting.name)
          puts "    #{setting.name} #{Array(value).join(", ")}" unless value == setting.default
        end
      end

      private

      def verdict(backend)
        return "works" if backend[:works]

        backend[:compiled] ? "was compiled in, but does not work here: #{backend[:reason]}" : backend[:reason]
      end
    end
  end
end
