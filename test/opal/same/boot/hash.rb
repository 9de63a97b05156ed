# frozen_string_literal: true

require "set"

pairs = { ["a", 1] => ["b", 2] }
pairs.each_key { |name, number| p [name, number] }
pairs.each_value { |name, number| p [name, number] }
pairs.each_key { |pair| p pair }
p pairs.each_value.to_a, pairs.each_key.size
Set[["c", 3], "d"].each { |name, number| p [name, number] }
