# frozen_string_literal: true

# Tells what a request is to an application.
run ->(env) { [200, { "content-type" => "text/plain" }, env.sort.map { |name, value| "#{name} #{value.inspect}\n" }] }
