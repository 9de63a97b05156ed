# frozen_string_literal: true

require "digest"

module Upwell
  module Opal
    class Build
      # The inputs of a file's JavaScript besides the file itself. Opal's own files have fewer.
      PLAIN_FILES = %w[source_map.rb unit.rb].map { |name| File.join(__dir__, name) }.freeze
      PLAIN_FINGERPRINT = [::Opal::VERSION, RUBY_VERSION, *PLAIN_FILES.map { |path| File.binread(path) }].join("\0")
      COMPILER_FILES = Dir[File.join(__dir__, "**/*.rb"), File.join(ROOT, "opal/upwell/boot/regexp_translation.rb")].freeze
      FINGERPRINT = [PLAIN_FINGERPRINT, *COMPILER_FILES.map { |path| Digest::SHA256.file(path).hexdigest }.sort].join("\0")
    end
  end
end
