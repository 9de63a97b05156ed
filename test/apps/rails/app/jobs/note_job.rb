# frozen_string_literal: true

class NoteJob < ActiveJob::Base
  def perform(marker, seconds = 0)
    Note.create!(title: marker, body: "begun") && sleep(seconds) if seconds.positive?
    Note.create!(title: marker, body: "performed")
  end
end
