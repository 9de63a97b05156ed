# frozen_string_literal: true

# Tells when it is being loaded, and waits there for as long as the folder has a file "hold-load"; /held goes on until there is a file "go".
# /slow takes its time.

folder = ENV.fetch("FOLDER")
File.write(File.join(folder, "loading"), "")
sleep 0.01 while File.exist?(File.join(folder, "hold-load"))

run(lambda do |env|
  case env["PATH_INFO"]
  when "/slow" then sleep(0.1)
  when "/held"
    File.write(File.join(folder, "begun"), "")
    sleep 0.01 until File.exist?(File.join(folder, "go"))
  end
  [200, { "content-type" => "text/plain" }, ["#{env["PATH_INFO"]} by #{Process.pid}"]]
end)
