# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # Caches the runtime's form of a response's fields, since most responses repeat the fields of the previous one.
  class ResponseHeaderCache
    # @yieldparam fields [JavaScript Array] names and values in turn
    # @yieldreturn [Object]
    def initialize(&make)
      @make = make
      @fields = `[]`
      @made = make.call(@fields)
    end

    # @param fields [JavaScript Array] must not change afterwards
    # @return [Object] the block's result for these fields
    def made_of(fields)
      %x{
        const before = self.fields, length = fields.length;
        let same = length === before.length;

        for (let i = 0; same && i < length; i++) same = fields[i] === before[i];
        if (!same) {
          self.fields = fields;
          self.made = #{@make.call(fields)};
        }
        return self.made;
      }
    end
  end
end
