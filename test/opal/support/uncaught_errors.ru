# backtick_javascript: true
# frozen_string_literal: true

at_exit { $stdout.puts("left") }

# What belongs to no request, and ends of the program.
run(lambda do |env|
  case env["PATH_INFO"]
  when "/gives-a-promise" then next `Promise.reject(new Error("rejected on purpose"))`
  when "/gives-nothing" then next `undefined`
  when "/gives-nil" then next nil
  when "/gives-two-values" then next [200, {}]
  when "/gives-a-number-as-body" then next [200, {}, 1]
  when "/forgets" then `Promise.reject("forgotten on purpose")`
  when "/exits" then exit(3)
  when "/aborts" then abort("aborted on purpose")
  when "/throws" then `setTimeout(() => { throw new Error("thrown on purpose"); })`
  when "/exits-later" then `setTimeout(() => #{exit(4)})`
  end
  [200, { "content-type" => "text/plain" }, [env["rack.input"].read.to_s]]
end)
