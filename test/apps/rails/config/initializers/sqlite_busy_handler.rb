# frozen_string_literal: true

# SQLite before Rails 8 is waited for without a break: who holds the lock must get on meanwhile.
if Rails::VERSION::MAJOR < 8
  ActiveSupport.on_load(:active_record_sqlite3adapter) do
    prepend(Module.new do
      private

      def configure_connection
        super
        raw_connection.busy_handler { |count| sleep(0.001) && count < 10_000 }
      end
    end)
  end
end
