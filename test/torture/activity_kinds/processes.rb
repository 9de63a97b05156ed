# frozen_string_literal: true

require "open3"

module Torture
  module ActivityKinds
    # Other programs.
    module Processes
      def popen
        cat = own(IO.popen(["cat"], "r+b"))
        transfer(cat, cat, finish: :close_write)
      end

      def spawn_and_wait
        status = @dice.rand(100)
        pid = Process.spawn("sleep #{short.round(4)}; exit #{status}")
        @children << pid
        _, found = Process.wait2(pid)
        @children.delete(pid)
        check(found.exitstatus == status, "status")
      end

      def system_command
        status = @dice.rand(2)
        check(system("exit #{status}") == status.zero?, "status")
      end

      def backticks
        check(`printf #{@name}` == @name, "output")
      end

      def captured
        output, status = Open3.capture2e("cat; exit 3", stdin_data: new_mark.bytes(3000))
        MarkedBytes.new("#{@name}m1").check(output, 0)
        check(status.exitstatus == 3 && output.bytesize == 3000, "status")
      end
    end
  end
end
