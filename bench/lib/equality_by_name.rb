# frozen_string_literal: true

module Bench
  # What is to be installed is known by its name: two of one name are the same.
  module EqualityByName
    attr_reader :name

    def eql?(other)
      other.is_a?(self.class) && name == other.name
    end

    def hash
      name.hash
    end
  end
end
