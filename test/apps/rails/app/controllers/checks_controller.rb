# frozen_string_literal: true

# Each answers with what belongs to its own request, after others had time to meddle with it.
class ChecksController < ApplicationController
  skip_forgery_protection
  HELD = Concurrent::AtomicFixnum.new

  # Attributes, the connection and a query, each before and after a wait.
  def marker
    found = Note.connection_pool.with_connection do |connection|
      own = connection.select_value("SELECT #{connection.quote(params[:m])}")
      pause
      [own, connection.select_value("SELECT #{connection.quote(Current.marker)}")]
    end
    pause
    render plain: [*found, Current.marker].uniq.join(" ")
  end

  def locale
    I18n.with_locale(params[:locale]) do
      pause
      render plain: I18n.locale.to_s
    end
  end

  # With `undo` nothing of it may be found later, without everything.
  def transaction
    Note.transaction do
      Note.create!(title: Current.marker, body: "first")
      pause
      Note.create!(title: Current.marker, body: "second")
      pause
      raise ActiveRecord::Rollback if params[:undo]
    end
    render plain: Note.where(title: Current.marker).count.to_s
  end

  # The transactions of which not all was kept.
  def halves
    render plain: Note.where(body: %w[first second]).group(:title).having("COUNT(*) <> 2").pluck(:title).join(" ")
  end

  def hold
    HELD.increment
    sleep(params.fetch(:seconds, "1").to_f)
    render plain: Current.marker
  ensure
    HELD.decrement
  end

  def held
    render plain: HELD.value.to_s
  end

  def pool
    render json: Note.connection_pool.stat
  end

  def level
    render plain: ActiveSupport::IsolatedExecutionState.isolation_level.to_s
  end

  def upload
    file = params.require(:file)
    pause
    render plain: [Current.marker, file.original_filename, Digest::SHA256.hexdigest(file.read)].join(" ")
  end

  # With the headers by which Rack::ETag does not read all of it first.
  def stream
    marker = Current.marker
    headers.update("last-modified" => Time.now.httpdate, "cache-control" => "no-cache")
    self.response_body = Enumerator.new do |lines|
      5.times do |i|
        pause
        lines << "#{marker} #{i}\n"
      end
    end
  end

  def enqueue
    NoteJob.perform_later(Current.marker, params.fetch(:seconds, "0").to_f)
    render plain: Current.marker
  end

  def performed
    notes = Note.where(body: params.fetch(:body, "performed"))
    notes = notes.where(title: Current.marker) if Current.marker
    render plain: notes.count.to_s
  end

  private

  def pause
    sleep(rand(0.001..0.01))
  end
end
