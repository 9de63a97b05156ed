# frozen_string_literal: true

module Upwell
  class Configuration
    # Refuses a setting that has no effect without another setting, when that one is missing.
    module DependentSettings
      COMPANIONS = { public_cache_control: :public, header: :public, access_log_except: :access_log }.freeze

      private

      def refuse_what_lacks_another
        self.class::COMPANIONS.each do |name, other|
          setting = self.class.settings.find { |candidate| candidate.name == name }
          next if setting.nil? || @values[other] || @values[name] == setting.default

          raise ConfigurationError, "#{name} has no effect without #{other}; add --#{other.to_s.tr("_", "-")}, or remove #{setting.option}"
        end
      end
    end
  end
end
