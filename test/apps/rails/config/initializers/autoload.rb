# frozen_string_literal: true

# Ruby before 3.2 takes fibers of one thread for one in `autoload`: while one of them waits in a file that is being loaded, the others do not find
# the constant.
require "websocket/driver/hybi" if RUBY_VERSION < "3.2"
