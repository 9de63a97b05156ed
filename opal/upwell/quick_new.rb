# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # For classes of which each request makes an object: Class#new, which takes any arguments and a block, costs more than all that they do, and
  # to give an object a variable has the runtime look for it through all that the object inherits. These have them from the beginning.
  module QuickNew
    # @param names [Array<String>] of all instance variables
    # @return [void]
    def quick_new(*names)
      %x{
        const Made = new Function("nil", "return class {" + names.map(name => name + " = nil;").join("") + "}")(nil);

        Object.setPrototypeOf(Made.prototype, self.$$prototype);
        Opal.defs(self, "$new", (first, second, third, fourth, fifth) => {
          const object = new Made();

          object.$initialize(first, second, third, fourth, fifth);
          return object;
        });
      }
    end
  end
end
