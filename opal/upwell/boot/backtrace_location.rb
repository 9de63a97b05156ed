# frozen_string_literal: true

class Thread
  class Backtrace
    # A frame of a backtrace. Opal's own class parses JavaScript's frames, which have columns.
    class Location
      def initialize(frame)
        @str = frame
        @path = frame[/\A.*?(?=:\d+:|:in `)/]
        @lineno = frame[/:(\d+):/, 1].to_i
        @label = frame[/:in `(.*)'\z/, 1]
        @base_label = @label.to_s[/\w+[?!=]?\z/] || @label
      end
    end
  end
end
