# backtick_javascript: true
# frozen_string_literal: true

module Upwell
  # What a runtime makes of the fields of a response, which mostly are those of the one before.
  class RecentFields
    # @yieldparam fields [JavaScript Array] names and values in turn
    # @yieldreturn [Object]
    def initialize(&make)
      @make = make
      @fields = `[]`
      @made = make.call(@fields)
    end

    # @param fields [JavaScript Array] which stays as it is
    # @return [Object]
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
