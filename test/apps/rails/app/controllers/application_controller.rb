# frozen_string_literal: true

class ApplicationController < ActionController::Base
  before_action { Current.marker = params[:m] }
end
