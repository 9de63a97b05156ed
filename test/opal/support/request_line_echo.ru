# frozen_string_literal: true

# Says what was asked for; in a stream for /flushes.
run(lambda do |env|
  text = "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}"
  stream = lambda do |out|
    out.write(text)
    out.flush
    out.close
  end
  [200, { "content-type" => "text/plain" }, env["PATH_INFO"] == "/flushes" ? stream : [text]]
end)
