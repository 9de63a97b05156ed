# frozen_string_literal: true

class NoteJob < ActiveJob::Base
  def perform(marker)
    Note.create!(title: marker, body: "performed")
  end
end
