# frozen_string_literal: true

raise "refused" if ENV["REFUSE"]

# What the tests of the process ask for.
run(lambda do |env|
  body = case env["PATH_INFO"]
         when "/pid" then Process.pid.to_s
         when "/environment" then ENV.fetch("RACK_ENV")
         when "/say" then $stdout.puts("said") || "said"
         else env["rack.input"].read.to_s
         end
  [200, { "content-type" => "text/plain" }, [body]]
end)
