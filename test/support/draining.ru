# frozen_string_literal: true

# /held goes on until the folder FOLDER has a file "go", and tells by "begun" that it was called.
folder = ENV.fetch("FOLDER")

run(lambda do |env|
  if env["PATH_INFO"] == "/held"
    File.write(File.join(folder, "begun"), "")
    sleep 0.02 until File.exist?(File.join(folder, "go"))
  end
  [200, { "content-type" => "text/plain" }, ["#{env["PATH_INFO"]} by #{Process.pid}"]]
end)
