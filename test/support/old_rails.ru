# frozen_string_literal: true

require "rubygems" # the server compares versions by it

# What an application of old Rails has loaded, so far as the server looks at it.
ENV.fetch("OLD").split(",").each_slice(2) do |name, version|
  Object.const_set(name, Module.new).const_set(:VERSION, Module.new).const_set(:STRING, version)
end

run ->(_env) { [200, {}, []] }
