# frozen_string_literal: true

# Fails where the binding holds protocol: the C code of ext/ names no header field that frames a message, and writes no line of one.
#   ruby test/support/extension_without_http_check.rb
class ExtensionWithoutHTTPCheck
  NAMES = /\A(?:content-length|transfer-encoding|connection|keep-alive|trailer|te|chunked)(?::|\z)/i
  LINES = /\\r|\\x0d|\\015|HTTP\/[\d.]+ /i
  COMMENT = /\/\*.*?\*\//m
  LITERAL = /"((?:\\.|[^"\\\n])*)"|'((?:\\.|[^'\\\n])+)'/

  # @param folder [String] whose C files are read, with those of the folders in it
  def initialize(folder)
    @folder = folder
  end

  # @return [Array<String>] "file:line: what stands there" for each literal that is protocol
  def findings
    Dir[File.join(@folder, "**/*.{c,h}")].flat_map { |path| found_in(path) }
  end

  private

  def found_in(path)
    code = File.read(path).gsub(COMMENT) { |comment| comment.gsub(/[^\n]/, " ") }
    code.each_line.with_index(1).flat_map do |line, number|
      literals(line).grep(Regexp.union(NAMES, LINES)).map { |text| "#{path}:#{number}: #{text.inspect} is protocol, which is the core's" }
    end
  end

  def literals(line)
    line.scan(LITERAL).map { |string, character| string || character }
  end
end

if $PROGRAM_NAME == __FILE__
  findings = ExtensionWithoutHTTPCheck.new(File.expand_path("../../ext", __dir__)).findings
  abort findings.join("\n") if findings.any?
end
