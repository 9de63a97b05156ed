# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Speeds up `new` for classes with an object per request. Class#new accepts any arguments and a block, which costs more than the object itself.
  # A new variable makes the runtime search the object's prototypes, so these objects have all variables from the beginning.
  module FastConstructor
    # @param names [Array<String>] all instance variables
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
