# frozen_string_literal: true

require "mini_mime"

module Upwell
  # The table of media types by file extension, for the core: mini_mime's table, with a charset for texts.
  module MediaTypes
    CHARSET = "; charset=utf-8"
    # Types that browsers expect where the registry lists another type first.
    PREFERRED = { "mp4" => "video/mp4" }.freeze
    LINE = /\A(?<extension>\S+)\s+(?<type>\S+)/

    # @return [Array<Array(String, String)>] extension in lower case, and type; sorted by extension
    def self.table
      @table ||= begin
        entries = File.foreach(MiniMime::Configuration.ext_db_path).filter_map { |line| entry(line) }
        entries.to_h.merge(PREFERRED).transform_values { |type| with_charset(type) }.sort.freeze
      end
    end

    def self.entry(line)
      match = LINE.match(line)
      [match[:extension].downcase, match[:type]] if match
    end

    def self.with_charset(type)
      type.start_with?("text/") ? "#{type}#{CHARSET}" : type
    end
    private_class_method :entry, :with_charset
  end
end
