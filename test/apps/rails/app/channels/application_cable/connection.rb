# frozen_string_literal: true

module ApplicationCable
  class Connection < ActionCable::Connection::Base
    identified_by :marker

    def connect
      self.marker = request.params[:m] || reject_unauthorized_connection
    end
  end
end
