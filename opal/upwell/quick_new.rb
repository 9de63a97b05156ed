# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # For classes of which each request makes an object: Class#new, which takes any arguments and a block, costs more than all that they do.
  module QuickNew
    # @return [Object]
    def new(first, second = nil, third = nil, fourth = nil, fifth = nil)
      %x{
        const object = new self.$$constructor();

        object.$initialize(first, second, third, fourth, fifth);
        return object;
      }
    end
  end
end
