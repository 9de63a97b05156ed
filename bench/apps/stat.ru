# frozen_string_literal: true

# What an application in development asks of the file system, nine times a request.
FILES = Array.new(9) { |index| index.even? ? __FILE__ : "#{__FILE__}.#{index}" }.freeze

run ->(_env) { [200, { "content-type" => "text/plain" }, [FILES.count { |path| File.file?(path) }.to_s]] }
