# frozen_string_literal: true

# rubocop:disable Style -- each of the ways to ask a Hash is meant

# Each request has its env asked for the first time by another method.
FIRST = [
  ->(env) { env["REQUEST_METHOD"] }, ->(env) { env.fetch("REQUEST_METHOD") }, ->(env) { env.key?("REQUEST_METHOD") },
  ->(env) { env.dig("REQUEST_METHOD") }, ->(env) { env.values_at("REQUEST_METHOD") }, ->(env) { env.size > 10 }, ->(env) { env.empty? },
  ->(env) { env.keys.include?("PATH_INFO") }, ->(env) { env.values.include?("GET") }, ->(env) { env.to_a.assoc("PATH_INFO") },
  ->(env) { env.each { |name, value| break value if name == "PATH_INFO" } }, ->(env) { env.map { |name, _value| name }.include?("PATH_INFO") },
  ->(env) { env.select { |name, _value| name == "PATH_INFO" } }, ->(env) { env.dup["PATH_INFO"] }, ->(env) { env.merge("a" => 1)["PATH_INFO"] },
  ->(env) { (env["PATH_INFO"] = "/b") && env["REQUEST_METHOD"] }, ->(env) { env.store("a", 1) && env["PATH_INFO"] },
  ->(env) { env.delete("PATH_INFO") }, ->(env) { env.reject! { |name, _value| name != "PATH_INFO" } }, ->(env) { env.clear.size },
  ->(env) { env.to_s.include?("\"PATH_INFO\"=>\"/\"") }, ->(env) { env.freeze["PATH_INFO"] }, ->(env) { env == {} }, ->(env) { env.is_a?(Hash) },
  ->(env) { env.to_h["PATH_INFO"] }, ->(env) { env.any? { |name, _value| name == "PATH_INFO" } },
  ->(env) { env.update("a" => 1).key?("PATH_INFO") },
  ->(env) { env.filter_map { |name, value| value if name == "PATH_INFO" } }, ->(env) { { "a" => 1 }.merge(env)["PATH_INFO"] },
  ->(env) { {}.replace(env)["PATH_INFO"] }, ->(env) { env.invert["GET"] }, ->(env) { Hash[env]["PATH_INFO"] }, ->(env) { env.slice("PATH_INFO") }
]
count = -1

run ->(env) { [200, { "content-type" => "text/plain" }, [FIRST[(count += 1) % FIRST.size].call(env).inspect]] }
# rubocop:enable Style
