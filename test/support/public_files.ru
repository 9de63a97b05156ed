# frozen_string_literal: true

# Answers what the public folder does not.

require_relative "interpreter_lock_holder"

use InterpreterLockHolder
run lambda { |env|
  [200, { "content-type" => "text/plain", "x-app" => "yes" }, ["#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}"]]
}
