# frozen_string_literal: true

class ReloadedController < ApplicationController
  VERSION = 0

  def show
    render plain: "#{VERSION} #{Current.marker}"
  end
end
