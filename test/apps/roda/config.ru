# frozen_string_literal: true

require "digest/sha2"
require "roda"
require "sequel"

# Whoever finds the database locked lets others go on.
PATIENT = ->(connection) { connection.busy_handler { sleep 0.001 } }
DB = Sequel.sqlite("notes.sqlite3", max_connections: 4, after_connect: PATIENT)
DB.create_table?(:notes) { String :title }

class Application < Roda
  plugin :streaming
  HELD = Queue.new

  def pause
    sleep(rand(0.001..0.01))
  end

  route do |r|
    @marker = r.params["m"]

    r.get "marker" do
      pause
      @marker
    end

    r.get "hold" do
      HELD << true
      sleep(Float(r.params.fetch("seconds", 1)))
      @marker
    end

    # With `undo` nothing of it may be found later, without everything.
    r.post "transaction" do
      DB.transaction do
        2.times do
          DB[:notes].insert(title: @marker)
          pause
        end
        raise Sequel::Rollback if r.params["undo"]
      end
      DB[:notes].where(title: @marker).count.to_s
    end

    r.get("halves") { DB[:notes].group_and_count(:title).reject { |found| found[:count] == 2 }.join(" ") }

    r.get("held") { HELD.size.to_s }

    r.post "upload" do
      file = r.params["file"]
      pause
      [@marker, file[:filename], Digest::SHA256.hexdigest(file[:tempfile].read)].join(" ")
    end

    r.get "stream" do
      stream do |out|
        5.times do |i|
          pause
          out << "#{@marker} #{i}\n"
        end
      end
    end
  end
end

run Application.freeze.app
